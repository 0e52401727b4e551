package control

import (
	"context"
	"net/url"
	"strconv"
)

// Evidence asks for the bundle about a message. head is the seq of a chain head that its links are to come
// past; 0 = none.
func (c *Client) Evidence(ctx context.Context, id string, head uint64) (e Evidence, err error) {
	q := url.Values{}
	if head > 0 {
		q.Set("head", strconv.FormatUint(head, 10))
	}
	return e, c.get(ctx, "/v1/messages/"+url.PathEscape(id)+"/evidence", q, &e)
}
