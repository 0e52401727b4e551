package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Binds asks for the sessions.
func (c *Client) Binds(ctx context.Context) ([]Bind, error) {
	var l List[Bind]
	err := c.get(ctx, "/v1/binds", nil, &l)
	return l.Items, err
}

// OrderBind stops, starts or restarts the sessions with an SMSC. It does not wait until they have drained.
func (c *Client) OrderBind(ctx context.Context, smsc string, action BindAction, reason string) (ordered BindOrdered, err error) {
	body, err := json.Marshal(BindReason{Reason: reason})
	if err != nil {
		return ordered, fmt.Errorf("control: binds: %w", err)
	}
	path := "/v1/binds/" + url.PathEscape(smsc) + "/" + url.PathEscape(string(action))
	req, err := c.request(ctx, http.MethodPost, path, nil, bytes.NewReader(body))
	if err != nil {
		return ordered, err
	}
	req.Header.Set("Content-Type", jsonType)
	_, err = c.do(req, &ordered)
	return ordered, err
}
