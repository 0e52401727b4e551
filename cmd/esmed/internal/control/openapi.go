package control

import (
	"math"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// routeStreams registers the endpoints that read or write a stream, and the one that must be quick,
// beside huma, and describes them.
func (a *API) routeStreams(api huma.API) {
	routes := []struct {
		op      huma.Operation
		handler http.HandlerFunc
	}{
		{a.describePost(api), a.postMessage},
		{a.describeBatch(api), a.postBatch},
		{a.describeEvents(api), a.getEvents},
		{a.describeVerify(api), a.postVerify},
		{a.describeResolve(api), a.postResolve},
		{a.describeRetry(api), a.postInboxRetry},
		{a.describeReprocess(api), a.postReprocess},
		{a.describeBackup(api), a.postBackup},
		{a.describeCompact(api), a.postCompact},
		{a.describeCancel(api), a.deleteMessage},
		{a.describeQuery(api), a.postQuery},
		{a.describeHold(api), a.postHold},
		{a.describeRelease(api), a.postRelease},
		{a.describeDrop(api), a.postDrop},
		{a.describeBind(api), a.postBind},
	}
	for i := range routes {
		api.OpenAPI().AddOperation(&routes[i].op)
		a.router.HandleFunc(routes[i].op.Method+" "+routes[i].op.Path, routes[i].handler)
	}
}

func (a *API) describePost(api huma.API) huma.Operation {
	message := schemaOf[Message](api)
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/messages", OperationID: "submit", Summary: "Submit a message",
		Parameters: []*huma.Param{{
			Name: "Idempotency-Key", In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: ptr(maxLabel)},
			Description: "A repeat of a key by the same owner is answered 200 with the first message",
		}},
		RequestBody: &huma.RequestBody{Required: true, Content: content(jsonType, schemaOf[Submission](api))},
		Responses: map[string]*huma.Response{
			"200": {Description: "A repeat: the first message", Content: content(jsonType, message)},
			"202": {Description: "Accepted and on disk", Content: content(jsonType, message)},
			"429": {
				Description: "There was no room for it for three seconds, or many wait for some already: it was not accepted",
				Headers: map[string]*huma.Header{"Retry-After": {
					Description: "Seconds after which to submit it again", Schema: &huma.Schema{Type: huma.TypeInteger},
				}},
				Content: content(problemType, schemaOf[Problem](api)),
			},
		},
	}
}

func (a *API) describeBatch(api huma.API) huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/messages/batch", OperationID: "batch", Summary: "Submit a stream of messages",
		Description: "A submission a line; a result a line, in the same order, while lines still come. A dry run judges the " +
			"lines and accepts none: a line that would be taken has neither id nor error.",
		Parameters: []*huma.Param{
			{Name: "dry_run", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean}},
			{
				Name: "first_line", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: ptr(1.0), Maximum: ptr(float64(math.MaxInt32))},
				Description: "The number of the first line, to go on in the middle of a batch that was cut",
			},
			{
				Name: "Idempotency-Key", In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: ptr(maxLabel)},
				Description: "Makes the batch repeatable: line n, if it has no ref, has the key KEY/n",
			},
		},
		RequestBody: &huma.RequestBody{Required: true, Content: content(ndjsonType, schemaOf[Submission](api))},
		Responses:   map[string]*huma.Response{"200": {Description: "Results", Content: content(ndjsonType, schemaOf[BatchResult](api))}},
	}
}

func (a *API) describeEvents(api huma.API) huma.Operation {
	query := func(name, description string, s *huma.Schema) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: description, Schema: s}
	}
	events := content(ndjsonType, schemaOf[Event](api))
	events[sseType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	return huma.Operation{
		Method: http.MethodGet, Path: "/v1/events", OperationID: "events", Summary: "Records in log order with the decisions they caused",
		Parameters: []*huma.Param{
			query("after", "A cursor: seq, or seq.n of a decision", &huma.Schema{Type: huma.TypeString, Pattern: `^[0-9]+(\.[0-9]+)?$`}),
			query("follow", "Go on at the end of the log", &huma.Schema{Type: huma.TypeBoolean}),
			query("only", "Records that moved a message", &huma.Schema{Type: huma.TypeString, Enum: []any{"changes"}}),
		},
		Responses: map[string]*huma.Response{"200": {Description: "Events, a line each, or server-sent events", Content: events}},
	}
}

