package control

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"esmed/statemachine"
)

// resolvePage is how many exceptions are decided at once: few enough that traffic passes between them.
const resolvePage = 256

// postResolve records a decision about exceptions, each as a record of its own, and says of each what came
// of it. What was answered has been done, also when the caller goes away.
func (a *API) postResolve(w http.ResponseWriter, r *http.Request) {
	if p := a.operating(); p != nil {
		writeProblem(w, p)
		return
	}
	d, p := readResolve(w, r)
	if p != nil {
		writeProblem(w, p)
		return
	}
	out, err := newStream(w, ndjsonType)
	if err != nil {
		return
	}
	run := resolving{api: a, resolution: d, out: out}
	last := ResolveLine{Summary: &run.summary}
	if err := run.all(r.Context()); err != nil && !errors.Is(err, errReaderGone) {
		last = ResolveLine{Error: a.problemOf("resolve", err)}
	}
	_ = out.send(last)
}

// operating is nil while decisions are taken.
func (a *API) operating() *Problem {
	if a.cfg.Operate == nil {
		return newProblem(http.StatusServiceUnavailable, "the store is open for reading only",
			"start the daemon: esmed run --config FILE")
	}
	return nil
}

// resolving is a decision on its way through the exceptions that it is about.
type resolving struct {
	api *API
	*resolution
	out     *stream
	summary ResolveSummary
}

// undecided is an exception that is about to be decided; fact is nil where that is refused already.
type undecided struct {
	fact   *statemachine.Operator
	answer Resolved
}

func (r *resolving) all(ctx context.Context) error {
	if r.bulk {
		return r.selected(ctx)
	}
	for ids := r.ids; len(ids) > 0; {
		n := min(len(ids), resolvePage)
		page := make([]undecided, n)
		for i, id := range ids[:n] {
			var err error
			if page[i], err = r.find(ctx, id); err != nil {
				return err
			}
		}
		if err := r.decide(ctx, page); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// find looks up what an id names.
func (r *resolving) find(ctx context.Context, id string) (undecided, error) {
	missing := undecided{answer: Resolved{ID: id, Detail: "there is no such exception"}}
	if digits, ok := strings.CutPrefix(id, inboxRun); ok {
		e, err := r.api.inboxRow(ctx, digits)
		if errors.Is(err, ErrNotFound) {
			missing.answer.Detail = "there is no such row in the inbox (any more)"
			return missing, nil
		}
		if err != nil {
			return missing, err
		}
		return r.ofRow(e.Row), nil
	}
	x, err := r.api.cfg.Exceptions.Exception(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return missing, nil
	}
	if err != nil {
		return missing, err
	}
	return r.of(x), nil
}

func (r *resolving) of(x *statemachine.Exception) undecided {
	fact := r.fact
	fact.Exception = x.ID
	return undecided{&fact, Resolved{ID: x.ID, Exception: x.ID, Kind: string(x.Kind)}}
}

func (r *resolving) ofRow(row *statemachine.InboxRow) undecided {
	fact := r.fact
	fact.Row = row.Key
	return undecided{&fact, Resolved{ID: inboxID(row), Kind: string(statemachine.KindUnmatched)}}
}

// selected decides all open exceptions that are selected, page by page: those that are stored, then rows
// of the inbox. What opens meanwhile is not among them.
func (r *resolving) selected(ctx context.Context) error {
	f := r.filter
	f.Limit = resolvePage
	for more := true; more; more = f.After != "" {
		found, next, err := r.api.cfg.Exceptions.Exceptions(ctx, f)
		if err != nil {
			return err
		}
		var page []undecided
		for _, x := range found {
			if !shownAsRow(x) {
				page = append(page, r.of(x))
			}
		}
		if err := r.decide(ctx, page); err != nil {
			return err
		}
		f.After = next
	}
	if f.Kind != "" && f.Kind != statemachine.KindUnmatched {
		return nil
	}
	return r.selectedRows(ctx)
}

func (r *resolving) selectedRows(ctx context.Context) error {
	old := r.api.cfg.Now().Add(-r.api.cfg.InboxOlderThan)
	var key statemachine.InboxKey
	for {
		found, next, err := r.api.cfg.Inbox.Inbox(ctx, r.filter.SMSC, key, resolvePage)
		if err != nil {
			return err
		}
		var page []undecided
		for _, e := range found {
			if unmatched(e.Row, old) && !e.Row.ReceivedAt.Before(r.filter.Since) {
				page = append(page, r.ofRow(e.Row))
			}
		}
		if err := r.decide(ctx, page); err != nil {
			return err
		}
		if key = next; key == "" {
			return nil
		}
	}
}

// decide records the decisions of a page and answers them.
func (r *resolving) decide(ctx context.Context, page []undecided) error {
	if p := r.api.stopping(); p != nil {
		return p
	}
	var facts []*statemachine.Operator
	for _, u := range page {
		if u.fact != nil {
			facts = append(facts, u.fact)
		}
	}
	judged, err := r.api.cfg.Operate.Operate(ctx, facts...)
	if err != nil {
		return err
	}
	for _, u := range page {
		if u.fact != nil {
			if err := r.judged(ctx, &u.answer, judged[0]); err != nil {
				return err
			}
			judged = judged[1:]
		}
		if err := r.tell(&u.answer); err != nil {
			return err
		}
	}
	if r.out.flush() != nil {
		return errReaderGone
	}
	return nil
}

// judged completes an answer with what came of the decision, and how the exception stands now.
func (r *resolving) judged(ctx context.Context, answer *Resolved, j Judged) error {
	answer.OK, answer.Detail, answer.Record = j.NoEffect == "", j.NoEffect, j.Record
	answer.Moves = moves(j.Decisions)
	id := answer.Exception
	if id == "" && answer.OK {
		id = "x" + strconv.FormatUint(j.Record, 10) // a row's is opened by the decision
	}
	if id == "" {
		return nil
	}
	x, err := r.api.cfg.Exceptions.Exception(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	answer.Exception, answer.Status = x.ID, x.Status
	return nil
}

func (r *resolving) tell(answer *Resolved) error {
	if answer.OK {
		r.summary.Resolved++
	} else {
		r.summary.Failed++
	}
	if answer.Moves == nil {
		answer.Moves = []Moved{}
	}
	if r.out.send(ResolveLine{Resolved: answer}) != nil {
		return errReaderGone
	}
	return nil
}
