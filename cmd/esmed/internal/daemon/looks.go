package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"esmed/statemachine"
	"esmed/store"
)

// lookAges are the ages of an inbox row at which it is looked at. Nothing should be found by then: a row
// is judged again with the submit_sm_resp that brings its id.
var lookAges = [...]time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute,
	30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
}

// lookEvery is how late a look may be.
const lookEvery = time.Second

// looked says how often a row received at that time has been looked at by now, and when it is next: zero
// when there is no look to come.
func looked(receivedAt, now time.Time) (times int, next time.Time) {
	for _, age := range lookAges {
		if at := receivedAt.Add(age); at.After(now) {
			return times, at
		}
		times++
	}
	return times, time.Time{}
}

// overlooker is what looks need of a store.
type overlooker interface {
	Overlooked(ctx context.Context, smsc string, from, to time.Time) ([]statemachine.InboxKey, error)
	InboxStats(context.Context) ([]store.InboxStat, error)
	Changed() <-chan struct{}
	Post(ctx context.Context, fact statemachine.Fact, done func(statemachine.Record, error)) error
}

// looks looks at inbox rows as they come of age. What came of age while nobody ran waits for its next look.
type looks struct {
	store overlooker
	smscs func() []string
	log   *zap.Logger
	last  time.Time // up to where all looks were made
}

// run looks until ctx is done. An error is the store's. While no inbox has a row it sleeps until something changes.
func (l *looks) run(ctx context.Context) error {
	l.last = time.Now()
	for rest(ctx, lookEvery) {
		changed := l.store.Changed()
		err := l.look(ctx, time.Now())
		empty := false
		if err == nil {
			empty, err = l.empty(ctx)
		}
		switch {
		case ctx.Err() != nil:
		case err != nil && !passing(err):
			return fmt.Errorf("inbox: %w", err)
		case empty:
			select {
			case <-ctx.Done():
			case <-changed:
			}
		}
	}
	return nil
}

// empty reports whether there is nothing that could come of age.
func (l *looks) empty(ctx context.Context) (bool, error) {
	all, err := l.store.InboxStats(ctx)
	return !slices.ContainsFunc(all, func(s store.InboxStat) bool { return s.Rows > 0 }), err
}

// look makes the looks that fell due since the last time that none failed.
func (l *looks) look(ctx context.Context, now time.Time) error {
	for _, smsc := range l.smscs() {
		for _, age := range lookAges {
			rows, err := l.store.Overlooked(ctx, smsc, l.last.Add(-age), now.Add(-age))
			if err != nil {
				return err
			}
			for _, row := range rows {
				l.log.Error("receipt found its message only by looking again", zap.String("smsc", smsc))
				if err := l.store.Post(ctx, &statemachine.Retry{Row: row}, l.recorded); err != nil {
					return err
				}
			}
		}
	}
	l.last = now
	return nil
}

func (l *looks) recorded(_ statemachine.Record, err error) {
	if err != nil {
		l.log.Error("retry not recorded", zap.Error(err))
	}
}
