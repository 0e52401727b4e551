package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"
)

// memTable holds the changes to one table: a hash table with open addressing, of keys and values in an arena. As
// strings in a map they were most of what the garbage collector had to look at.
type memTable struct {
	arena   *arena
	seed    maphash.Seed // of no consequence for what is stored: tables are walked in the order of their keys
	entries []memEntry   // in the order in which their keys came
	slots   []uint32     // by hash: the number of an entry + 1; 0 = free. Their count is a power of two, or 0
	sorted  []memOrder   // the first ones, in the order of their keys, as of the last sort
	common  int          // how many octets their keys begin with alike
	room    []memOrder   // for those that are sorted in
}

type memEntry struct {
	hash       uint32
	what       change
	fresh      bool // nothing below has the key: taken away again, it leaves nothing to be done
	key, value span
}

// change is what is done to a key.
type change uint8

const (
	changePut change = iota
	changeDelete
	changeNone // it was put, and taken away again
)

// memOrder is an entry with what its key has behind what all keys begin with, as far as that fits.
type memOrder struct {
	word  uint64
	entry uint32
}

// minSlots is a power of two.
const minSlots = 64

func hashOf(seed maphash.Seed, key []byte) uint32 { return uint32(maphash.Bytes(seed, key)) }

// find gives the entry of a key with its hash, nil when there is none.
func (t *memTable) find(key []byte, hash uint32) *memEntry {
	if len(t.slots) == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	for at := hash & mask; t.slots[at] != 0; at = (at + 1) & mask {
		e := &t.entries[t.slots[at]-1]
		if e.hash == hash && bytes.Equal(t.arena.bytes(e.key), key) {
			return e
		}
	}
	return nil
}

// get gives a nil value for a key that is deleted, and false for one that is not changed.
func (t *memTable) get(key []byte, hash uint32) (value []byte, ok bool) {
	e := t.find(key, hash)
	if e == nil {
		return nil, false
	}
	return t.value(e), true
}

func (t *memTable) value(e *memEntry) []byte {
	if e.what != changePut {
		return nil
	}
	return t.arena.bytes(e.value)
}

// all are the keys with their values, nil for one that is deleted, in no order of meaning.
func (t *memTable) all() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for i := range t.entries {
			if e := &t.entries[i]; !yield(t.arena.bytes(e.key), t.value(e)) {
				return
			}
		}
	}
}

// put keeps copies. fresh says that nothing below has the key, as far as it was not put here before.
func (t *memTable) put(key, value []byte, fresh bool) {
	e := t.entry(key, hashOf(t.seed, key), fresh)
	e.what, e.value = changePut, t.arena.keep(value)
}

func (t *memTable) delete(key []byte) { t.entry(key, hashOf(t.seed, key), false).delete() }

// entry gives that of a key, and makes it where there is none.
func (t *memTable) entry(key []byte, hash uint32, fresh bool) *memEntry {
	if e := t.find(key, hash); e != nil {
		return e
	}
	return t.add(memEntry{hash: hash, fresh: fresh, key: t.arena.keep(key)})
}

func (e *memEntry) delete() {
	e.what = changeDelete
	if e.fresh {
		e.what = changeNone
	}
}

// merge makes the changes of a table that lies over this one. Where a value has room in that of before it takes it.
func (t *memTable) merge(over *memTable) {
	for i := range over.entries {
		from := &over.entries[i]
		key := over.arena.bytes(from.key)
		switch from.what {
		case changePut:
			e, value := t.entry(key, from.hash, from.fresh), over.arena.bytes(from.value)
			if e.what == changePut && len(value) <= int(e.value.size) {
				e.value.size = uint32(copy(t.arena.bytes(e.value), value))
			} else {
				e.what, e.value = changePut, t.arena.keep(value)
			}
		case changeDelete:
			t.entry(key, from.hash, false).delete()
		}
	}
}

func (t *memTable) add(e memEntry) *memEntry {
	if 4*len(t.entries) >= 3*len(t.slots) {
		t.slots = make([]uint32, max(minSlots, 2*len(t.slots)))
		for i := range t.entries {
			t.place(t.entries[i].hash, i)
		}
	}
	t.entries = append(t.entries, e)
	t.place(e.hash, len(t.entries)-1)
	return &t.entries[len(t.entries)-1]
}

