package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"esmed/statemachine"
)

// Queued is a part that is due, with all that is needed to send it. Texts are unsealed.
type Queued struct {
	Entry    statemachine.QueueEntry
	Message  *statemachine.Message
	Accepted *statemachine.MessageAccepted
	TextGone bool // the texts' key was destroyed: they are zeros here, and nothing to be sent
}

// QueueCursor remembers how far a dispatcher has read the queue of its SMSC, so that entries that it
// took and that are not yet recorded as sent cost nothing any more. New entries always come behind it:
// the queue is in the order of the log. The zero value begins at the head; set it back to that to see
// entries again that were given up. It belongs to one goroutine.
type QueueCursor struct {
	after [lowestFirst + 1][]byte // by priority: the last key that was handed out or skipped
}

// NextQueued reads up to limit (0 = DefaultLimit) parts of smsc that are due at now, by priority, then
// first in first out. It does not wait for the applier: when it gives nothing, wait for Changed (taken
// before the call) or until NextDue. skip names entries that the dispatcher has already taken; it and
// cur may be nil. ErrKey: a text cannot be unsealed at present; nothing was handed out.
func (s *Store) NextQueued(ctx context.Context, smsc string, now time.Time, cur *QueueCursor, skip func(statemachine.QueueEntry) bool, limit int) (parts []Queued, err error) {
	if cur == nil {
		cur = new(QueueCursor)
	}
	if limit <= 0 {
		limit = DefaultLimit
	}
	r := queueReader{smsc: smsc, prefix: appendKeyPart(nil, smsc), skip: skip, limit: limit, cursor: cur}
	err = s.view(func(tx *stateTx) error {
		parts, err = r.read(tx, now)
		return err
	})
	for i := range parts {
		switch {
		case err != nil:
		case i > 0 && parts[i-1].Message.ID == parts[i].Message.ID:
			parts[i].Accepted, parts[i].TextGone = parts[i-1].Accepted, parts[i-1].TextGone
		default:
			parts[i].Accepted, parts[i].TextGone, err = s.acceptedAt(parts[i].Message.AcceptedSeq)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("store: queue: %w", err)
	}
	r.advance()
	return parts, nil
}

// queueReader looks for due entries.
type queueReader struct {
	smsc   string
	prefix []byte
	skip   func(statemachine.QueueEntry) bool
	limit  int
	cursor *QueueCursor

	due  []statemachine.QueueEntry // chosen ones come first in it, in the end
	seen [lowestFirst + 1][]seenEntry
}

// seenEntry is an entry of the queue that the reader came across.
type seenEntry struct {
	key     []byte
	seq     uint64
	part    int
	skipped bool
}

// read chooses the parts and reads their messages.
func (r *queueReader) read(tx *stateTx, now time.Time) (parts []Queued, err error) {
	if err := r.delayed(tx, now); err != nil {
		return nil, err
	}
	if err := r.queue(tx); err != nil {
		return nil, err
	}
	for _, e := range r.chosen() {
		m, err := messageIn(tx, e.Message)
		if err != nil {
			return nil, err
		}
		if m != nil {
			parts = append(parts, Queued{Entry: e, Message: m})
		}
	}
	return parts, nil
}

func (r *queueReader) skips(e statemachine.QueueEntry) bool { return r.skip != nil && r.skip(e) }

// delayed takes the earliest of those whose time has come.
func (r *queueReader) delayed(tx *stateTx, now time.Time) error {
	return tx.scan(tableID{table: tableDelayed}, r.prefix, nil, false, func(key, value []byte) error {
		e, ok := queueEntry(tableDelayed, r.smsc, key[len(r.prefix):], value)
		switch {
		case !ok:
			return errMalformed
		case e.NotBefore.After(now) || len(r.due) == r.limit:
			return errStop
		case !r.skips(e):
			r.due = append(r.due, e)
		}
		return nil
	})
}

// queue takes those that need not wait, by priority.
func (r *queueReader) queue(tx *stateTx) error {
	taken := 0
	for priority := lowestFirst; priority >= 0 && taken < r.limit; priority-- {
		prefix := append(bytes.Clone(r.prefix), byte(lowestFirst-priority))
		err := tx.scan(tableID{table: tableQueue}, prefix, r.cursor.after[priority], false, func(key, value []byte) error {
			e, ok := queueEntry(tableQueue, r.smsc, key[len(r.prefix):], value)
			if !ok {
				return errMalformed
			}
			skipped := r.skips(e)
			r.seen[priority] = append(r.seen[priority], seenEntry{bytes.Clone(key), e.Seq, e.Part, skipped})
			if skipped {
				return nil
			}
			r.due = append(r.due, e)
			if taken++; taken == r.limit {
				return errStop
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// chosen are the first of all that is due.
func (r *queueReader) chosen() []statemachine.QueueEntry {
	slices.SortFunc(r.due, func(a, b statemachine.QueueEntry) int {
		return cmp.Or(-cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Part, b.Part))
	})
	r.due = r.due[:min(len(r.due), r.limit)]
	return r.due
}

// advance moves the cursor behind what was handed out and what was skipped before it.
func (r *queueReader) advance() {
	for priority := range r.seen {
		for _, seen := range r.seen[priority] {
			chosen := slices.ContainsFunc(r.due, func(e statemachine.QueueEntry) bool {
				return e.Seq == seen.seq && e.Part == seen.part && e.NotBefore.IsZero()
			})
			if !seen.skipped && !chosen {
				break
			}
			r.cursor.after[priority] = seen.key
		}
	}
}

// NextDue is when the earliest part of smsc that waits for its time becomes due; false when none waits.
func (s *Store) NextDue(smsc string) (due time.Time, ok bool) {
	prefix := appendKeyPart(nil, smsc)
	err := s.view(func(tx *stateTx) error {
		return tx.scan(tableID{table: tableDelayed}, prefix, nil, false, func(key, value []byte) error {
			var e statemachine.QueueEntry
			e, ok = queueEntry(tableDelayed, smsc, key[len(prefix):], value)
			due = e.NotBefore
			return errStop
		})
	})
	return due, ok && err == nil
}

// UnansweredAttempt is an attempt that left and has no answer.
type UnansweredAttempt struct {
	Ref     statemachine.AttemptRef
	SMSC    string
	Session string
	At      time.Time // of its sent record
}

// Unanswered lists the attempts of an SMSC ("" = any) that have no answer: at start, what a crash left
// SUBMITTING, for which in_doubt records are due.
func (s *Store) Unanswered(ctx context.Context, smsc string) ([]UnansweredAttempt, error) {
	var all []UnansweredAttempt
	err := s.reading(ctx, "unanswered", func(tx *stateTx) error {
		return tx.scan(tableID{table: tableUnanswered}, nil, nil, false, func(_, value []byte) error {
			refs, err := readRefs(value)
			for _, ref := range refs {
				m, err := messageIn(tx, ref.Message)
				if err != nil {
					return err
				}
				if u, ok := unanswered(m, ref); ok && (smsc == "" || u.SMSC == smsc) {
					all = append(all, u)
				}
			}
			return err
		})
	})
	slices.SortFunc(all, func(a, b UnansweredAttempt) int { return a.At.Compare(b.At) })
	return all, err
}

func unanswered(m *statemachine.Message, ref statemachine.AttemptRef) (u UnansweredAttempt, ok bool) {
	if m == nil {
		return u, false
	}
	if p := m.Part(ref.Part); p != nil && ref.Attempt >= 1 && ref.Attempt <= len(p.Attempts) {
		a := &p.Attempts[ref.Attempt-1]
		return UnansweredAttempt{ref, m.SMSC, a.Session, a.At}, true
	}
	return u, false
}
