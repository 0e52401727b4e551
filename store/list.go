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

// glance is what a filter asks of a stored message. Many are passed over for each that is listed, so that no more
// of them is read, and nothing is allocated.
type glance struct {
	smsc       []byte
	acceptedAt time.Time
	state      statemachine.State
}

func glanceAt(message []byte) (g glance, err error) {
	row := fields{rest: message}
	for row.num < messageState && row.next() { // they come in the order of their numbers
		switch row.num {
		case messageSMSC:
			g.smsc = row.b
		case messageAcceptedAt:
			g.acceptedAt = row.time()
		case messageState:
			g.state = statemachine.State(row.u)
		}
	}
	return g, row.err
}

func (f *Filter) matches(g *glance) bool {
	return f.takes(g.state) &&
		(f.SMSC == "" || string(g.smsc) == f.SMSC) &&
		(f.Since.IsZero() || !g.acceptedAt.Before(f.Since)) &&
		(f.Until.IsZero() || g.acceptedAt.Before(f.Until))
}

func (f *Filter) takes(state statemachine.State) bool {
	return len(f.States) == 0 || slices.Contains(f.States, state)
}

// inStates reports whether the table states of a partition, which is sealed or not, has all that the filter may select.
func (f *Filter) inStates(sealed bool) bool {
	return len(f.States) > 0 && !slices.ContainsFunc(f.States, func(s statemachine.State) bool { return !inStates(s, sealed) })
}

// held is how many messages of a partition are in a state that the filter takes; 0 when it can have nothing for the
// filter.
func (f *Filter) held(p *partition) (n uint64) {
	if !f.Since.IsZero() && p.lastAt.Before(f.Since) || !f.Until.IsZero() && !p.firstAt.Before(f.Until) {
		return 0
	}
	for state, count := range p.states {
		if f.takes(statemachine.State(state)) {
			n += count
		}
	}
	return n
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
	looks  int // at rows

	in     *partition // that is looked through; nil: the next one is to be found
	sealed bool       // it was not the last one when it was found
	left   uint64     // how many there may still be in it in a state that the filter takes
	// What ids in it lie between that the filter may select: greater than low and less than high; "" = no bound.
	low, high statemachine.ID
}

func (w *messageWalk) step(tx *stateTx) error {
	if err := w.enter(tx); err != nil || w.done {
		return err
	}
	visited := 0
	var last []byte
	visit := func(id, value []byte) error {
		if w.beyond(id) {
			return errStop
		}
		last = id
		if err := w.look(value); err != nil {
			return err
		}
		if visited++; visited == visitRows || w.left == 0 || len(w.items) > w.limit {
			return errStop
		}
		return nil
	}
	var err error
	switch {
	case w.filter.To != "":
		err = w.byDestination(tx, visit)
	case w.filter.inStates(w.sealed):
		err = w.byState(tx, visit)
	default:
		err = tx.scan(w.in.table(tableMessages), nil, keyOf(w.after()), !w.filter.OldestFirst, visit)
	}
	if last != nil {
		w.at = statemachine.ID(last)
	}
	w.done = len(w.items) > w.limit
	if (visited < visitRows || w.left == 0) && !w.done {
		w.leave()
	}
	return err
}

// look takes a message that the filter selects.
func (w *messageWalk) look(value []byte) error {
	w.looks++
	g, err := glanceAt(value)
	if err != nil {
		return err
	}
	if w.filter.takes(g.state) {
		w.left--
	}
	if !w.filter.matches(&g) {
		return nil
	}
	m, err := decodeMessage(value)
	w.items = append(w.items, m)
	return err
}

// after is where the walk through the partition goes on: behind the last one that was looked at, or where those begin
// that the filter's times may select.
func (w *messageWalk) after() statemachine.ID {
	switch {
	case w.filter.OldestFirst:
		return max(w.at, w.low)
	case w.at == "" || w.high != "" && w.high < w.at:
		return w.high
	}
	return w.at
}

