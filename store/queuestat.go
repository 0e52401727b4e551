package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"esmed/statemachine"
)

// queueCounts are how many parts wait for an SMSC, by priority.
type queueCounts struct {
	waiting [priorities]int64 // to be sent as soon as they can be
	delayed [priorities]int64 // for a retry
}

// change counts an entry that comes (1) or goes (-1).
func (c *queueCounts) change(e *statemachine.QueueEntry, by int64) {
	if e.NotBefore.IsZero() {
		c.waiting[e.Priority] += by
		return
	}
	c.delayed[e.Priority] += by
}

func (c *queueCounts) add(d *queueCounts) {
	for i := range priorities {
		c.waiting[i] += d.waiting[i]
		c.delayed[i] += d.delayed[i]
	}
}

func (c *queueCounts) sum() (waiting, delayed int64) {
	for i := range priorities {
		waiting += c.waiting[i]
		delayed += c.delayed[i]
	}
	return waiting, delayed
}

func appendQueueCounts(b []byte, c *queueCounts) []byte {
	for i := range priorities {
		b = putInt(b, protowire.Number(1+i), c.waiting[i])
	}
	for i := range priorities {
		b = putInt(b, protowire.Number(1+priorities+i), c.delayed[i])
	}
	return b
}

func readQueueCounts(value []byte) (c queueCounts, err error) {
	f := fields{rest: value}
	for f.next() {
		switch i := int(f.num) - 1; {
		case i < priorities:
			c.waiting[i] = f.int()
		case i < 2*priorities:
			c.delayed[i-priorities] = f.int()
		}
	}
	return c, f.err
}

// countQueued notes that an entry comes (1) or goes (-1).
func (b *batch) countQueued(e *statemachine.QueueEntry, by int64) {
	c := b.queues[e.SMSC]
	if c == nil {
		c = new(queueCounts)
		b.queues[e.SMSC] = c
	}
	c.change(e, by)
}

func (b *batch) freezeQueues() error {
	id := tableID{table: tableSizes}
	for smsc, delta := range b.queues {
		key := sizeKey(sizeQueue, smsc)
		c, err := readQueueCounts(b.get(id, key))
		if err != nil {
			return err
		}
		c.add(delta)
		b.over.put(id, key, appendQueueCounts(nil, &c))
	}
	return nil
}

// QueueStat describes what waits for an SMSC.
type QueueStat struct {
	SMSC       string
	Waiting    int64             // parts that are sent as soon as they can be
	Delayed    int64             // parts that wait for their retry, or did so until just now
	ByPriority [priorities]int64 // both, by priority_flag
	// Oldest is when the message was accepted that waits longest of those at the head of a priority, or of its
	// retries; zero when nothing waits.
	Oldest time.Time
	Hold   statemachine.Hold // the zero Hold: none
}

// QueueStats describes every queue that ever had a part, or is held, by SMSC. What it costs follows from the
// number of SMSCs, whatever waits.
func (s *Store) QueueStats(ctx context.Context) (all []QueueStat, err error) {
	err = s.reading(ctx, "queue stats", func(tx *stateTx) error {
		queues := make(map[string]*QueueStat)
		err := tx.scan(tableID{table: tableSizes}, []byte{sizeQueue}, nil, false, func(key, value []byte) error {
			c, err := readQueueCounts(value)
			queues[string(key[1:])] = c.stat(string(key[1:]))
			return err
		})
		if err != nil {
			return err
		}
		err = tx.scan(tableID{table: tableHolds}, nil, nil, false, func(key, value []byte) error {
			h, err := readHold(value)
			st := queues[string(key)]
			if st == nil {
				st = &QueueStat{SMSC: string(key)}
				queues[st.SMSC] = st
			}
			st.Hold = h
			return err
		})
		for _, st := range queues {
			if err == nil {
				st.Oldest, err = oldestQueued(tx, st.SMSC)
			}
			all = append(all, *st)
		}
		return err
	})
	slices.SortFunc(all, func(a, b QueueStat) int { return cmp.Compare(a.SMSC, b.SMSC) })
	return all, err
}

func (c *queueCounts) stat(smsc string) *QueueStat {
	st := &QueueStat{SMSC: smsc}
	st.Waiting, st.Delayed = c.sum()
	for i := range priorities {
		st.ByPriority[i] = c.waiting[i] + c.delayed[i]
	}
	return st
}

// oldestQueued looks at the heads of an SMSC's queue.
func oldestQueued(tx *stateTx, smsc string) (oldest time.Time, err error) {
	for priority := range priorities {
		for _, t := range [...]table{tableQueue, tableDelayed} {
			err := tx.scan(tableID{table: t}, levelPrefix(smsc, priority), nil, false, func(_, value []byte) error {
				m, err := messageIn(tx, statemachine.ID(value))
				switch {
				case err != nil:
					return err
				case m != nil && (oldest.IsZero() || m.AcceptedAt.Before(oldest)):
					oldest = m.AcceptedAt
				}
				return errStop
			})
			if err != nil {
				return oldest, err
			}
		}
	}
	return oldest, nil
}

// QueuedMessages lists messages of which a part waits for smsc, up to limit (0 = DefaultLimit): those to be sent
// as soon as they can be, in the order of the queue, then those that wait for a retry. after is the cursor that
// the page before gave, "" for the first; next is "" when there are no more. A message of which several parts
// wait may come on several pages.
func (s *Store) QueuedMessages(ctx context.Context, smsc, after string, limit int) (ids []statemachine.ID, next string, err error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	from, err := hex.DecodeString(after)
	if err != nil {
		return nil, "", fmt.Errorf("store: queued messages: %w: cursor %q", ErrNotFound, after)
	}
	for _, t := range [...]table{tableQueue, tableDelayed} {
		w := walk{what: "queued messages", id: tableID{table: t}, prefix: appendKeyPart(nil, smsc), limit: -1}
		if len(from) > 0 {
			if table(from[0]) != t {
				continue
			}
			if len(from) > 1 {
				w.after = from[1:]
			}
			from = nil
		}
		last := []byte{byte(t)}
		err := s.walk(ctx, w, func(_ *stateTx, key, value []byte) (bool, error) {
			if n := len(ids); n > 0 && ids[n-1] == statemachine.ID(value) {
				last = append(last[:1], key...)
				return true, nil
			}
			if len(ids) == limit {
				next = hex.EncodeToString(last)
				return false, nil
			}
			ids, last = append(ids, statemachine.ID(value)), append(last[:1], key...)
			return true, nil
		})
		if err != nil || next != "" {
			return ids, next, err
		}
	}
	return ids, "", nil
}
