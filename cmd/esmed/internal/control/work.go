package control

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// WorkLine is one line of an answer that comes while the work goes on: progress (P) any number of times, then
// one result (R) or one error.
type WorkLine[P, R any] struct {
	Progress *P       `json:"progress,omitempty"`
	Result   *R       `json:"result,omitempty"`
	Error    *Problem `json:"error,omitempty"`
}

// work answers with the progress of what do does, and last with its result or with what problem makes of its error. A
// caller that goes away ends it, and so does the daemon when it stops.
func work[P, R any](a *API, w http.ResponseWriter, r *http.Request, do func(context.Context, func(P)) (R, error), problem func(error) *Problem) {
	out, err := newStream(w, ndjsonType)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	result, err := do(ctx, func(p P) {
		if a.stopping() != nil || out.send(WorkLine[P, R]{Progress: &p}) != nil || out.flush() != nil {
			cancel()
		}
	})
	last := WorkLine[P, R]{Result: &result}
	if err != nil {
		last = WorkLine[P, R]{Error: problem(err)}
	}
	_ = out.send(last)
}

// postWork asks for work and waits for its result. progress may be nil; it is called in between.
func postWork[P, R any](ctx context.Context, c *Client, path string, q url.Values, body io.Reader, progress func(P)) (result R, err error) {
	err = postLines(ctx, c, path, q, body, func(l *WorkLine[P, R]) (bool, error) {
		switch {
		case l.Error != nil:
			return true, &ProblemError{Problem: *l.Error}
		case l.Result != nil:
			result = *l.Result
			return true, nil
		case l.Progress != nil && progress != nil:
			progress(*l.Progress)
		}
		return false, nil
	})
	return result, err
}
