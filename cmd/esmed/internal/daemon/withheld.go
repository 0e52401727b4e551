package daemon

import (
	"errors"

	"go.uber.org/zap"

	"esmed/store"
)

var errTextGone = errors.New("the key of its text is not there: the text is lost")

// withhold keeps a part that cannot be sent off the wire; it stays in the queue while it is valid. An operator
// must find out why.
func (d *dispatcher) withhold(q store.Queued, why error) {
	d.log.Error("part cannot be sent", zap.String("id", string(q.Entry.Message)), zap.Int("part", q.Entry.Part), zap.Error(why))
	d.taken.add(q.Entry, 0)
}
