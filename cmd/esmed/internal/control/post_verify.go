package control

import "net/http"

// postVerify compares the store with its log.
func (a *API) postVerify(w http.ResponseWriter, r *http.Request) {
	if p := knownQuery(r.URL.Query()); p != nil {
		writeProblem(w, p)
		return
	}
	if a.cfg.Verify == nil {
		writeProblem(w, newProblem(http.StatusServiceUnavailable, "there is nothing to verify with", ""))
		return
	}
	work(a, w, r, a.cfg.Verify.Verify, func(err error) *Problem { return a.problemOf("verify", err) })
}
