package control

import "net/http"

// postVerify compares the store with its log. Progress comes while it works, the result last.
func (a *API) postVerify(w http.ResponseWriter, r *http.Request) {
	if p := knownQuery(r.URL.Query()); p != nil {
		writeProblem(w, p)
		return
	}
	if a.cfg.Verify == nil {
		writeProblem(w, newProblem(http.StatusServiceUnavailable, "there is nothing to verify with", ""))
		return
	}
	out, err := newStream(w, ndjsonType)
	if err != nil {
		return
	}
	result, err := a.cfg.Verify.Verify(r.Context(), func(p VerifyProgress) {
		// A reader that is gone ends the request's context, and with it the verification.
		if out.send(VerifyLine{Progress: &p}) == nil {
			_ = out.flush()
		}
	})
	last := VerifyLine{Result: &result}
	if err != nil {
		last = VerifyLine{Error: a.problemOf("verify", err)}
	}
	_ = out.send(last)
}
