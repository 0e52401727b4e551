package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"esmed/statemachine"
)

// Retention says how long what is kept: what is older than an instant is dropped. The zero time keeps all.
type Retention struct {
	Messages   time.Time // messages accepted before; those still open are closed first
	Inbox      time.Time // receipts without an owner received before
	Exceptions time.Time // exceptions opened before, open or not
	Log        time.Time // records made before, once nothing that is kept rests on them
	Texts      time.Time // texts that came before; zero: those of records that are gone
}

// RetentionStep says what a step of retention did.
type RetentionStep struct {
	Closed     int  // messages that were still open
	Messages   int  // messages dropped
	Inbox      int  // rows dropped
	Exceptions int  // exceptions dropped
	Segments   int  // of the log, dropped
	Keys       int  // of texts, destroyed
	More       bool // there is more to do: call again
}

// Add gives what both steps did together; More is the later one's.
func (s RetentionStep) Add(later RetentionStep) RetentionStep {
	return RetentionStep{
		s.Closed + later.Closed, s.Messages + later.Messages, s.Inbox + later.Inbox,
		s.Exceptions + later.Exceptions, s.Segments + later.Segments, s.Keys + later.Keys, later.More,
	}
}

// retentionPage bounds what one record names.
const retentionPage = 256

// Retire takes the next step of retention: one record at most, or one bounded piece of work on the files. It is
// called again, with a pause that leaves the disk to others, until the step says that there is no more to do.
// While Run runs only, by one goroutine at a time. After ErrDiskFull or ErrObstructed nothing is lost: a later
// call goes on. While a Verify or a Backup needs all files none of them goes.
func (s *Store) Retire(ctx context.Context, keep Retention) (RetentionStep, error) {
	if s.readOnly() {
		return RetentionStep{}, fmt.Errorf("store: retention: %w", ErrReadOnly)
	}
	r := retention{s: s, keep: keep}
	err := s.Sync(ctx)
	for _, step := range []func(context.Context) error{
		r.free, r.messages, r.inbox, r.exceptions, r.log, r.texts,
	} {
		if err == nil && !r.step.More {
			err = step(ctx)
		}
	}
	if err != nil {
		return r.step, fmt.Errorf("store: retention: %w", diskFull(err))
	}
	return r.step, nil
}

type retention struct {
	s    *Store
	keep Retention
	step RetentionStep
}

// record appends a retention record and waits until it is applied.
func (r *retention) record(ctx context.Context, fact statemachine.Retention) error {
	r.step.More = true
	if _, err := r.s.Append(ctx, &fact); err != nil {
		return err
	}
	return r.s.Sync(ctx)
}

// free goes on giving back what was dropped before: files first, for which no room is needed.
func (r *retention) free(ctx context.Context) (err error) {
	if r.step.More, err = r.s.journal.shrink(); r.step.More || err != nil {
		return err
	}
	r.step.More, err = r.s.freeStep(ctx)
	return err
}

// messages closes what is open in the oldest partition whose time is over, then drops it.
func (r *retention) messages(ctx context.Context) error {
	if r.keep.Messages.IsZero() {
		return nil
	}
	var oldest *partition
	var next statemachine.ID // behind all of its messages
	err := r.s.view(func(tx *stateTx) error {
		parts, err := readPartitions(tx)
		if err != nil || len(parts) == 0 || parts[0].messages == 0 || !parts[0].lastAt.Before(r.keep.Messages) {
			return err
		}
		oldest, next = parts[0], parts[0].lastID+"0"
		if len(parts) > 1 {
			next = parts[1].start
		}
		return nil
	})
	if oldest == nil || err != nil {
		return err
	}
	open, err := r.open(ctx, oldest)
	switch {
	case err != nil:
		return err
	case len(open) > 0:
		r.step.Closed = len(open)
		return r.record(ctx, statemachine.Retention{Close: open})
	}
	r.step.Messages = int(oldest.messages)
	return r.record(ctx, statemachine.Retention{Messages: next})
}

// open names messages of a partition that something still waits for. Where the last look ended the next one
// begins; one that began so is made again from the beginning when it found nothing, since what was closed may
// have been opened again.
func (r *retention) open(ctx context.Context, p *partition) ([]statemachine.ID, error) {
	at := &r.s.retiring
	if at.partition != p.number {
		*at = retiring{partition: p.number}
	}
	again := at.after != nil
	if !again {
		if err := r.s.viewWritten(func(tx *stateTx) error { return readTable(ctx, tx, p.table(tableMessages), 1) }); err != nil {
			return nil, err
		}
	}
	ids, err := r.openBehind(ctx, p, at)
	if len(ids) == 0 && again && err == nil {
		at.after = nil
		ids, err = r.openBehind(ctx, p, at)
	}
	return ids, err
}

func (r *retention) openBehind(ctx context.Context, p *partition, at *retiring) (ids []statemachine.ID, err error) {
	w := walk{what: "retention", id: p.table(tableMessages), after: at.after, limit: -1}
	err = r.s.walk(ctx, w, func(_ *stateTx, key, value []byte) (bool, error) {
		m, err := decodeMessage(value)
		if err != nil {
			return false, err
		}
		at.after = slices.Clone(key)
		if m.Loose() {
			ids = append(ids, m.ID)
		}
		return len(ids) < retentionPage, nil
	})
	return ids, err
}