func (t *memTable) place(hash uint32, entry int) {
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = uint32(entry + 1)
}

// reset empties the table for what will need about the same room.
func (t *memTable) reset() {
	clear(t.slots)
	t.entries, t.sorted = t.entries[:0], t.sorted[:0]
}

// sort makes the table fit for memSources, until the next change. Those that came since the last time are sorted in.
func (t *memTable) sort() {
	n := len(t.sorted)
	if n == len(t.entries) {
		return
	}
	if common := t.commonPrefix(n); n == 0 || common < t.common {
		n, t.common = 0, common // what keys have behind it is another word
	}
	t.sorted = t.sorted[:n]
	for i := n; i < len(t.entries); i++ {
		t.sorted = append(t.sorted, memOrder{firstWord(t.arena.bytes(t.entries[i].key)[t.common:]), uint32(i)})
	}
	slices.SortFunc(t.sorted[n:], t.compare)
	t.sortIn(n)
}

// sortIn puts those from the n-th on, which are in order, where they belong among those before, which are.
func (t *memTable) sortIn(n int) {
	if n == 0 || t.compare(t.sorted[n-1], t.sorted[n]) < 0 {
		return
	}
	t.room = append(t.room[:0], t.sorted[n:]...)
	to := len(t.sorted)
	for i := len(t.room); i > 0; {
		to--
		if n > 0 && t.compare(t.sorted[n-1], t.room[i-1]) > 0 {
			n--
			t.sorted[to] = t.sorted[n]
		} else {
			i--
			t.sorted[to] = t.room[i]
		}
	}
}

func (t *memTable) compare(x, y memOrder) int {
	if x.word != y.word {
		return cmp.Compare(x.word, y.word)
	}
	return bytes.Compare(t.key(x), t.key(y))
}

func (t *memTable) key(o memOrder) []byte { return t.arena.bytes(t.entries[o.entry].key) }

// commonPrefix is how many octets all keys begin with alike, when those before the n-th do with common.
func (t *memTable) commonPrefix(n int) int {
	first := t.arena.bytes(t.entries[0].key)
	common := t.common
	if n == 0 {
		common = len(first)
	}
	for i := n; i < len(t.entries); i++ {
		key := t.arena.bytes(t.entries[i].key)
		for common = min(common, len(key)); !bytes.Equal(key[:common], first[:common]); common-- {
		}
	}
	return common
}

// firstWord sorts as the octets do, as far as they differ in the first eight.
func firstWord(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var word [8]byte
	copy(word[:], b)
	return binary.BigEndian.Uint64(word[:])
}

// search is the place of the first key that is not less.
func (t *memTable) search(key []byte) int {
	i, _ := slices.BinarySearchFunc(t.sorted, key, func(o memOrder, key []byte) int { return bytes.Compare(t.key(o), key) })
	return i
}

// memSource walks a table that was sorted.
type memSource struct {
	table   *memTable
	prefix  []byte
	reverse bool
	at      int
}

func (s *memSource) begin(prefix, after []byte, reverse bool) {
	s.prefix, s.reverse = prefix, reverse
	switch {
	case !reverse && after != nil:
		s.at = s.table.search(append(bytes.Clone(after), 0))
	case !reverse:
		s.at = s.table.search(prefix)
	case after != nil:
		s.at = s.table.search(after) - 1
	default:
		s.at = len(s.table.sorted) - 1
		if end := behind(prefix); end != nil {
			s.at = s.table.search(end) - 1
		}
	}
}

func (s *memSource) current() (key, value []byte) {
	if s.at < 0 || s.at >= len(s.table.sorted) {
		return nil, nil
	}
	e := &s.table.entries[s.table.sorted[s.at].entry]
	key = s.table.arena.bytes(e.key)
	if !bytes.HasPrefix(key, s.prefix) {
		return nil, nil
	}
	return key, s.table.value(e)
}

func (s *memSource) advance() {
	if s.reverse {
		s.at--
		return
	}
	s.at++
}
