package store

import (
	"context"
	"slices"
	"time"

	"esmed/statemachine"
)

// Filter selects messages. The zero value selects all.
type Filter struct {
	States       []statemachine.State // any of these; nil = all
	SMSC         string
	To           string          // destination, in E.164 form or as it was given
	Since, Until time.Time       // of AcceptedAt, half-open; zero = no bound
	After        statemachine.ID // the last one seen; "" = from the beginning
	Limit        int             // 0 = DefaultLimit
	OldestFirst  bool
}

func (f *Filter) matches(m *statemachine.Message) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, m.State)) &&
		(f.SMSC == "" || m.SMSC == f.SMSC) &&
		(f.Since.IsZero() || !m.AcceptedAt.Before(f.Since)) &&
		(f.Until.IsZero() || m.AcceptedAt.Before(f.Until))
}

// mayHold reports whether a partition can have anything for the filter.
func (f *Filter) mayHold(p *partition) bool {
	if !f.Since.IsZero() && p.lastAt.Before(f.Since) || !f.Until.IsZero() && !p.firstAt.Before(f.Until) {
		return false
	}
	if len(f.States) == 0 {
		return true
	}
	for _, state := range f.States {
		if state < numStates && p.states[state] > 0 {
			return true
		}
	}
	return false
}

// Messages lists in the order of their ids, newest first unless the filter says otherwise. next is
// the After of the page behind, "" when there is nothing behind.
func (s *Store) Messages(ctx context.Context, f Filter) (items []*statemachine.Message, next statemachine.ID, err error) {
	limit := f.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	w := messageWalk{filter: &f, at: f.After, limit: limit}
	if err := s.Sync(ctx); err != nil {
		return nil, "", err
	}
	for !w.done {
		if err := s.reading(ctx, "messages", w.step); err != nil {
			return nil, "", err
		}
	}
	if len(w.items) > limit {
		w.items = w.items[:limit]
		next = w.items[limit-1].ID
	}
	return w.items, next, nil
}

// messageWalk looks through the partitions, a few rows in each transaction.
type messageWalk struct {
	filter *Filter
	at     statemachine.ID // the last one that was looked at
	limit  int
	items  []*statemachine.Message // one more than limit at most
	done   bool
}

func (w *messageWalk) step(tx *stateTx) error {
	p, err := w.partition(tx)
	if err != nil || p == nil {
		w.done = true
		return err
	}
	visited := 0
	visit := func(id statemachine.ID, value []byte) error {
		m, err := decodeMessage(value)
		if err != nil {
			return err
		}
		w.at = id
		if w.filter.matches(m) {
			w.items = append(w.items, m)
		}
		if visited++; visited == visitRows || len(w.items) > w.limit {
			return errStop
		}
		return nil
	}
	if w.filter.To != "" {
		err = w.byDestination(tx, p, visit)
	} else {
		err = tx.scan(p.table(tableMessages), nil, w.after(), !w.filter.OldestFirst, func(key, value []byte) error {
			return visit(statemachine.ID(key), value)
		})
	}
	w.done = len(w.items) > w.limit
	if visited < visitRows && !w.done {
		w.leave(p)
	}
	return err
}

func (w *messageWalk) after() []byte {
	if w.at == "" {
		return nil
	}
	return []byte(w.at)
}

func (w *messageWalk) byDestination(tx *stateTx, p *partition, visit func(statemachine.ID, []byte) error) error {
	prefix := destPrefix(w.filter.To)
	var after []byte
	if w.at != "" {
		after = append(slices.Clone(prefix), w.at...)
	}
	return tx.scan(p.table(tableDests), prefix, after, !w.filter.OldestFirst, func(key, _ []byte) error {
		id := statemachine.ID(key[len(prefix):])
		value := tx.get(p.table(tableMessages), []byte(id))
		if value == nil {
			return errMalformed
		}
		return visit(id, value)
	})
}

// leave goes on to the partition behind p.
func (w *messageWalk) leave(p *partition) {
	if w.filter.OldestFirst {
		w.at = max(w.at, p.lastID)
		return
	}
	w.at = p.start
	if p.start == "" {
		w.done = true
	}
}

// partition is the one to look into: the first in the walk's direction that may hold something. Nil when
// there is none (any more).
func (w *messageWalk) partition(tx *stateTx) (*partition, error) {
	parts, err := readPartitions(tx)
	if err == nil && w.filter.To != "" {
		parts, err = tx.holding(parts, tableDests, destPrefix(w.filter.To))
	}
	if err != nil {
		return nil, err
	}
	if !w.filter.OldestFirst {
		slices.Reverse(parts)
	}
	for _, p := range parts {
		behind := w.at == "" || p.start < w.at
		if w.filter.OldestFirst {
			behind = w.at == "" || p.lastID > w.at
		}
		if behind && w.filter.mayHold(p) {
			return p, nil
		}
	}
	return nil, nil
}

// Inbox lists an SMSC's rows ("" = all), oldest first. after and next are cursors, "" for the beginning
// and for nothing behind.
func (s *Store) Inbox(ctx context.Context, smsc, after string, limit int) (rows []*statemachine.InboxRow, next string, err error) {
	var prefix []byte
	if smsc != "" {
		prefix = appendKeyPart(nil, smsc)
	}
	return page(s, ctx, pageOf{"inbox", tableInboxByAge, prefix, after, limit, false}, func(tx *stateTx, _, key []byte) (*statemachine.InboxRow, error) {
		value := tx.get(tableID{table: tableInbox}, bounded(slices.Clone(key)))
		if value == nil {
			return nil, errMalformed
		}
		return decodeRow(value)
	})
}

// ExceptionFilter selects exceptions. The zero value selects all.
type ExceptionFilter struct {
	Kind   statemachine.ExceptionKind
	Status string // open | resolved | dismissed; "" = any
	SMSC   string
	Since  time.Time // opened then or later; zero = no bound
	After  string    // cursor; "" = from the beginning
	Limit  int       // 0 = DefaultLimit
}

func (f *ExceptionFilter) matches(x *statemachine.Exception) bool {
	return (f.Kind == "" || x.Kind == f.Kind) && (f.Status == "" || x.Status == f.Status) && (f.SMSC == "" || x.SMSC == f.SMSC)
}

// Exceptions lists exceptions, newest first. next is the After of the page behind, "" when there is
// nothing behind.
func (s *Store) Exceptions(ctx context.Context, f ExceptionFilter) (items []*statemachine.Exception, next string, err error) {
	from := tableExceptions
	if f.Status == statemachine.StatusOpen {
		from = tableOpen // as few as there are, however many were resolved
	}
	return page(s, ctx, pageOf{"exceptions", from, nil, f.After, f.Limit, true}, func(tx *stateTx, key, _ []byte) (*statemachine.Exception, error) {
		x, err := decodeException(tx.get(tableID{table: tableExceptions}, key))
		switch {
		case err != nil:
			return nil, err
		case x.FirstAt.Before(f.Since): // so are all behind it
			return nil, errStop
		case !f.matches(x):
			return nil, nil
		}
		return x, nil
	})
}

// Exception reads one; ErrNotFound when there is none.
func (s *Store) Exception(ctx context.Context, id string) (x *statemachine.Exception, err error) {
	err = s.reading(ctx, "exception", func(tx *stateTx) error {
		key, err := exceptionKey(id)
		if err != nil {
			return err
		}
		value := tx.get(tableID{table: tableExceptions}, key)
		if value == nil {
			return ErrNotFound
		}
		x, err = decodeException(value)
		return err
	})
	return x, err
}
