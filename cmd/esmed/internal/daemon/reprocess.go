package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
	"esmed/store"
)

const (
	// reprocessPage is how many rows or messages one record has judged again. A page is folded in one step, for
	// which traffic waits: a few milliseconds.
	reprocessPage = 256
	// byDaemon is who asks for a pass when rules have changed.
	byDaemon = "esmed"
)

// reprocessStore is what a pass needs of a store.
type reprocessStore interface {
	Rules(context.Context) (uint64, *statemachine.Rules, error)
	Reprocessing(context.Context) (statemachine.ReprocessProgress, error)
	reprocessed
	Judge(context.Context, ...statemachine.Fact) ([]store.Judgement, error)
	Head() store.Head
	Applied() uint64
}

// reprocessed is what a pass goes through.
type reprocessed interface {
	RowsAfter(ctx context.Context, after statemachine.InboxKey, limit int) ([]*statemachine.InboxRow, error)
	MessagesBefore(ctx context.Context, before statemachine.ID, limit int) ([]*statemachine.Message, error)
}

// reprocessor has all that rules decide about judged again after they changed, or when somebody asks: page
// by page, one pass at a time. How far a pass came is in the log, so that it goes on after a restart.
type reprocessor struct {
	store  reprocessStore
	log    *zap.Logger
	wanted chan struct{} // room for one: there may be a pass to make, or to go on with
	turn   chan struct{} // room for one: held by whoever makes a pass
	asking sync.Mutex    // held by the one caller who asked for a pass
	asked  atomic.Bool   // that caller waits for the turn: a pass of our own makes way
}

func newReprocessor(s reprocessStore, log *zap.Logger) *reprocessor {
	r := &reprocessor{
		store: s, log: log,
		wanted: make(chan struct{}, 1), turn: make(chan struct{}, 1),
	}
	r.wake()
	return r
}

// wake has run look whether there is a pass to make.
func (r *reprocessor) wake() {
	select {
	case r.wanted <- struct{}{}:
	default:
	}
}

// run makes the passes that a change of rules needs until ctx is done. An error is the store's.
func (r *reprocessor) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.wanted:
		}
		err := persist(ctx, r.log, "reprocess", func() error { return r.ours(ctx) })
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reprocess: %w", err)
		}
	}
}

// ours goes on with the pass that the rules in force need, if they do. It makes way for one that is asked for.
func (r *reprocessor) ours(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.turn }()
	at, err := r.place(ctx)
	if err != nil || at.Finished {
		return err
	}
	return r.pass(ctx, byDaemon, at, func(control.ReprocessPage) error {
		if r.asked.Load() {
			return errMadeWay
		}
		return nil
	})
}

// errMadeWay ends a pass in favour of another, which covers all of it.
var errMadeWay = errors.New("another pass was asked for")

// Reprocess implements control.Operator: a pass from the beginning, asked for by somebody. What is left of it
// when see fails or ctx is done is made all the same.
func (r *reprocessor) Reprocess(ctx context.Context, by string, see func(control.ReprocessPage) error) error {
	if !r.asking.TryLock() {
		return control.ErrBusy
	}
	defer r.asking.Unlock()
	defer r.wake() // for what made way, or is left
	r.asked.Store(true)
	select {
	case r.turn <- struct{}{}:
		r.asked.Store(false)
	case <-ctx.Done():
		r.asked.Store(false)
		return ctx.Err()
	}
	defer func() { <-r.turn }()
	seq, _, err := r.store.Rules(ctx)
	if err == nil {
		err = r.pass(ctx, by, statemachine.ReprocessProgress{Rules: seq}, see)
	}
	return apiError(err)
}

