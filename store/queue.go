package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"esmed/statemachine"
)

// Queued is a part that is due, with all that is needed to send it. Texts are unsealed.
type Queued struct {
	Entry    statemachine.QueueEntry
	Attempts int                           // that the part has had
	Accepted *statemachine.MessageAccepted // the store's: not to be modified
	TextGone bool                          // the texts' key was destroyed: they are zeros here, and nothing to be sent
}

// QueueCursor remembers how far a dispatcher has read the queue of its SMSC, so that entries that it
// took and that are not yet recorded as sent cost nothing any more. New entries come behind it: the queue
// is in the order of the log. Only what a person takes back may put one where it stood before, and then
// NextQueued begins at the head again. So does the zero value: set it back to that to see entries again that
// were given up. It belongs to one goroutine.
type QueueCursor struct {
	putBacks uint64
	after    [priorities][]byte // the last key that was handed out or skipped
	retried  [priorities]bool   // the last one handed out had waited for its retry
}

// NextQueued reads up to limit (0 = DefaultLimit) parts of smsc that are due at now: those of a higher
// priority first, first in first out. Those that waited for a retry, earliest first, and the others of their
// priority take turns, so that neither hold back the other. What it costs follows from limit, whatever waits.
// It does not wait for the applier: when it gives nothing, wait for Changed (taken before the call) or until
// NextDue. skip names entries that the dispatcher has already taken; it and cur may be nil. ErrKey: a text
// cannot be unsealed at present; nothing was handed out.
func (s *Store) NextQueued(ctx context.Context, smsc string, now time.Time, cur *QueueCursor, skip func(statemachine.QueueEntry) bool, limit int) ([]Queued, error) {
	if cur == nil {
		cur = new(QueueCursor)
	}
	if limit <= 0 {
		limit = DefaultLimit
	}
	r := queueReader{smsc: smsc, now: now, skip: skip, limit: limit, cursor: *cur}
	if n := s.putBacks.Load(); n != cur.putBacks {
		r.cursor = QueueCursor{putBacks: n}
	}
	var accepted []acceptedRecord
	err := s.view(r.read)
	if err == nil {
		accepted, err = s.accepted(r.accepted)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("store: queue: %w", err)
	}
	for i, a := range accepted {
		r.parts[i].Accepted, r.parts[i].TextGone = a.fact, a.textGone
	}
	*cur = r.cursor
	return r.parts, nil
}

// queueReader looks for due entries.
type queueReader struct {
	smsc   string
	now    time.Time
	skip   func(statemachine.QueueEntry) bool
	limit  int
	cursor QueueCursor // as it is when what was read is handed out

	due      []statemachine.QueueEntry
	parts    []Queued // of due, those whose message there is
	accepted []uint64 // of each of parts, the record that accepted its message
}

// read chooses the parts and reads of their messages what sending them takes.
func (r *queueReader) read(tx *stateTx) error {
	for priority := lowestFirst; priority >= 0 && len(r.due) < r.limit; priority-- {
		if err := r.level(tx, priority); err != nil {
			return err
		}
	}
	if len(r.due) == 0 {
		return nil
	}
	parts, err := tx.heads()
	if err != nil {
		return err
	}
	r.parts, r.accepted = make([]Queued, 0, len(r.due)), make([]uint64, 0, len(r.due))
	for _, e := range r.due {
		p := parts.of(e.Message)
		if p == nil {
			continue
		}
		row := tx.get(p.table(tableMessages), []byte(e.Message))
		if row == nil {
			continue
		}
		accepted, attempts, err := readSending(row, e.Part)
		if err != nil {
			return err
		}
		r.parts, r.accepted = append(r.parts, Queued{Entry: e, Attempts: attempts}), append(r.accepted, accepted)
	}
	return nil
}

// readSending reads of a message's row which record accepted it, and how many attempts a part (from 1) has had.
func readSending(row []byte, part int) (accepted uint64, attempts int, err error) {
	f := fields{rest: row}
	for f.next() {
		switch f.num {
		case messageAcceptedSeq:
			accepted = f.u
		case messageParts:
			if part--; part != 0 {
				continue
			}
			in := fields{rest: f.b}
			for in.next() {
				if in.num == partAttempts {
					attempts++
				}
			}
			err = in.err
		}
	}
	switch {
	case f.err != nil:
		err = f.err
	case part > 0:
		err = errMalformed // it has fewer
	}
	return accepted, attempts, err
}

// level chooses among those of one priority.
func (r *queueReader) level(tx *stateTx, priority int) error {
	prefix := levelPrefix(r.smsc, priority)
	delayed := lane{r, tableDelayed, tx.rows(tableID{table: tableDelayed}, prefix, nil, false), nil}
	waiting := lane{r, tableQueue, tx.rows(tableID{table: tableQueue}, prefix, r.cursor.after[priority], false), nil}
	for len(r.due) < r.limit {
		lanes := [...]*lane{&delayed, &waiting}
		if r.cursor.retried[priority] {
			lanes[0], lanes[1] = lanes[1], lanes[0]
		}
		e, ok, err := lanes[0].next()
		if err == nil && !ok {
			e, ok, err = lanes[1].next()
		}
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		r.due = append(r.due, e)
		r.cursor.retried[priority] = !e.NotBefore.IsZero()
	}
	if waiting.last != nil {
		r.cursor.after[priority] = bytes.Clone(waiting.last)
	}
	return nil
}

// lane is one of the two tables that the entries of a priority stand in.
type lane struct {
	r     *queueReader
	table table
	rows  *rowWalk // nil: at its end
	last  []byte   // the key that next gave, or passed over, last
}

// next gives an entry that is due; false when there is none (any more).
func (l *lane) next() (e statemachine.QueueEntry, ok bool, err error) {
	for l.rows != nil {
		key, value := l.rows.next()
		if key == nil {
			break
		}
		if e, ok = queueEntry(l.table, l.r.smsc, key, value); !ok {
			return e, false, errMalformed
		}
		if e.NotBefore.After(l.r.now) {
			break
		}
		if l.last = key; l.r.skip == nil || !l.r.skip(e) {
			return e, true, nil
		}
	}
	l.rows = nil
	return e, false, nil
}

// NextDue is when the next part of smsc that waits for its retry becomes due, of those that are not at now;
// false when none waits.
func (s *Store) NextDue(smsc string, now time.Time) (due time.Time, ok bool) {
	err := s.view(func(tx *stateTx) error {
		for priority := range priorities {
			prefix := levelPrefix(smsc, priority)
			after := appendNanos(slices.Clone(prefix), now.Add(1))
			err := tx.scan(tableID{table: tableDelayed}, prefix, after, false, func(key, value []byte) error {
				e, read := queueEntry(tableDelayed, smsc, key, value)
				if read && (!ok || e.NotBefore.Before(due)) {
					due, ok = e.NotBefore, true
				}
				return errStop
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return due, ok && err == nil
}
