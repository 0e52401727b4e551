package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// Cancel cancels a message: what waits here at once, and what was submitted by asking its SMSC, which is
// waited for.
func (c *Client) Cancel(ctx context.Context, id, reason string) (done Cancellation, err error) {
	q := values{url.Values{}}
	q.set("reason", reason)
	req, err := c.request(ctx, http.MethodDelete, messagePath(id), q.Values, nil)
	if err != nil {
		return done, err
	}
	_, err = c.do(req, &done)
	return done, err
}

// Query has the SMSC asked what became of a part of a message, 0 = of all.
func (c *Client) Query(ctx context.Context, id string, part int) (answer Inquiry, err error) {
	q := url.Values{}
	if part != 0 {
		q.Set("part", strconv.Itoa(part))
	}
	req, err := c.request(ctx, http.MethodPost, messagePath(id)+"/query", q, nil)
	if err != nil {
		return answer, err
	}
	_, err = c.do(req, &answer)
	return answer, err
}

func messagePath(id string) string { return "/v1/messages/" + url.PathEscape(id) }

// Queues asks what waits for each SMSC.
func (c *Client) Queues(ctx context.Context) ([]Queue, error) {
	var l List[Queue]
	err := c.get(ctx, "/v1/queue", nil, &l)
	return l.Items, err
}

// HoldQueue has nothing sent to an SMSC until ReleaseQueue.
func (c *Client) HoldQueue(ctx context.Context, smsc, reason string) (QueueOrder, error) {
	return c.turnQueue(ctx, smsc, "hold", reason)
}

// ReleaseQueue ends a hold.
func (c *Client) ReleaseQueue(ctx context.Context, smsc, reason string) (QueueOrder, error) {
	return c.turnQueue(ctx, smsc, "release", reason)
}

func (c *Client) turnQueue(ctx context.Context, smsc, action, reason string) (done QueueOrder, err error) {
	body, err := orderBody(reason)
	if err != nil {
		return done, err
	}
	req, err := c.request(ctx, http.MethodPost, queuePath(smsc, action), nil, body)
	if err != nil {
		return done, err
	}
	req.Header.Set("Content-Type", jsonType)
	_, err = c.do(req, &done)
	return done, err
}

// DropQueue drops all that waits for an SMSC. progress may be nil; it is called in between. After an error what
// was dropped stays dropped.
func (c *Client) DropQueue(ctx context.Context, smsc, reason string, progress func(QueueDrop)) (QueueDrop, error) {
	body, err := orderBody(reason)
	if err != nil {
		return QueueDrop{}, err
	}
	return postWork[QueueDrop, QueueDrop](ctx, c, queuePath(smsc, "drop"), nil, body, progress)
}

func orderBody(reason string) (*bytes.Reader, error) {
	body, err := json.Marshal(Order{Reason: reason})
	if err != nil {
		return nil, fmt.Errorf("control: order: %w", err)
	}
	return bytes.NewReader(body), nil
}

func queuePath(smsc, action string) string { return "/v1/queue/" + url.PathEscape(smsc) + "/" + action }
