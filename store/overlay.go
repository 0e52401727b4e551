package store

import (
	"bytes"
	"slices"

	"go.etcd.io/bbolt"
)

// overlay holds tables in memory. While it is filled keys are looked up only; its sources walk it in
// order, once it was sorted and nothing is put any more.
type overlay struct {
	tables map[tableID]*memTable
}

type memTable struct {
	values map[string][]byte // nil = deleted
	keys   []string          // sorted, as of the last sort
}

func newOverlay() *overlay { return &overlay{tables: make(map[tableID]*memTable)} }

func (o *overlay) table(id tableID) *memTable {
	t := o.tables[id]
	if t == nil {
		t = &memTable{values: make(map[string][]byte)}
		o.tables[id] = t
	}
	return t
}

func (o *overlay) get(id tableID, key []byte) (value []byte, ok bool) {
	t := o.tables[id]
	if t == nil {
		return nil, false
	}
	value, ok = t.values[string(key)]
	return value, ok
}

// put keeps value; nil deletes.
func (o *overlay) put(id tableID, key, value []byte) { o.table(id).values[string(key)] = value }

// reset empties the overlay for the next batch, which will need about the same room. Tables that were not
// used go.
func (o *overlay) reset() {
	for id, t := range o.tables {
		if len(t.values) == 0 {
			delete(o.tables, id)
			continue
		}
		clear(t.values)
	}
}

// sort makes the overlay fit for sources in several goroutines.
func (o *overlay) sort() {
	for _, t := range o.tables {
		t.sort()
	}
}

func (t *memTable) sort() {
	t.keys = t.keys[:0]
	for key := range t.values {
		t.keys = append(t.keys, key)
	}
	slices.Sort(t.keys)
}

func (o *overlay) source(id tableID) source {
	s := &memSource{}
	if t := o.tables[id]; t != nil {
		s.table = t
	}
	return s
}

// source walks one sorted set of keys.
type source interface {
	begin(prefix, after []byte, reverse bool)
	current() (key, value []byte) // nil key: at the end
	advance()
}

// behind is the least key that is greater than all that begin with prefix; nil when there is none.
func behind(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xFF {
			end := bytes.Clone(prefix[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}

type boltSource struct {
	c          *bbolt.Cursor
	prefix     []byte
	reverse    bool
	key, value []byte
}

func (s *boltSource) begin(prefix, after []byte, reverse bool) {
	s.prefix, s.reverse = prefix, reverse
	if !reverse {
		start := prefix
		if after != nil {
			start = append(bytes.Clone(after), 0) // the least key behind it
		}
		s.set(s.c.Seek(start))
		return
	}
	end := behind(prefix) // exclusive
	if after != nil {
		end = after
	}
	if end == nil {
		s.set(s.c.Last())
		return
	}
	if k, _ := s.c.Seek(end); k == nil {
		s.set(s.c.Last())
	} else {
		s.set(s.c.Prev())
	}
}

func (s *boltSource) set(key, value []byte) {
	if key != nil && !bytes.HasPrefix(key, s.prefix) {
		key = nil
	}
	if key != nil && value == nil {
		value = []byte{} // nil means deleted
	}
	s.key, s.value = key, value
}

func (s *boltSource) current() (key, value []byte) { return s.key, s.value }

func (s *boltSource) advance() {
	if s.reverse {
		s.set(s.c.Prev())
		return
	}
	s.set(s.c.Next())
}

type memSource struct {
	table   *memTable
	prefix  []byte
	reverse bool
	at      int
}

func (s *memSource) begin(prefix, after []byte, reverse bool) {
	s.prefix, s.reverse = prefix, reverse
	if s.table == nil {
		return
	}
	find := func(key []byte) int {
		i, _ := slices.BinarySearch(s.table.keys, string(key))
		return i
	}
	switch {
	case !reverse && after != nil:
		s.at = find(append(bytes.Clone(after), 0))
	case !reverse:
		s.at = find(prefix)
	case after != nil:
		s.at = find(after) - 1
	default:
		s.at = len(s.table.keys) - 1
		if end := behind(prefix); end != nil {
			s.at = find(end) - 1
		}
	}
}

func (s *memSource) current() (key, value []byte) {
	if s.table == nil || s.at < 0 || s.at >= len(s.table.keys) {
		return nil, nil
	}
	k := s.table.keys[s.at]
	if len(k) < len(s.prefix) || k[:len(s.prefix)] != string(s.prefix) {
		return nil, nil
	}
	return []byte(k), s.table.values[k]
}

func (s *memSource) advance() {
	if s.reverse {
		s.at--
		return
	}
	s.at++
}
