package daemon

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"esmed/statemachine"
	"esmed/store"
)

var errTextGone = errors.New("the key of its text is not there: the text is lost")

// withheld are parts that cannot be sent. They stay in the queue, and off the wire, while they are valid.
type withheld []withheldPart

type withheldPart struct {
	entry statemachine.QueueEntry
	until time.Time // zero: for ever
}

// nextEnd is when the validity of the first of them ends; zero: of none.
func (w withheld) nextEnd() (next time.Time) {
	for _, p := range w {
		if next.IsZero() || !p.until.IsZero() && p.until.Before(next) {
			next = p.until
		}
	}
	return next
}

// nextEnd is when the dispatcher must look at its own for what has expired; zero: at no time.
func (d *dispatcher) nextEnd() time.Time {
	end := d.withheld.nextEnd()
	if (d.undue || !end.IsZero()) && d.clock.doubted() {
		return time.Now().Add(clockEvery)
	}
	return end
}

// withhold keeps a part that cannot be sent off the wire. An operator must find out why.
func (d *dispatcher) withhold(q store.Queued, why error) {
	d.log.Error("part cannot be sent", zap.String("id", string(q.Entry.Message)), zap.Int("part", q.Entry.Part), zap.Error(why))
	d.taken.add(q.Entry, 0)
	d.withheld = append(d.withheld, withheldPart{q.Entry, q.Accepted.ValidUntil})
}

// expireWithheld records the end of those whose validity is over.
func (d *dispatcher) expireWithheld(ctx context.Context, now time.Time) error {
	if end := d.withheld.nextEnd(); !expired(end, now) || d.clock.doubted() {
		return nil
	}
	b := &batch{at: now}
	for _, p := range d.withheld {
		if expired(p.until, now) {
			b.add(p.entry, &statemachine.QueueExpired{Message: p.entry.Message})
		}
	}
	if err := d.record(ctx, b); err != nil {
		return err
	}
	d.withheld = slices.DeleteFunc(d.withheld, func(p withheldPart) bool { return expired(p.until, now) })
	return nil
}
