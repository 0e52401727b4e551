package daemon

import (
	"errors"

	"go.uber.org/zap"

	"esmed/statemachine"
	"esmed/store"
)

var errTextGone = errors.New("the key of its text is not there: the text is lost")

// withhold keeps a part that cannot be sent off the wire; it stays in the queue while it is valid. An operator
// must find out why.
func (d *dispatcher) withhold(q store.Queued, why error) {
	d.log.Error("part cannot be sent", zap.String("id", string(q.Entry.Message)), zap.Int("part", q.Entry.Part), zap.Error(why))
	d.taken.add(q.Entry, 0)
}

// passOver leaves a part in the queue until lookAgain: the cursor is past it, or, where it waited for its retry, taken
// has it.
func (d *dispatcher) passOver(e statemachine.QueueEntry) {
	if !e.NotBefore.IsZero() {
		d.taken.add(e, 0)
		d.passed = append(d.passed, e)
	}
}

// lookAgain has the queue read from its head, with what was passed over.
func (d *dispatcher) lookAgain() {
	for _, e := range d.passed {
		d.taken.drop(e)
	}
	d.passed, d.cursor = nil, store.QueueCursor{}
}
