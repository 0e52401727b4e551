package control

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// router is a ServeMux that asks for a scope before a handler runs and whose 404 and 405 are problem
// documents.
type router struct {
	mux    *http.ServeMux
	scopes map[string]Scopes // by pattern
}

// HandleFunc registers a handler. Patterns without a scope of their own need ScopeOperate.
func (t *router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	need, ok := t.scopes[pattern]
	if !ok {
		need = ScopeOperate
	}
	t.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if p := permit(r, need); p != nil {
			writeProblem(w, p)
			return
		}
		handler(w, r)
	})
}

func (t *router) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.mux.ServeHTTP(w, r) }

// nothing answers what no pattern fits: 405 where another method would, else 404.
func (t *router) nothing(w http.ResponseWriter, r *http.Request) {
	if allow := t.methods(r.URL.Path); len(allow) > 0 {
		w.Header().Set("Allow", strings.Join(allow, ", "))
		writeProblem(w, newProblem(http.StatusMethodNotAllowed, "this path does not take "+r.Method, "allowed: "+strings.Join(allow, ", ")))
		return
	}
	writeProblem(w, newProblem(http.StatusNotFound, "there is nothing at this path", "GET /openapi.json says what there is"))
}

// methods are those that some pattern takes at a path.
func (t *router) methods(path string) []string {
	var allow []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodPut, http.MethodPatch} {
		probe := http.Request{Method: method, URL: &url.URL{Path: path}}
		if _, pattern := t.mux.Handler(&probe); pattern != catchAll {
			allow = append(allow, method)
		}
	}
	return allow
}

// catchAll is the pattern that fits everything.
const catchAll = "/"

// writeProblem answers with a problem document.
func writeProblem(w http.ResponseWriter, p *Problem) {
	for name, values := range p.GetHeaders() {
		w.Header()[name] = values
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, p.Status, problemType, p)
}

// writeJSON answers with a value as JSON. A client that is gone is no error of ours.
func writeJSON(w http.ResponseWriter, status int, mediaType string, v any) {
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
}
