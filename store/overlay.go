package store

import (
	"bytes"
	"hash/maphash"
	"sync"

	"go.etcd.io/bbolt"
)

// overlay holds changes to tables in memory. While nothing is put several goroutines may read it.
type overlay struct {
	arena  arena
	seed   maphash.Seed
	tables tableMap[*memTable]
	order  sync.Mutex // held while a table is sorted for who walks it
}

func newOverlay() *overlay {
	return &overlay{seed: maphash.MakeSeed()}
}

// another makes an empty overlay that can be merged with this one.
func (o *overlay) another() *overlay {
	return &overlay{seed: o.seed}
}

func (o *overlay) table(id tableID) *memTable {
	t, ok := o.tables.get(id)
	if !ok {
		t = &memTable{arena: &o.arena, seed: o.seed}
		o.tables.put(id, t)
	}
	return t
}

// get gives a nil value for a key that is deleted, and false for one that nothing lies over. The value is good
// until reset.
func (o *overlay) get(id tableID, key []byte) (value []byte, ok bool) {
	if t, ok := o.tables.get(id); ok {
		return t.get(key, hashOf(o.seed, key))
	}
	return nil, false
}

// put keeps copies of key and value.
func (o *overlay) put(id tableID, key, value []byte) { o.table(id).put(key, value, false) }

// putNew is put for a key that nothing below has: deleted again it leaves nothing to be done.
func (o *overlay) putNew(id tableID, key, value []byte) { o.table(id).put(key, value, true) }

func (o *overlay) delete(id tableID, key []byte) { o.table(id).delete(key) }

// reset empties the overlay for the next batch, which will need about the same room. Tables that were not
// used go.
func (o *overlay) reset() {
	o.arena.reset()
	o.tables.keep(func(_ tableID, t *memTable) bool {
		if len(t.entries) == 0 {
			return false
		}
		t.reset()
		return true
	})
}

// merge makes the changes of another overlay, which was made by another and lies over this one. What was walked or
// looked up in either is not good any more.
func (o *overlay) merge(over *overlay) {
	for id, from := range over.tables.all() {
		if len(from.entries) > 0 {
			o.table(id).merge(from)
		}
	}
}

// flush writes what the overlay changes: each table's keys in order, since bbolt splits a page only when it commits,
// so that keys at random would be sorted into ever longer ones. What it hands over stays in the arena.
func (o *overlay) flush(to sink) error {
	for id, t := range o.tables.all() {
		o.sort(t)
		for _, at := range t.sorted {
			e := &t.entries[at.entry]
			var err error
			switch e.what {
			case changePut:
				err = to.put(id, t.arena.bytes(e.key), t.arena.bytes(e.value))
			case changeDelete:
				err = to.delete(id, t.arena.bytes(e.key))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sorted gives a table to be walked until something is put; nil when there is none.
func (o *overlay) sorted(id tableID) *memTable {
	t, ok := o.tables.get(id)
	if !ok {
		return nil
	}
	o.sort(t)
	return t
}

func (o *overlay) sort(t *memTable) {
	o.order.Lock()
	defer o.order.Unlock()
	t.sort()
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
