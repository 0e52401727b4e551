package store

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"esmed/statemachine"
)

// Due is a part whose window ended with nothing final heard. The zero value is before all others.
type Due struct {
	At      time.Time // when its window ended
	SMSC    string
	Message statemachine.ID
	Part    int
}

// windowKey sorts windows by their end.
func windowKey(b []byte, d Due) []byte {
	b = appendKeyPart(appendNanos(b, d.At), d.SMSC)
	b = append(b, d.Message...)
	return binary.BigEndian.AppendUint32(b, uint32(d.Part))
}

func readWindowKey(key []byte) (d Due, err error) {
	if len(key) < 8 {
		return d, errMalformed
	}
	d.At = fromKeyNanos(key)
	length, n := binary.Uvarint(key[8:])
	rest := key[8+max(n, 0):]
	if n <= 0 || length > uint64(len(rest)) || uint64(len(rest))-length < 4 {
		return d, errMalformed
	}
	d.SMSC = string(rest[:length])
	d.Message = statemachine.ID(rest[length : len(rest)-4])
	d.Part = int(binary.BigEndian.Uint32(rest[len(rest)-4:]))
	return d, nil
}

// Kinds of overdue parts. They are counted by when their window ended: the first by the minute, as the
// fold counts them, the others by the second.
const (
	overdueUnreported = 'u'
	overdueDoubt      = 'd'
)

func overduePrefix(smsc string, kind byte) []byte { return append(appendKeyPart(nil, smsc), kind) }

// takeWindows puts windows and takes them away. The fold puts none that is there, and looks none up, so that one whose
// first change in a batch is that it is put is in that batch alone.
func (b *batch) takeWindows(eff *statemachine.Effects) {
	for i := range eff.Windows {
		c := &eff.Windows[i]
		if c.Doubt {
			delta := int64(1)
			if c.Remove {
				delta = -1
			}
			b.overdue[string(appendNanos(overduePrefix(c.SMSC, overdueDoubt), c.At.Truncate(time.Second)))] += delta
			continue
		}
		b.key = windowKey(b.key[:0], Due{c.At, c.SMSC, c.Ref.Message, c.Ref.Part})
		if c.Remove {
			b.over.delete(tableID{table: tableWindows}, b.key)
		} else {
			b.over.putNew(tableID{table: tableWindows}, b.key, nil)
		}
	}
	for i := range eff.Overdue {
		c := &eff.Overdue[i]
		b.overdue[string(appendNanos(overduePrefix(c.SMSC, overdueUnreported), c.Minute))] += c.Delta
	}
}

func (b *batch) freezeOverdue() {
	id := tableID{table: tableOverdue}
	for of, delta := range b.overdue {
		if delta == 0 {
			continue
		}
		key := []byte(of)
		if n := readSize(b.get(id, key)) + delta; n != 0 {
			b.over.put(id, key, appendSize(n))
		} else {
			b.over.delete(id, key)
		}
	}
}

// Due lists parts whose window ended at or before now, without those in doubt, which are never cut off:
// oldest first, those behind after, at most limit (0 = DefaultLimit).
func (s *Store) Due(ctx context.Context, now time.Time, after Due, limit int) (due []Due, err error) {
	var from []byte
	if after != (Due{}) {
		from = windowKey(nil, after)
	}
	w := walk{what: "due", id: tableID{table: tableWindows}, after: from, limit: limit}
	err = s.walk(ctx, w, func(_ *stateTx, key, _ []byte) (bool, error) {
		d, err := readWindowKey(key)
		if err != nil || d.At.After(now) {
			return false, err
		}
		due = append(due, d)
		return true, nil
	})
	return due, err
}

// NextWindow is when the next window ends that is not over at now, of a part that Due would list; false
// when there is none.
func (s *Store) NextWindow(ctx context.Context, now time.Time) (at time.Time, found bool, err error) {
	w := walk{what: "next window", id: tableID{table: tableWindows}, after: appendNanos(nil, now.Add(1)), limit: 1}
	err = s.walk(ctx, w, func(_ *stateTx, key, _ []byte) (bool, error) {
		d, err := readWindowKey(key)
		at, found = d.At, err == nil
		return false, err
	})
	return at, found, err
}

// Overdue counts an SMSC's parts: those UNREPORTED whose window ended in [from, to), to the minute, and
// those IN_DOUBT whose window ended before to, to the second.
func (s *Store) Overdue(ctx context.Context, smsc string, from, to time.Time) (n int64, err error) {
	sum := func(kind byte, from time.Time) error {
		prefix := overduePrefix(smsc, kind)
		end := appendNanos(slices.Clip(prefix), to)
		w := walk{what: "overdue", id: tableID{table: tableOverdue}, prefix: prefix, limit: -1}
		if !from.IsZero() {
			w.after = appendNanos(slices.Clip(prefix), from.Truncate(time.Minute).Add(-1))
		}
		return s.walk(ctx, w, func(_ *stateTx, key, value []byte) (bool, error) {
			if string(key) >= string(end) {
				return false, nil
			}
			n += readSize(value)
			return true, nil
		})
	}
	if err = sum(overdueUnreported, from); err == nil {
		err = sum(overdueDoubt, time.Time{})
	}
	return n, err
}
