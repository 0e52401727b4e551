package control

import "context"

// Verify has the daemon compare its store with the log. progress may be nil; it is called in between.
func (c *Client) Verify(ctx context.Context, progress func(VerifyProgress)) (VerifyResult, error) {
	return postWork[VerifyProgress, VerifyResult](ctx, c, "/v1/verify", nil, nil, progress)
}
