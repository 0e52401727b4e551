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
	// expiryEvery is the least time between two passes over the queues: what does not wait for so long is not
	// looked at.
	expiryEvery = 5 * time.Second
	// expiryRest is how many times as long as a pass took it is at least until the next one: no more than
	// a fiftieth of a core is spent. To look at all of a million waiting parts takes some seconds.
	expiryRest = 50
	// expiryPage is how many entries are read, and how many messages ended, at once.
	expiryPage = 512
	// expirySettle is how long ago the time of a part must have come that waits for it: until then who
	// dispatches ends it, and what is behind it in the queue may not be there yet.
	expirySettle = time.Minute
)

// queueEnds is what expiries need of a store.
type queueEnds interface {
	QueueStats(context.Context) ([]store.QueueStat, error)
	QueueEnds(ctx context.Context, smsc string, due time.Time, cur *store.EndsCursor, limit int) ([]store.QueueEnd, bool, error)
	Append(ctx context.Context, facts ...statemachine.Fact) ([]statemachine.Record, error)
}

// expiries end messages whose validity is over while they wait, whatever keeps them: no bind, a hold, a pause,
// a text that is lost, an SMSC that is not configured any more. (Who dispatches ends those that it comes across.)
// Of each queue only what is new is read, and all of it again once the earliest end that was seen is over.
type expiries struct {
	store   queueEnds
	gates   *gates
	doubted func() bool // the clock is: nothing expires then
	log     *zap.Logger
	queues  map[string]*endsWalk // by SMSC, while something waits
}

// endsWalk is how far a queue has been looked at.
type endsWalk struct {
	cursor   store.EndsCursor
	earliest time.Time // end of validity of those that were read; zero: none has one
}

func newExpiries(s queueEnds, gates *gates, doubted func() bool, log *zap.Logger) *expiries {
	return &expiries{store: s, gates: gates, doubted: doubted, log: log, queues: map[string]*endsWalk{}}
}

// run ends messages until ctx is done. An error is the store's.
func (e *expiries) run(ctx context.Context) error {
	for pause := expiryEvery; rest(ctx, pause); {
		began := time.Now()
		err := e.pass(ctx)
		switch pause = max(expiryEvery, expiryRest*time.Since(began)); {
		case ctx.Err() != nil, err == nil:
		case passing(err):
			clear(e.queues) // what was not recorded is found again
		default:
			return fmt.Errorf("expiry: %w", err)
		}
	}
	return nil
}

// pass looks once at every queue in which something waits.
func (e *expiries) pass(ctx context.Context) error {
	queues, err := e.store.QueueStats(ctx)
	if err != nil {
		return err
	}
	for i := range queues {
		smsc := queues[i].SMSC
		if queues[i].Waiting+queues[i].Delayed == 0 {
			delete(e.queues, smsc)
			continue
		}
		if w := e.queues[smsc]; w == nil || expired(w.earliest, time.Now()) {
			e.queues[smsc] = new(endsWalk)
		}
		n, err := e.walk(ctx, smsc, e.queues[smsc])
		if n > 0 {
			e.log.Info("validity ended before submission", zap.String("smsc", smsc), zap.Int("messages", n))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walk reads on in a queue to its end, and says how many messages it ended.
func (e *expiries) walk(ctx context.Context, smsc string, w *endsWalk) (ended int, err error) {
	for more := true; more; {
		if e.doubted() {
			delete(e.queues, smsc) // what is over is to be found when it may be ended
			return ended, nil
		}
		now := time.Now()
		var page []store.QueueEnd
		if page, more, err = e.store.QueueEnds(ctx, smsc, now.Add(-expirySettle), &w.cursor, expiryPage); err != nil {
			return ended, err
		}
		facts := w.over(page, now)
		if err := e.end(ctx, smsc, facts); err != nil {
			return ended, err
		}
		ended += len(facts)
	}
	return ended, nil
}

// over are the records that end those of a page whose validity is over. It notes when that of others is.
func (w *endsWalk) over(page []store.QueueEnd, now time.Time) (facts []statemachine.Fact) {
	for _, end := range page {
		switch {
		case end.ValidUntil.IsZero():
		case expired(end.ValidUntil, now):
			facts = append(facts, &statemachine.QueueExpired{Message: end.Message})
		case w.earliest.IsZero() || end.ValidUntil.Before(w.earliest):
			w.earliest = end.ValidUntil
		}
	}
	return facts
}

// end records the ends of messages between two rounds of who dispatches them: one that found them valid
// has recorded that they leave, and the next does not find them.
func (e *expiries) end(ctx context.Context, smsc string, facts []statemachine.Fact) error {
	if len(facts) == 0 {
		return nil
	}
	return e.gates.of(smsc).order(ctx, func(ctx context.Context) error {
		_, err := e.store.Append(ctx, facts...)
		return err
	})
}
