package daemon

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
	"esmed/store"
)

var errTextGone = errors.New("the key of its text is not there: the text is lost")

// withhold keeps a part that cannot be sent off the wire; it stays in the queue while it is valid. An operator
// must find out why.
func (d *dispatcher) withhold(q store.Queued, why error) {
	d.log.Error("part cannot be sent", zap.String("id", string(q.Entry.Message)), zap.Int("part", q.Entry.Part), zap.Error(why))
	d.taken.add(q.Entry, 0)
	d.withheld.add(q.Entry.Message, why)
}

// withheld says of messages why they are not sent, to those who ask from elsewhere.
type withheld struct {
	mu  sync.Mutex
	why map[statemachine.ID]error // of maxWithheld at most: whoever reads these knows what is wrong
}

const maxWithheld = 1000

func (w *withheld) add(id statemachine.ID, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.why == nil {
		w.why = make(map[statemachine.ID]error)
	}
	if len(w.why) < maxWithheld {
		w.why[id] = why
	}
}

// list gives those that are still queued, in the order of their ids, and forgets the others.
func (w *withheld) list(ctx context.Context, s *store.Store) ([]control.QueueWithheld, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]control.QueueWithheld, 0, len(w.why))
	for id, why := range w.why {
		m, err := s.Message(ctx, id)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && m.State != statemachine.Queued:
			delete(w.why, id)
		case err != nil:
			return nil, err
		default:
			all = append(all, control.QueueWithheld{Message: string(id), Error: why.Error()})
		}
	}
	slices.SortFunc(all, func(a, b control.QueueWithheld) int { return cmp.Compare(a.Message, b.Message) })
	return all, nil
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
