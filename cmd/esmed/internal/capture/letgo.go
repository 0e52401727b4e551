package capture

import (
	"cmp"
	"fmt"
	"slices"

	"esmed/statemachine"
)

// letGo tells of the older half of what is held, and forgets it.
func (b *Book) letGo() error {
	seqs := make([]uint64, 0, len(b.mem.Records))
	for seq := range b.mem.Records {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return b.forget(seqs[len(seqs)/2])
}

// forget tells of the messages that were first submitted before the record cut, and drops what is older.
func (b *Book) forget(cut uint64) error {
	n, _ := slices.BinarySearchFunc(b.order, pduOf(cut), func(id statemachine.ID, pdu int) int {
		return cmp.Compare(b.stories[id].first, pdu)
	})
	old := slices.Clone(b.order[:n])
	if err := b.tell(old); err != nil {
		return err
	}
	b.sum.LetGo += len(old)
	b.order = slices.Clone(b.order[n:])
	for _, id := range old {
		delete(b.stories, id)
	}
	for key, id := range b.parts {
		if b.stories[id] == nil {
			delete(b.parts, key)
		}
	}
	for number := range b.asked {
		if number < pduOf(cut) {
			delete(b.asked, number)
		}
	}
	return b.retire(cut, old)
}

// retire has the state machine drop what is older than the record cut.
func (b *Book) retire(cut uint64, old []statemachine.ID) error {
	var rows []statemachine.InboxKey
	for key, row := range b.mem.Inbox {
		if row.Receptions[0] < cut {
			rows = append(rows, key)
		}
	}
	slices.Sort(rows)
	var matters []string
	for id, x := range b.mem.Exceptions {
		if len(x.Records) == 0 || x.Records[len(x.Records)-1] < cut {
			matters = append(matters, id)
		}
	}
	slices.Sort(matters)
	facts := []statemachine.Fact{
		&statemachine.Retention{Close: old}, &statemachine.Retention{Inbox: rows}, &statemachine.Retention{Exceptions: matters},
		&statemachine.Retention{Messages: b.firstID(), Log: cut},
	}
	for _, f := range facts {
		if err := b.record(f); err != nil {
			return fmt.Errorf("capture: %w", err)
		}
	}
	return b.tellStrays(cut)
}

// firstID is the least id of those that are still held: messages of lesser ids may go.
func (b *Book) firstID() statemachine.ID {
	if len(b.order) == 0 {
		return "\xFF"
	}
	return slices.Min(b.order)
}

// tell gives the rows of messages.
func (b *Book) tell(ids []statemachine.ID) error {
	for _, id := range ids {
		for _, row := range b.rows(id) {
			if err := b.Row(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellStrays gives the evidence from before the record cut that found no message, and forgets it.
func (b *Book) tellStrays(cut uint64) error {
	left := b.oldest[:0]
	for _, seq := range b.oldest {
		stray := b.strays[seq]
		switch {
		case stray == nil:
			continue
		case seq >= cut:
			left = append(left, seq)
			continue
		}
		b.sum.Strays++
		delete(b.strays, seq)
		if err := b.Stray(*stray); err != nil {
			return err
		}
	}
	b.oldest = left
	return nil
}

// Finish tells of all that is still held.
func (b *Book) Finish() (BookSummary, error) {
	if err := b.tell(b.order); err != nil {
		return b.sum, err
	}
	b.sum.Messages = len(b.order) + b.sum.LetGo
	b.sum.Exceptions = map[statemachine.ExceptionKind]int{}
	for _, x := range b.mem.Exceptions {
		if x.Status == statemachine.StatusOpen {
			b.sum.Exceptions[x.Kind]++
		}
	}
	const all = 1<<64 - 1
	err := b.tellStrays(all)
	return b.sum, err
}