func (a *API) describeVerify(api huma.API) huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/verify", OperationID: "verify", Summary: "Compare the store with its log",
		Responses: map[string]*huma.Response{"200": {Description: "Progress, then the result", Content: content(ndjsonType, schemaOf[VerifyLine](api))}},
	}
}

func (a *API) describeResolve(api huma.API) huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/exceptions/resolve", OperationID: "resolve", Summary: "Decide exceptions",
		Description: "Each decision is a record of its own, with who made it, and is answered with what came of it.",
		RequestBody: &huma.RequestBody{Required: true, Content: content(jsonType, schemaOf[Resolve](api))},
		Responses: map[string]*huma.Response{
			"200": {Description: "A line for each exception, then the summary", Content: content(ndjsonType, schemaOf[ResolveLine](api))},
		},
	}
}

func (a *API) describeRetry(api huma.API) huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/inbox/retry", OperationID: "retryInbox", Summary: "Judge waiting receipts again now",
		Parameters: []*huma.Param{{Name: "smsc", In: "query", Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "Progress, then the result", Content: content(ndjsonType, schemaOf[InboxRetryLine](api))},
		},
	}
}

func (a *API) describeReprocess(api huma.API) huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/reprocess", OperationID: "reprocess",
		Summary: "Judge what is held or noted again under the rules in force",
		Description: "After a change of rules the daemon does so by itself. States that are final stay. A dry run tells what " +
			"would come of it under the rules of the configuration as it reads now, and records nothing.",
		Parameters: []*huma.Param{{Name: "dry_run", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "Decisions and progress, then the result", Content: content(ndjsonType, schemaOf[ReprocessLine](api))},
		},
	}
}

func schemaOf[T any](api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

func content(mediaType string, s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{mediaType: {Schema: s}}
}

// documentProblems gives every operation our problem document in place of huma's, and the ways to be
// known.
func documentProblems(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas
	problem := &huma.Response{
		Description: "What went wrong",
		Content:     content(problemType, schemas.Schema(reflect.TypeFor[Problem](), true, "")),
	}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Delete} {
			if op == nil {
				continue
			}
			for code := range op.Responses {
				status, err := strconv.Atoi(code)
				if err != nil || status >= http.StatusBadRequest && status != http.StatusTooManyRequests {
					delete(op.Responses, code)
				}
			}
			op.Responses["default"] = problem
		}
	}
	delete(schemas.Map(), "ErrorModel")
	delete(schemas.Map(), "ErrorDetail")
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {
		Type: "http", Scheme: "bearer", Description: "On TCP; on the Unix socket its mode says who may connect",
	}}
	doc.Security = []map[string][]string{{"token": {}}, {}}
}

// TransformSchema says what of a bind may be null.
func (Bind) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "stopped")
}

// TransformSchema says what of a message may be null.
func (Message) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "acceptance", "receipt", "verification")
}

// TransformSchema says what of an exception may be null.
func (Exception) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "resolution")
}

// TransformSchema says what of an exception with its details may be null.
func (ExceptionDetail) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "resolution", "row")
}

// TransformSchema says what of a queue may be null.
func (Queue) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "held", "paused")
}

// TransformSchema says what of a result may be null.
func (VerifyResult) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "difference")
}

// TransformSchema says what registered_delivery may be.
func (Submission) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["registered_delivery"] = &huma.Schema{AnyOf: []*huma.Schema{
		{Type: huma.TypeString, Enum: []any{"final", "failure", "none"}},
		{Type: huma.TypeInteger, Minimum: ptr(0.0), Maximum: ptr(255.0)},
	}}
	return s
}

// nullable lets properties that are objects be null, which huma cannot say of a reference.
func nullable(s *huma.Schema, names ...string) *huma.Schema {
	for _, name := range names {
		s.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{s.Properties[name], {Type: "null"}}}
	}
	return s
}

func ptr[T any](v T) *T { return &v }
