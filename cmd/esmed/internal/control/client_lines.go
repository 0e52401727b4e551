package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// postLines posts a body (nil = none) and hands see each line of the answer until that says it was the
// last. An answer that ends before is an error: what was not answered may not have been done.
func postLines[L any](ctx context.Context, c *Client, path string, q url.Values, body io.Reader, see func(*L) (last bool, err error)) error {
	req, err := c.request(ctx, http.MethodPost, path, q, body)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", jsonType)
	}
	resp, err := c.open(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for line, err := range lines(resp.Body) {
		if err != nil {
			return fmt.Errorf("control: %s: %w", path, requestError(ctx, err))
		}
		var l L
		if err := json.Unmarshal(line, &l); err != nil {
			return fmt.Errorf("control: %s: %w", path, err)
		}
		if last, err := see(&l); last || err != nil {
			return err
		}
	}
	return fmt.Errorf("control: %s: %w: %w", path, ErrLost, io.ErrUnexpectedEOF)
}
