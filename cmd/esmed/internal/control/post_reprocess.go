package control

import (
	"context"
	"errors"
	"net/http"

	"esmed/statemachine"
)

// postReprocess has all that rules decide about judged again under those in force, and tells what comes of it.
func (a *API) postReprocess(w http.ResponseWriter, r *http.Request) {
	pass, p := a.reprocessing(r)
	if p != nil {
		writeProblem(w, p)
		return
	}
	out, err := newStream(w, ndjsonType)
	if err != nil {
		return
	}
	var result ReprocessResult
	err = pass(r.Context(), func(p ReprocessPage) error {
		result.Add(p)
		return a.sendPage(out, p, result.ReprocessProgress)
	})
	last := ReprocessLine{Result: &result}
	if err != nil {
		last = ReprocessLine{Error: a.problemOf("reprocess", err)}
	}
	if result.Verdicts == nil {
		result.Verdicts = map[string]int{}
	}
	_ = out.send(last)
}

// reprocessing is the pass that a request asks for, in earnest or as a dry run.
func (a *API) reprocessing(r *http.Request) (pass func(context.Context, func(ReprocessPage) error) error, p *Problem) {
	q := r.URL.Query()
	dry, p := boolQuery(q, "dry_run")
	if p := firstProblem(knownQuery(q, "dry_run"), p); p != nil {
		return nil, p
	}
	if dry {
		if a.cfg.Rehearse == nil {
			return nil, newProblem(http.StatusServiceUnavailable, "there is nothing to rehearse with", "")
		}
		return a.cfg.Rehearse.RehearseReprocess, nil
	}
	return func(ctx context.Context, see func(ReprocessPage) error) error {
		return a.cfg.Operate.Reprocess(ctx, callerOf(ctx).name(), see)
	}, a.operating()
}

func (a *API) sendPage(out *stream, p ReprocessPage, progress ReprocessProgress) error {
	if p := a.stopping(); p != nil {
		return p
	}
	for i := range p.Decisions {
		d := decision(&p.Decisions[i])
		line := ReprocessLine{Decision: &d}
		if at, ok := p.ReceivedAt[d.Record]; ok {
			line.ReceivedAt = instant(at)
		}
		if err := out.send(line); err != nil {
			return err
		}
	}
	if err := out.send(ReprocessLine{Progress: &progress}); err != nil {
		return err
	}
	return out.flush()
}

// stopping is nil until the streams end.
func (a *API) stopping() *Problem {
	select {
	case <-a.ended:
		return newProblem(http.StatusServiceUnavailable, "the daemon is stopping", "go on when it is back")
	default:
		return nil
	}
}

func firstProblem(problems ...*Problem) *Problem {
	for _, p := range problems {
		if p != nil {
			return p
		}
	}
	return nil
}

// postInboxRetry has the receipts that wait in the inbox judged again now.
func (a *API) postInboxRetry(w http.ResponseWriter, r *http.Request) {
	if p := firstProblem(a.operating(), knownQuery(r.URL.Query(), "smsc")); p != nil {
		writeProblem(w, p)
		return
	}
	out, err := newStream(w, ndjsonType)
	if err != nil {
		return
	}
	var sum InboxRetry
	last := InboxRetryLine{Result: &sum}
	if err := a.retryInbox(r.Context(), r.URL.Query().Get("smsc"), &sum, out); err != nil {
		last = InboxRetryLine{Error: a.problemOf("retry", err)}
	}
	_ = out.send(last)
}

func (a *API) retryInbox(ctx context.Context, smsc string, sum *InboxRetry, out *stream) error {
	var key statemachine.InboxKey
	for {
		if p := a.stopping(); p != nil {
			return p
		}
		page, next, err := a.cfg.Inbox.Inbox(ctx, smsc, key, resolvePage)
		if err != nil {
			return err
		}
		rows := make([]statemachine.InboxKey, len(page))
		for i, e := range page {
			rows[i] = e.Row.Key
		}
		matched, err := a.cfg.Operate.Retry(ctx, rows...)
		if err != nil {
			return err
		}
		sum.Looked += len(rows)
		sum.Matched += matched
		if key = next; key == "" {
			return nil
		}
		if err := errors.Join(out.send(InboxRetryLine{Progress: sum}), out.flush()); err != nil {
			return err
		}
	}
}
