package daemon

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"esmed/statemachine"
	"esmed/store"
)

const (
	// cutoffBatch is how many windows are ended with one commit: enough to be done soon with what ended
	// while no daemon ran, few enough not to hold traffic up.
	cutoffBatch = 500
	// cutoffEvery is the least time between two passes over the windows that ended.
	cutoffEvery = time.Second
	// cutoffIdle is the longest time between two while there are windows, since a clock may be set.
	cutoffIdle = time.Minute
)

// windows is what cutoffs need of a store.
type windows interface {
	Changed() <-chan struct{}
	Due(ctx context.Context, now time.Time, after store.Due, limit int) ([]store.Due, error)
	NextWindow(ctx context.Context, now time.Time) (at time.Time, found bool, err error)
	Append(ctx context.Context, facts ...statemachine.Fact) ([]statemachine.Record, error)
}

// cutoffs ends the windows in which nothing final was heard (DESIGN §3, Cut-off): at their time, and at the
// start those that ended while no daemon ran. Of an SMSC with query_overdue the parts are asked about first.
type cutoffs struct {
	store   windows
	doubted func() bool // the clock is: no window is over then
	// hold takes a part to be asked about; who holds it also ends its window. False: it is not to be asked about.
	hold func(store.Due) bool
	log  *zap.Logger
}

// run ends windows until ctx is done. An error is the store's.
func (c *cutoffs) run(ctx context.Context) error {
	for ctx.Err() == nil {
		changed := c.store.Changed()
		next, err := c.pass(ctx)
		switch {
		case ctx.Err() != nil:
		case err == nil:
		case passing(err):
			next = time.Now().Add(passingPause)
		default:
			return fmt.Errorf("cut-off: %w", err)
		}
		c.idle(ctx, next, changed)
	}
	return nil
}

// pass ends all windows that are over, and says when to look again: zero, when there is no window.
func (c *cutoffs) pass(ctx context.Context) (next time.Time, err error) {
	var (
		after store.Due
		ended int
	)
	defer func() {
		if ended > 0 {
			c.log.Info("windows ended without an outcome", zap.Int("parts", ended))
		}
	}()
	for {
		if c.doubted() {
			return time.Now().Add(clockEvery), nil
		}
		now := time.Now().Truncate(time.Millisecond) // as exact as the log's own times: what is over is over there too
		due, err := c.store.Due(ctx, now, after, cutoffBatch)
		if err != nil {
			return next, err
		}
		n, err := c.end(ctx, due)
		if ended += n; err != nil {
			return next, err
		}
		if len(due) < cutoffBatch {
			next, _, err = c.store.NextWindow(ctx, now)
			return next, err
		}
		after = due[len(due)-1]
	}
}

// end records the cutoffs of parts that are not held, and says how many these are.
func (c *cutoffs) end(ctx context.Context, due []store.Due) (int, error) {
	var facts []statemachine.Fact
	for _, d := range due {
		if !c.hold(d) {
			facts = append(facts, &statemachine.Cutoff{Message: d.Message, Part: d.Part})
		}
	}
	_, err := c.store.Append(ctx, facts...)
	if err != nil {
		return 0, err
	}
	return len(facts), nil
}

// idle waits for next, for a change of what is stored, or for ctx.
func (c *cutoffs) idle(ctx context.Context, next time.Time, changed <-chan struct{}) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(cutoffEvery):
	}
	var due <-chan time.Time
	if !next.IsZero() {
		due = time.After(min(time.Until(next), cutoffIdle))
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-due:
	}
}
