package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Verify has the daemon compare its store with the log. progress may be nil; it is called in between.
func (c *Client) Verify(ctx context.Context, progress func(VerifyProgress)) (VerifyResult, error) {
	req, err := c.request(ctx, http.MethodPost, "/v1/verify", nil, nil)
	if err != nil {
		return VerifyResult{}, err
	}
	resp, err := c.open(req)
	if err != nil {
		return VerifyResult{}, err
	}
	defer resp.Body.Close()
	for line, err := range lines(resp.Body) {
		if err != nil {
			return VerifyResult{}, err
		}
		var l VerifyLine
		if err := json.Unmarshal(line, &l); err != nil {
			return VerifyResult{}, fmt.Errorf("control: verify: %w", err)
		}
		switch {
		case l.Error != nil:
			return VerifyResult{}, &ProblemError{Problem: *l.Error}
		case l.Result != nil:
			return *l.Result, nil
		case l.Progress != nil && progress != nil:
			progress(*l.Progress)
		}
	}
	return VerifyResult{}, fmt.Errorf("control: verify: %w", io.ErrUnexpectedEOF)
}