// place is how far things are judged under the rules in force. Where the first rules of all are in force,
// nothing was ever judged under others.
func (r *reprocessor) place(ctx context.Context) (at statemachine.ReprocessProgress, err error) {
	seq, _, err := r.store.Rules(ctx)
	if err != nil {
		return at, err
	}
	if at, err = r.store.Reprocessing(ctx); err != nil {
		return at, err
	}
	switch first := uint64(1); {
	case at.Rules == seq:
	case at.Rules == 0 && seq == first:
		at = statemachine.ReprocessProgress{Rules: seq, Rows: true, Finished: true}
	default:
		at = statemachine.ReprocessProgress{Rules: seq}
	}
	return at, nil
}

// pass judges page after page from a place on. Rules that change meanwhile begin it anew.
func (r *reprocessor) pass(ctx context.Context, by string, at statemachine.ReprocessProgress, see func(control.ReprocessPage) error) error {
	r.log.Info("reprocessing", zap.Uint64("rules", at.Rules), zap.String("by", by), zap.Bool("goes_on", at.Rows || at.After != ""))
	var sum control.ReprocessResult
	for !at.Finished {
		seq, _, err := r.store.Rules(ctx)
		if err != nil {
			return err
		}
		if seq != at.Rules {
			at = statemachine.ReprocessProgress{Rules: seq}
		}
		began, before := time.Now(), r.store.Head().Seq
		page, err := pageBehind(ctx, r.store, at)
		if err != nil {
			return err
		}
		came, err := r.store.Judge(ctx, &statemachine.Operator{Action: statemachine.ActionReprocess, By: by, Reprocess: page})
		if err != nil {
			return err
		}
		at = page.Progress
		told := control.ReprocessPage{
			Record: came[0].Record.Seq, Rows: len(page.Rows), Messages: len(page.Messages), Decisions: came[0].Decisions,
		}
		sum.Add(told)
		if err := see(told); err != nil {
			r.log.Info("reprocessing interrupted", zap.String("by", by), zap.Error(err))
			if errors.Is(err, errMadeWay) {
				return nil
			}
			return err
		}
		if !at.Finished {
			r.rest(ctx, time.Since(began), r.store.Head().Seq > before+1)
		}
	}
	r.log.Info("reprocessed", zap.Uint64("rules", at.Rules), zap.String("by", by), zap.Int("rows", sum.Rows),
		zap.Int("messages", sum.Messages), zap.Int("changed", sum.Changed), zap.Any("verdicts", sum.Verdicts))
	return nil
}

// pageBehind is the one behind a place: rows in the inbox's order, then messages from the newest on.
func pageBehind(ctx context.Context, of reprocessed, at statemachine.ReprocessProgress) (*statemachine.Reprocess, error) {
	p := &statemachine.Reprocess{Progress: at}
	if !at.Rows {
		rows, err := of.RowsAfter(ctx, at.After, reprocessPage)
		for _, row := range rows {
			p.Rows = append(p.Rows, row.Key)
			p.Progress.After = row.Key
		}
		p.Progress.Rows = len(rows) < reprocessPage
		if err != nil || len(rows) > 0 {
			return p, err
		}
	}
	messages, err := of.MessagesBefore(ctx, at.Before, reprocessPage)
	for _, m := range messages {
		p.Messages = append(p.Messages, m.ID)
		p.Progress.Before = m.ID
	}
	p.Progress.Finished = len(messages) < reprocessPage
	return p, err
}

// How a pass is paced: after a page it rests as long as the page took, many times as long while others write
// too, and in any case while the applier is behind.
const (
	minRest      = 5 * time.Millisecond
	maxRest      = time.Second
	busyRest     = 9
	lagged       = 4096 // records
	lookAtLag    = 50 * time.Millisecond
	longestPages = 30 * time.Second // a pass goes on even where the applier never catches up
)

func (r *reprocessor) rest(ctx context.Context, took time.Duration, busy bool) {
	if busy {
		took *= busyRest
	}
	pause := min(max(took, minRest), maxRest)
	for waited := time.Duration(0); ; pause = lookAtLag {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if waited += pause; r.store.Head().Seq-r.store.Applied() < lagged || waited > longestPages {
			return
		}
	}
}
