package daemon

import (
	"time"

	"esmed/smpp"
	"esmed/statemachine"
)

// batch is what one round sends.
type batch struct {
	at      time.Time
	slots   []smpp.Slot // not used yet
	submits []smpp.Submit
	facts   []statemachine.Fact // one for each part, in the order of entries
	entries []statemachine.QueueEntry
}

// grow makes room for n parts.
func (b *batch) grow(n int) {
	b.submits, b.facts = make([]smpp.Submit, 0, n), make([]statemachine.Fact, 0, n)
	b.entries = make([]statemachine.QueueEntry, 0, n)
}

func (b *batch) add(entry statemachine.QueueEntry, fact statemachine.Fact) {
	b.entries, b.facts = append(b.entries, entry), append(b.facts, fact)
}

// leaveOut takes the parts of some messages out of the batch again, and says which.
func (b *batch) leaveOut(message func(statemachine.ID) bool) (left []statemachine.QueueEntry) {
	entries, facts, submits := b.entries[:0], b.facts[:0], b.submits[:0]
	next := 0 // of the submits
	for i, entry := range b.entries {
		out := message(entry.Message)
		if out {
			left = append(left, entry)
		} else {
			entries, facts = append(entries, entry), append(facts, b.facts[i])
		}
		if _, sent := b.facts[i].(*statemachine.Sent); sent {
			if out {
				b.slots = append(b.slots, b.submits[next].Slot)
			} else {
				submits = append(submits, b.submits[next])
			}
			next++
		}
	}
	b.entries, b.facts, b.submits = entries, facts, submits
	return left
}
