package store

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// filters are those that were read, for all who read the state. They have at least the keys of every
// transaction: the applier, who alone changes them, does so before it commits, and takes away nothing.
type filters struct {
	heads atomic.Pointer[partitions] // of the last transaction that looked; nil = none did

	mu     sync.RWMutex
	groups []*filterGroup // by number of the partition / filterGroupSize; nil = none of them was read
	resets int
}

// knownFilters are the filters as one transaction may use them.
type knownFilters struct {
	*filters
	since int // resets when it began
}

// now is called before a transaction begins.
func (fs *filters) now() knownFilters {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	return knownFilters{fs, fs.resets}
}

// narrow adds to found those of sealed that may have a key, and gives one whose filter is to be read first, if any: then
// found is of no use. The numbers of sealed follow each other. What is known now may lack what a transaction has that
// began before all were forgotten: to that any may have the key.
func (fs knownFilters) narrow(found, sealed partitions, h *keyHash) (_ partitions, missing *partition) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	if fs.resets != fs.since {
		return append(found, sealed...), nil
	}
	for len(sealed) > 0 {
		at, first := int(sealed[0].number/filterGroupSize), sealed[0].number%filterGroupSize
		n := min(len(sealed), int(filterGroupSize-first))
		if at >= len(fs.groups) || fs.groups[at] == nil {
			return found, sealed[0]
		}
		asked := uint32(1<<n-1) << first
		if left := asked &^ fs.groups[at].loaded; left != 0 {
			return found, sealed[bits.TrailingZeros32(left)-int(first)]
		}
		for have := fs.groups[at].having(h) & asked; have != 0; have &= have - 1 {
			found = append(found, sealed[bits.TrailingZeros32(have)-int(first)])
		}
		sealed = sealed[n:]
	}
	return found, nil
}

// unread is the newest of sealed whose filter nobody has read; nil when there is none.
func (fs *filters) unread(sealed partitions) *partition {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	for _, p := range slices.Backward(sealed) {
		at := int(p.number / filterGroupSize)
		if at >= len(fs.groups) || fs.groups[at] == nil || !fs.groups[at].has(p.number) {
			return p
		}
	}
	return nil
}

// readFilters reads those that nobody has asked, so that after a start the first who has to ask all of them need not
// wait until they are read. What it cannot read is told to who asks next.
func (s *Store) readFilters(ctx context.Context) {
	for more := true; more && ctx.Err() == nil; {
		more = false
		err := s.view(func(tx *stateTx) error {
			parts, err := tx.heads()
			if err != nil || len(parts) == 0 {
				return err
			}
			if p := tx.filters.unread(parts[:len(parts)-1]); p != nil {
				more, err = tx.filters.load(tx, p)
			}
			return err
		})
		more = more && err == nil
	}
}

// load reads a filter, unless somebody did. It is false when all were forgotten since the transaction began: what
// was put by then, which this one may lack, has to be read by a later one.
func (fs knownFilters) load(tx *stateTx, p *partition) (bool, error) {
	f, err := readFilter(tx, p)
	if err != nil {
		return false, err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.resets != fs.since {
		return false, nil
	}
	if g := fs.group(p.number, f); !g.has(p.number) {
		g.put(p.number, f)
	}
	return true, nil
}

// group makes room for a partition's filter, which is like f. mu is held.
func (fs *filters) group(number uint32, f *filter) *filterGroup {
	at := int(number / filterGroupSize)
	if n := at + 1; n > len(fs.groups) {
		fs.groups = append(fs.groups, make([]*filterGroup, n-len(fs.groups))...)
	}
	if fs.groups[at] == nil {
		fs.groups[at] = newFilterGroup(f)
	}
	return fs.groups[at]
}

// put takes the filter of a partition that is sealed, or what it is now beside what it was.
func (fs *filters) put(number uint32, f *filter) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.group(number, f).put(number, f)
}

// add adds keys to a partition's filter, which it reads first when nobody did. Only the applier calls it.
func (fs knownFilters) add(tx *stateTx, p *partition, keys []keyHash) error {
	if fs.unread(partitions{p}) != nil {
		if loaded, err := fs.load(tx, p); err != nil || !loaded {
			return err
		}
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	g := fs.groups[p.number/filterGroupSize]
	for i := range keys {
		g.add(p.number, &keys[i])
	}
	return nil
}

// drop forgets the filter of a partition that is no more. Who still reads what was before reads it again.
func (fs *filters) drop(number uint32) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	at := int(number / filterGroupSize)
	if at < len(fs.groups) && fs.groups[at] != nil && fs.groups[at].drop(number) {
		fs.groups[at] = nil
	}
}

// reset forgets all: a batch that had added to them was not committed.
func (fs *filters) reset() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.groups, fs.resets = nil, fs.resets+1
}

// holding gives those of all partitions that may hold a key of an index (or what keys begin with: see
// hashKey), in the same order. The last one, which is not sealed, is always among them. What it gives is good until it
// is called again.
func (t *stateTx) holding(all partitions, id table, key []byte) (partitions, error) {
	if len(all) < 2 {
		return all, nil
	}
	last := len(all) - 1
	h := hashKey(id, key)
	for {
		found, missing := t.filters.narrow(t.found[:0], all[:last], &h)
		if missing == nil {
			t.found = append(found, all[last])
			return t.found, nil
		}
		if loaded, err := t.filters.load(t, missing); err != nil || !loaded {
			return all, err
		}
	}
}