// keyOf is nil for no id.
func keyOf(id statemachine.ID) []byte {
	if id == "" {
		return nil
	}
	return []byte(id)
}

// beyond reports whether the filter's times select none from an id on.
func (w *messageWalk) beyond(id []byte) bool {
	if w.filter.OldestFirst {
		return w.high != "" && string(id) > string(w.high)
	}
	return string(id) < string(w.low)
}

// byState visits those that are in a state that the filter takes.
func (w *messageWalk) byState(tx *stateTx, visit func(id, value []byte) error) error {
	rows := tx.inState(w.in, w.filter.takes, w.after(), !w.filter.OldestFirst)
	for id := rows.id(); id != ""; id = rows.id() {
		value := tx.get(w.in.table(tableMessages), []byte(id))
		if value == nil {
			return errMalformed
		}
		if err := visit([]byte(id), value); err != nil {
			return stopped(err)
		}
	}
	return nil
}

func (w *messageWalk) byDestination(tx *stateTx, visit func(id, value []byte) error) error {
	prefix := destPrefix(w.filter.To)
	var after []byte
	if at := w.after(); at != "" {
		after = append(slices.Clone(prefix), at...)
	}
	return tx.scan(w.in.table(tableDests), prefix, after, !w.filter.OldestFirst, func(key, _ []byte) error {
		id := key[len(prefix):]
		value := tx.get(w.in.table(tableMessages), id)
		if value == nil {
			return errMalformed
		}
		return visit(id, value)
	})
}

// leave goes on to the partition behind.
func (w *messageWalk) leave() {
	p := w.in
	w.in = nil
	if w.filter.OldestFirst {
		w.at = max(w.at, p.lastID)
		return
	}
	w.at = p.start
	w.done = p.start == ""
}

// enter finds the partition to look into: the one it is in, unless that was dropped, or the first in its direction
// that may hold something. When there is none (any more) it is done. It reads the rows of the partitions that it
// passes over, and of no others.
func (w *messageWalk) enter(tx *stateTx) error {
	parts, err := tx.heads()
	if err != nil {
		return err
	}
	if w.in != nil && len(parts) > 0 && w.in.number >= parts[0].number {
		return w.goOn(tx, parts[w.in.number-parts[0].number])
	}
	if w.filter.To != "" {
		if parts, err = tx.holding(parts, tableDests, destPrefix(w.filter.To)); err != nil {
			return err
		}
	}
	for i := range parts {
		if !w.filter.OldestFirst {
			i = len(parts) - 1 - i
		}
		if !w.mayBeBehind(parts, i) {
			continue
		}
		p, err := readPartition(tx, parts[i])
		if err != nil {
			return err
		}
		if w.filter.OldestFirst && w.at != "" && p.lastID <= w.at {
			continue
		}
		if w.left = w.filter.held(p); w.left > 0 {
			w.in, w.sealed = p, i+1 < len(parts)
			w.low, w.high = p.lag.idBounds(w.filter.Since, w.filter.Until)
			return nil
		}
	}
	w.in, w.done = nil, true
	return nil
}

// goOn takes note of what became of the partition since the step before. Once its messages were moved between states it
// is not known how many are left of those that the filter takes: as many as there are now at most.
func (w *messageWalk) goOn(tx *stateTx, head *partition) error {
	p, err := readPartition(tx, head)
	if err != nil {
		return err
	}
	if p.states != w.in.states {
		w.left = w.filter.held(p)
	}
	w.in = p
	return nil
}

// mayBeBehind says, as far as where partitions begin tells, whether one has messages behind the last one that was
// looked at.
func (w *messageWalk) mayBeBehind(parts partitions, i int) bool {
	switch {
	case w.at == "":
		return true
	case w.filter.OldestFirst:
		return i+1 == len(parts) || parts[i+1].start > w.at
	}
	return parts[i].start < w.at
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
