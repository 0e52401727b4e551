package control

import "context"

// Verify has the daemon compare its store with the log. progress may be nil; it is called in between.
func (c *Client) Verify(ctx context.Context, progress func(VerifyProgress)) (result VerifyResult, err error) {
	err = postLines(ctx, c, "/v1/verify", nil, nil, func(l *VerifyLine) (bool, error) {
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
