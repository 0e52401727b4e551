package store

import (
	"esmed/statemachine"
)

// The table states names the messages of a partition by their state, so that few of them among many are found without
// a look at all. What a message is in for a short while only, and what most are in in the end, would cost every
// message: DELIVERED is never in it, and what is under way only once its partition is sealed. The one partition that
// is not is looked through.

// inStates reports whether the table states of a partition, which is sealed or not, has messages in a state.
func inStates(state statemachine.State, sealed bool) bool {
	switch state {
	case statemachine.NoState, statemachine.Delivered:
		return false
	case statemachine.Queued, statemachine.Submitting, statemachine.Submitted:
		return sealed
	}
	return true
}

func appendStateKey(b []byte, state statemachine.State, id statemachine.ID) []byte {
	return append(append(b, byte(state)), id...)
}

// freezeState says in which state a message of p is that was in another, or nowhere, when the batch began.
func (b *batch) freezeState(p *partition, m *statemachine.Message, was statemachine.State) {
	had, has := inStates(was, p.number < b.firstOpen), inStates(m.State, p != b.parts[len(b.parts)-1])
	if had && has && was == m.State {
		return
	}
	if had {
		b.key = appendStateKey(b.key[:0], was, m.ID)
		b.over.delete(p.table(tableStates), b.key)
	}
	if has {
		b.key = appendStateKey(b.key[:0], m.State, m.ID)
		b.over.putNew(p.table(tableStates), b.key, nil)
	}
}

// sealStates says of the messages of p that the batch did not touch in which state they are, as far as that was of no
// interest until p was sealed.
func (b *batch) sealStates(p *partition) error {
	return b.tx.scan(p.table(tableMessages), nil, nil, false, func(id, value []byte) error {
		g, err := glanceAt(value)
		if err != nil || !inStates(g.state, true) || inStates(g.state, false) {
			return err
		}
		if _, touched := b.messages[statemachine.ID(id)]; !touched {
			b.key = appendStateKey(b.key[:0], g.state, statemachine.ID(id))
			b.over.putNew(p.table(tableStates), b.key, nil)
		}
		return nil
	})
}

// stateRows walks the messages of a partition that are in some states, in the order of their ids.
type stateRows struct {
	walks   []*rowWalk
	next    []statemachine.ID // of each walk; "" at its end
	reverse bool
}

// inState begins a walk through those in the states of p that take selects, behind an id; "" = from the beginning.
func (t *stateTx) inState(p *partition, take func(statemachine.State) bool, after statemachine.ID, reverse bool) *stateRows {
	r := &stateRows{reverse: reverse}
	for i, n := range p.states {
		state := statemachine.State(i)
		if n == 0 || !take(state) {
			continue
		}
		var behind []byte
		if after != "" {
			behind = appendStateKey(nil, state, after)
		}
		r.walks = append(r.walks, t.rows(p.table(tableStates), []byte{byte(state)}, behind, reverse))
		r.next = append(r.next, "")
		r.advance(len(r.walks) - 1)
	}
	return r
}

func (r *stateRows) advance(i int) {
	r.next[i] = ""
	if key, _ := r.walks[i].next(); key != nil {
		r.next[i] = statemachine.ID(key[1:])
	}
}

// id gives the next one, "" at the end.
func (r *stateRows) id() (id statemachine.ID) {
	first := -1
	for i, next := range r.next {
		if next != "" && (id == "" || (next < id) != r.reverse) {
			first, id = i, next
		}
	}
	if first >= 0 {
		r.advance(first)
	}
	return id
}