// retiring is how far Retire has looked for open messages. One goroutine uses it.
type retiring struct {
	partition uint32
	after     []byte
}

// inbox drops the oldest rows of each SMSC.
func (r *retention) inbox(ctx context.Context) error {
	if r.keep.Inbox.IsZero() {
		return nil
	}
	inboxes, err := r.s.InboxStats(ctx)
	if err != nil {
		return err
	}
	var keys []statemachine.InboxKey
	for _, inbox := range inboxes {
		prefix := appendKeyPart(nil, inbox.SMSC)
		w := walk{what: "retention", id: tableID{table: tableInboxByAge}, prefix: prefix, limit: -1}
		err := r.s.walk(ctx, w, func(_ *stateTx, age, key []byte) (bool, error) {
			rest := age[len(prefix):]
			if len(rest) < 8 {
				return false, errMalformed
			}
			if len(keys) == retentionPage || !fromKeyNanos(rest).Before(r.keep.Inbox) {
				return false, nil
			}
			keys = append(keys, statemachine.InboxKey(key))
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return nil
	}
	r.step.Inbox = len(keys)
	return r.record(ctx, statemachine.Retention{Inbox: keys})
}

// exceptions drops the oldest ones. They are kept in the order in which they were opened.
func (r *retention) exceptions(ctx context.Context) error {
	if r.keep.Exceptions.IsZero() {
		return nil
	}
	var ids []string
	w := walk{what: "retention", id: tableID{table: tableExceptions}, limit: retentionPage}
	err := r.s.walk(ctx, w, func(_ *stateTx, _, value []byte) (bool, error) {
		x, err := decodeException(value)
		if err != nil || !x.FirstAt.Before(r.keep.Exceptions) {
			return false, err
		}
		ids = append(ids, x.ID)
		return true, nil
	})
	if len(ids) == 0 || err != nil {
		return err
	}
	r.step.Exceptions = len(ids)
	return r.record(ctx, statemachine.Retention{Exceptions: ids})
}

// log drops the oldest segment: the record that says so first, then base.db goes forward as far as it must,
// then the file goes.
func (r *retention) log(ctx context.Context) error {
	segments := r.s.log.from(0)
	if len(segments) < 2 {
		return nil
	}
	var meta stateMeta
	err := r.s.view(func(tx *stateTx) (err error) {
		meta, err = readStateMeta(tx)
		return err
	})
	if err != nil {
		return err
	}
	first := segments[1].first
	if meta.logFrom < first {
		if due, err := r.logDue(segments[0], first); !due || err != nil {
			return err
		}
		return r.record(ctx, statemachine.Retention{Log: first})
	}
	if r.step.More, err = r.s.forwardBase(ctx, func(m stateMeta) bool { return m.logFrom >= first }); r.step.More || err != nil {
		return err
	}
	if err := r.s.settle(ctx); err != nil { // what state.db lacks is folded from the log
		return err
	}
	if r.step.More, err = r.s.journal.dropBefore(first); r.step.More {
		r.step.Segments = 1
	}
	return err
}

// logDue reports whether the time of a segment's records is over and nothing rests on them. next is the first
// seq behind it.
func (r *retention) logDue(oldest *segment, next uint64) (due bool, err error) {
	if r.keep.Log.IsZero() {
		return false, nil
	}
	if oldest.last >= oldest.first { // closed: nobody appends to it any more
		last, err := oldest.commitAt(oldest.last)
		if err != nil || !last.at.Before(r.keep.Log) {
			return false, err
		}
	}
	err = r.s.view(func(tx *stateTx) error {
		rests, err := restsOn(tx)
		due = rests >= next
		return err
	})
	return due, err
}

// texts destroys the keys of the texts whose time is over, a page of them at most. What was decided by them is
// in base.db first.
func (r *retention) texts(ctx context.Context) (err error) {
	before := r.keep.Texts
	if before.IsZero() {
		if before, err = r.s.firstKept(); before.IsZero() || err != nil {
			return err
		}
	}
	due, err := r.s.keys.anyBefore(before)
	if !due || err != nil {
		return err
	}
	r.step.More, err = r.s.forwardBase(ctx, func(m stateMeta) bool { return !m.at.Before(before) })
	if r.step.More || err != nil {
		return err
	}
	if err := r.s.settle(ctx); err != nil { // what state.db lacks is folded again after a crash
		return err
	}
	r.s.recent.forget()
	r.step.Keys, err = r.s.keys.destroyBefore(before, retentionPage)
	r.step.More = r.step.Keys > 0
	return err
}

// firstKept is when the first record that is left was made; zero when none was dropped.
func (s *Store) firstKept() (at time.Time, err error) {
	first := s.log.from(0)[0].first
	if first == 1 {
		return at, nil
	}
	err = s.journal.readFrom(first, func(_ uint64, value []byte) (bool, error) {
		o, err := readOutline(value)
		at = o.at
		return false, err
	})
	return at, err
}
