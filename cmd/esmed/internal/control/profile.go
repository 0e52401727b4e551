package control

import (
	"net/http"
	"net/http/pprof"
	"strings"
)

// withProfiles adds what the daemon spends its time and memory on, as `go tool pprof` reads it. It is for who may use
// the socket: a profile that is being taken slows the daemon down.
func withProfiles(api http.Handler) http.Handler {
	const at = "/debug/pprof/"
	profiles := http.NewServeMux()
	profiles.HandleFunc(at, pprof.Index)
	profiles.HandleFunc(at+"profile", pprof.Profile)
	profiles.HandleFunc(at+"symbol", pprof.Symbol)
	profiles.HandleFunc(at+"trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, at) {
			profiles.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
