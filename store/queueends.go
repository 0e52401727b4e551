package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"esmed/statemachine"
)

// QueueEnd says when the validity of a message ends that waits.
type QueueEnd struct {
	Message    statemachine.ID
	ValidUntil time.Time // zero: it never does
}

// EndsCursor is how far QueueEnds has read. The zero value is the beginning, where QueueEnds goes on too as
// NextQueued does. It belongs to one goroutine.
type EndsCursor struct {
	putBacks         uint64
	waiting, delayed [priorities][]byte // the last keys read
}

// QueueEnds reads up to limit (0 = DefaultLimit) entries of an SMSC's queue behind cur, and of those that
// wait for their time, if that came before due: a message once for entries of it in a row. Fewer entries
// than limit, so that more is false: cur is at the end, behind which new ones come. It does not wait for the
// applier.
func (s *Store) QueueEnds(ctx context.Context, smsc string, due time.Time, cur *EndsCursor, limit int) (ends []QueueEnd, more bool, err error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	r := endsReader{smsc: smsc, due: due, left: limit, cursor: *cur}
	if n := s.putBacks.Load(); n != cur.putBacks {
		r.cursor = EndsCursor{putBacks: n}
	}
	err = s.view(r.read)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, false, fmt.Errorf("store: queue ends: %w", err)
	}
	*cur = r.cursor
	return r.ends, r.left == 0, nil
}

// endsReader makes one page of QueueEnds.
type endsReader struct {
	smsc   string
	due    time.Time
	left   int
	cursor EndsCursor

	partition *partition // of the message before
	ends      []QueueEnd
}

func (r *endsReader) read(tx *stateTx) error {
	for priority := range priorities {
		if err := r.scan(tx, tableQueue, priority, &r.cursor.waiting[priority]); err != nil {
			return err
		}
		if err := r.scan(tx, tableDelayed, priority, &r.cursor.delayed[priority]); err != nil {
			return err
		}
	}
	return nil
}

func (r *endsReader) scan(tx *stateTx, id table, priority int, after *[]byte) error {
	if r.left == 0 {
		return nil
	}
	return tx.scan(tableID{table: id}, levelPrefix(r.smsc, priority), *after, false, func(key, value []byte) error {
		e, ok := queueEntry(id, r.smsc, key, value)
		switch {
		case !ok:
			return errMalformed
		case !e.NotBefore.IsZero() && !e.NotBefore.Before(r.due):
			return errStop
		}
		*after = slices.Clone(key)
		if n := len(r.ends); n == 0 || r.ends[n-1].Message != e.Message {
			if err := r.take(tx, e.Message); err != nil {
				return err
			}
		}
		if r.left--; r.left == 0 {
			return errStop
		}
		return nil
	})
}

// take reads of a message only when its validity ends.
func (r *endsReader) take(tx *stateTx, id statemachine.ID) (err error) {
	if p := r.partition; p == nil || id < p.start || id > p.lastID {
		if r.partition, err = partitionIn(tx, id); err != nil || r.partition == nil {
			return err
		}
	}
	end := QueueEnd{Message: id}
	f := fields{rest: tx.get(r.partition.table(tableMessages), []byte(id))}
	for f.next() {
		if f.num == messageValidUntil {
			end.ValidUntil = f.time()
		}
	}
	r.ends = append(r.ends, end)
	return f.err
}
