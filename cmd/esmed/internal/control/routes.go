package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// scopes says who may use what. Scope 0 is everybody.
var scopes = map[string]Scopes{
	"POST /v1/messages":              ScopeSend,
	"POST /v1/messages/batch":        ScopeSend,
	"GET /v1/messages":               ScopeRead,
	"GET /v1/messages/{id}":          ScopeRead,
	"DELETE /v1/messages/{id}":       ScopeSend | ScopeOperate, // either: see mayCancel
	"POST /v1/messages/{id}/query":   ScopeOperate,
	"GET /v1/queue":                  ScopeRead,
	"POST /v1/queue/{smsc}/hold":     ScopeOperate,
	"POST /v1/queue/{smsc}/release":  ScopeOperate,
	"POST /v1/queue/{smsc}/drop":     ScopeOperate,
	"GET /v1/messages/{id}/events":   ScopeRead,
	"GET /v1/messages/{id}/evidence": ScopeRead,
	"GET /v1/events":                 ScopeRead,
	"GET /v1/inbox":                  ScopeRead,
	"GET /v1/inbox/diagnosis":        ScopeRead,
	"GET /v1/exceptions":             ScopeRead,
	"GET /v1/exceptions/{id}":        ScopeRead,
	"POST /v1/exceptions/resolve":    ScopeOperate,
	"POST /v1/inbox/retry":           ScopeOperate,
	"POST /v1/reprocess":             ScopeOperate,
	"GET /v1/report":                 ScopeRead,
	"GET /v1/binds":                  ScopeRead,
	"POST /v1/binds/{smsc}/{action}": ScopeOperate,
	"GET /v1/alerts":                 ScopeRead,
	"POST /v1/compact":               ScopeOperate,
	"GET /v1/store":                  ScopeRead,
	"POST /v1/verify":                ScopeOperate,
	"POST /v1/backup":                ScopeOperate,
	"GET /metrics":                   ScopeRead,
	"GET /healthz":                   0,
	"GET /readyz":                    0,
	"GET /openapi.json":              0,
	catchAll:                         0,
}

// route registers every endpoint and writes the OpenAPI document.
func (a *API) route() error {
	a.router = &router{mux: http.NewServeMux(), scopes: scopes}
	api := humago.New(a.router, humaConfig(a.cfg.Version))
	a.routeMessages(api)
	a.routeEvidence(api)
	a.routeExceptions(api)
	a.routeDiagnosis(api)
	a.routeStatistics(api)
	a.routeAlerts(api)
	a.routeQueue(api)
	a.routeStore(api)
	a.routeHealth(api)
	a.routeStreams(api)
	a.router.HandleFunc(catchAll, a.router.nothing)

	doc, err := openAPI(api)
	if err != nil {
		return fmt.Errorf("control: openapi: %w", err)
	}
	a.router.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
		_, _ = w.Write(doc)
	})
	return nil
}

// humaConfig makes huma answer with our documents and add nothing of its own. No operation takes a body
// through it: submissions have their own reader.
func humaConfig(version string) huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI:    "3.1.0",
			Info:       &huma.Info{Title: "esmed", Version: version},
			Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)},
		},
		Formats: map[string]huma.Format{
			jsonType: huma.DefaultJSONFormat,
			"json":   huma.DefaultJSONFormat, // what follows the + of a problem document's type
		},
		DefaultFormat:                jsonType,
		RejectUnknownQueryParameters: true,
		Transformers:                 []huma.Transformer{transformProblem},
	}
}

// transformProblem turns huma's own error document into ours. The refused value is not quoted.
func transformProblem(_ huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := newProblem(m.Status, m.Detail, "")
	for _, e := range m.Errors {
		p.Errors = append(p.Errors, FieldProblem{Path: e.Location, Message: e.Message})
	}
	return p, nil
}

// body is an answer that is its body.
type body[T any] struct{ Body T }

// register registers an operation that reads.
func register[I, T any](a *API, api huma.API, op huma.Operation, handler func(context.Context, *I) (T, error)) {
	huma.Register(api, op, func(ctx context.Context, in *I) (*body[T], error) {
		v, err := handler(ctx, in)
		if err != nil {
			return nil, a.problemOf(op.OperationID, err)
		}
		return &body[T]{v}, nil
	})
}

// get describes an operation that reads. Its id is also what a 404 calls the thing that is missing.
func get(path, id, summary string) huma.Operation {
	return huma.Operation{Method: http.MethodGet, Path: path, OperationID: id, Summary: summary}
}

func openAPI(api huma.API) ([]byte, error) {
	documentProblems(api.OpenAPI())
	return json.Marshal(api.OpenAPI())
}
