package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
)

// Resolve has a decision recorded. see is told of each exception as it is decided; its error ends the
// wait for the others, which may be decided all the same.
func (c *Client) Resolve(ctx context.Context, r Resolve, see func(Resolved) error) (ResolveSummary, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return ResolveSummary{}, fmt.Errorf("control: resolve: %w", err)
	}
	var summary ResolveSummary
	err = postLines(ctx, c, "/v1/exceptions/resolve", nil, bytes.NewReader(body), func(l *ResolveLine) (bool, error) {
		switch {
		case l.Error != nil:
			return true, &ProblemError{Problem: *l.Error}
		case l.Summary != nil:
			summary = *l.Summary
			return true, nil
		case l.Resolved != nil:
			return false, see(*l.Resolved)
		}
		return false, nil
	})
	return summary, err
}

// RetryInbox has the receipts that wait in the inbox judged again, those of one SMSC or ("") all. progress
// may be nil; it is called in between.
func (c *Client) RetryInbox(ctx context.Context, smsc string, progress func(InboxRetry)) (InboxRetry, error) {
	q := values{url.Values{}}
	q.set("smsc", smsc)
	return postWork[InboxRetry, InboxRetry](ctx, c, "/v1/inbox/retry", q.Values, nil, progress)
}

// Reprocess has all that is held or noted judged again under the rules in force. see is told of each decision,
// progress (nil = nobody) how far it is.
func (c *Client) Reprocess(ctx context.Context, see func(Decision) error, progress func(ReprocessProgress)) (ReprocessResult, error) {
	return c.reprocess(ctx, nil, func(l *ReprocessLine) error { return see(*l.Decision) }, progress)
}

// RehearseReprocess tells what Reprocess would come to under the rules of the configuration as it reads now.
func (c *Client) RehearseReprocess(ctx context.Context, see func(Rehearsed) error, progress func(ReprocessProgress)) (ReprocessResult, error) {
	q := url.Values{"dry_run": {"true"}}
	return c.reprocess(ctx, q, func(l *ReprocessLine) error { return see(Rehearsed{*l.Decision, l.ReceivedAt}) }, progress)
}

func (c *Client) reprocess(ctx context.Context, q url.Values, see func(*ReprocessLine) error, progress func(ReprocessProgress)) (result ReprocessResult, err error) {
	err = postLines(ctx, c, "/v1/reprocess", q, nil, func(l *ReprocessLine) (bool, error) {
		switch {
		case l.Error != nil:
			return true, &ProblemError{Problem: *l.Error}
		case l.Result != nil:
			result = *l.Result
			return true, nil
		case l.Decision != nil:
			return false, see(l)
		case l.Progress != nil && progress != nil:
			progress(*l.Progress)
		}
		return false, nil
	})
	return result, err
}
