package control

import (
	"context"
	"io"
	"net/url"
)

// WorkLine is one line of an answer that comes while the work goes on: progress (P) any number of times, then
// one result (R) or one error.
type WorkLine[P, R any] struct {
	Progress *P       `json:"progress,omitempty"`
	Result   *R       `json:"result,omitempty"`
	Error    *Problem `json:"error,omitempty"`
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
