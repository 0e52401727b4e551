package control

import "net/http"

// AsCaller serves all requests as those of one caller.
func AsCaller(h http.Handler, c Caller) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(withCaller(r.Context(), c)))
	})
}
