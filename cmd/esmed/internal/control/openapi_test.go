package control_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

// checked serves an API and holds every answer against its OpenAPI document.
type checked struct {
	t   testing.TB
	api http.Handler
	doc *openapi3.T
}

// newClient makes an in-process client whose answers are all checked.
func newClient(t testing.TB, api *control.API) *control.Client {
	return control.NewInProcess(&checked{t: t, api: api, doc: document(t, api)})
}

func document(t testing.TB, api *control.API) *openapi3.T {
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	require.Equal(t, http.StatusOK, w.Code)
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	require.NoError(t, err)
	return doc
}

// ServeHTTP passes streams through as they are and checks their lines afterwards.
func (c *checked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tee := &teeWriter{ResponseWriter: w, status: http.StatusOK}
	c.api.ServeHTTP(tee, r)
	op := c.operation(r)
	if op == nil {
		return
	}
	mediaType := w.Header().Get("Content-Type")
	if mediaType == "text/event-stream" {
		return
	}
	resp := op.Responses.Value(strconv.Itoa(tee.status))
	if resp == nil {
		resp = op.Responses.Default()
	}
	if resp == nil || resp.Value.Content.Get(mediaType) == nil {
		c.t.Errorf("%s %s: %d with %s is not documented", r.Method, r.URL.Path, tee.status, mediaType)
		return
	}
	schema := resp.Value.Content.Get(mediaType).Schema.Value
	for dec := json.NewDecoder(&tee.body); ; {
		var v any
		if err := dec.Decode(&v); err == io.EOF {
			return
		} else if err != nil {
			c.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
			return
		}
		if err := schema.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
			c.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
	}
}

// operation finds the documented operation of a request; nil when there is none.
func (c *checked) operation(r *http.Request) *openapi3.Operation {
	for path, item := range c.doc.Paths.Map() {
		want, got := strings.Split(path, "/"), strings.Split(r.URL.Path, "/")
		fits := len(want) == len(got)
		for i := 0; fits && i < len(want); i++ {
			fits = want[i] == got[i] || strings.HasPrefix(want[i], "{") && want[i] != got[i]
		}
		if op := item.GetOperation(r.Method); fits && op != nil && !(path == "/v1/messages/{id}" && got[3] == "batch") {
			return op
		}
	}
	return nil
}

type teeWriter struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *teeWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *teeWriter) Write(p []byte) (int, error) {
	w.body.Write(p)
	return w.ResponseWriter.Write(p)
}

func (w *teeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestOpenAPI_isValid(t *testing.T) {
	doc := document(t, newAPI(t, newFake(t).config()))
	require.NoError(t, doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()))
	require.NotContains(t, doc.Components.Schemas, "ErrorModel")
	for _, path := range []string{
		"/v1/messages", "/v1/messages/batch", "/v1/messages/{id}", "/v1/messages/{id}/events", "/v1/messages/{id}/query", "/v1/queue", "/v1/queue/{smsc}/hold", "/v1/queue/{smsc}/release",
		"/v1/queue/{smsc}/drop", "/v1/events", "/v1/inbox",
		"/v1/exceptions", "/v1/exceptions/{id}", "/v1/exceptions/resolve", "/v1/inbox/retry", "/v1/reprocess", "/v1/report", "/v1/binds", "/v1/binds/{smsc}/{action}", "/v1/verify", "/v1/backup", "/v1/store", "/v1/compact", "/healthz", "/readyz",
	} {
		require.NotNil(t, doc.Paths.Value(path), path)
	}
}

func TestOpenAPI_documentsEverySubmissionField(t *testing.T) {
	doc := document(t, newAPI(t, newFake(t).config()))
	properties := doc.Components.Schemas["Submission"].Value.Properties
	require.Len(t, properties, 21)
	schema := doc.Components.Schemas["Submission"].Value
	var example any
	require.NoError(t, json.Unmarshal([]byte(`{"to":"+393331234567","from":"ACME","text":"Your code is 4711","smsc":"alpha","ref":"order-42","validity":"24h",
		"registered_delivery":17,"tlvs":[{"tag":5121,"hex":"00"}],"dest":{"addr":"1","ton":1,"npi":1}}`), &example))
	require.NoError(t, schema.VisitJSON(example, openapi3.EnableJSONSchema2020()))
}
