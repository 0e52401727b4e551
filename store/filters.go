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
	dir   string                     // where they may lie; "": in memory
	heads atomic.Pointer[partitions] // of the last transaction that looked; nil = none did

	mu     sync.RWMutex
	groups []*filterGroup // by number of the partition / filterGroupSize; nil = none of them was read
	resets int
}

// knownFilters are the filters as one transaction may use them.
type knownFilters struct {
	*filters
	since  int  // resets when it began
	behind bool // it lacks what is folded and not written: what it reads of a filter is not all that others need
}

// now is called before a transaction begins.
func (fs *filters) now() knownFilters {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	return knownFilters{filters: fs, since: fs.resets}
}

// narrow adds to found those of all that may have a key, and gives one whose filter is to be read first, if any: then
// found is of no use. The numbers of all follow each other; the last one is open, and may have the key unless its filter
// was begun with it. What is known now may lack what a transaction has that began before all were forgotten: to that any
// may have the key.
func (fs knownFilters) narrow(found, all partitions, h *keyHash) (_ partitions, missing *partition) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	if fs.resets != fs.since {
		return append(found, all...), nil
	}
	last := all[len(all)-1]
	for sealed := all[:len(all)-1]; len(sealed) > 0; {
		first := sealed[0].number % filterGroupSize
		n := min(len(sealed), int(filterGroupSize-first))
		g := fs.groupOf(sealed[0].number)
		if g == nil {
			return found, sealed[0]
		}
		asked := uint32(1<<n-1) << first
		if left := asked &^ g.loaded; left != 0 {
			return found, sealed[bits.TrailingZeros32(left)-int(first)]
		}
		for have := g.having(h) & asked; have != 0; have &= have - 1 {
			found = append(found, sealed[bits.TrailingZeros32(have)-int(first)])
		}
		sealed = sealed[n:]
	}
	if g := fs.groupOf(last.number); g == nil || !g.has(last.number) || g.having(h)&column(last.number) != 0 {
		found = append(found, last)
	}
	return found, nil
}

// groupOf is nil when no filter of it is here. mu is held.
func (fs *filters) groupOf(number uint32) *filterGroup {
	if at := int(number / filterGroupSize); at < len(fs.groups) {
		return fs.groups[at]
	}
	return nil
}

// unread is the newest of sealed whose filter nobody has read; nil when there is none.
func (fs *filters) unread(sealed partitions) *partition {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	for _, p := range slices.Backward(sealed) {
		if g := fs.groupOf(p.number); g == nil || !g.has(p.number) {
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

// load reads a filter, unless somebody did. It is false when all were forgotten since the transaction began, and when
// that is behind: what was put by then, which this one may lack, has to be read by another.
func (fs knownFilters) load(tx *stateTx, p *partition) (bool, error) {
	if fs.behind {
		return false, nil
	}
	f, err := readFilter(tx, p)
	if err != nil {
		return false, err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.resets != fs.since {
		return false, nil
	}
	if g := fs.group(p.number, f.size()); !g.has(p.number) {
		g.put(p.number, f)
	}
	return true, nil
}

// group makes room for a partition's filter. mu is held.
func (fs *filters) group(number uint32, blocks filterBlocks) *filterGroup {
	at := int(number / filterGroupSize)
	if n := at + 1; n > len(fs.groups) {
		fs.groups = append(fs.groups, make([]*filterGroup, n-len(fs.groups))...)
	}
	if fs.groups[at] == nil {
		fs.groups[at] = &filterGroup{dir: fs.dir, blocks: blocks}
	}
	return fs.groups[at]
}

// put takes the filter of a partition that is sealed, or what it is now beside what it was.
func (fs *filters) put(number uint32, f *filter) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.group(number, f.size()).put(number, f)
}

// open begins the filter of a partition that has no key yet. Like addOpen it is for the applier.
func (fs *filters) open(number uint32, blocks filterBlocks) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.group(number, blocks).open(number)
}

// addOpen adds a key to the filter of a partition that is open. One that was open before the store was does without:
// its filter is made when it is sealed.
func (fs *filters) addOpen(p *partition, t table, key []byte) {
	h := hashKey(t, key)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if g := fs.groupOf(p.number); g != nil && g.has(p.number) {
		g.add(p.number, &h)
	}
}

// begun is the filter of a partition as it was added to since it was opened; nil when it was not from the beginning.
func (fs *filters) begun(number uint32) *filter {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	if g := fs.groupOf(number); g != nil && g.has(number) {
		return g.filter(number)
	}
	return nil
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
	g := fs.groupOf(p.number)
	for i := range keys {
		g.add(p.number, &keys[i])
	}
	return nil
}

// drop forgets the filter of a partition that is no more, or is to do without. Who still reads what was before reads it
// again.
func (fs *filters) drop(number uint32) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if g := fs.groupOf(number); g != nil && g.drop(number) {
		fs.groups[number/filterGroupSize] = nil
	}
}

// reset forgets all: a batch that had added to them was not committed.
func (fs *filters) reset() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.groups, fs.resets = nil, fs.resets+1
}

// holding gives those of all partitions that may hold a key of an index (or what keys begin with: see
// hashKey), in the same order. What it gives is good until it is called again.
func (t *stateTx) holding(all partitions, id table, key []byte) (partitions, error) {
	if len(all) == 0 {
		return nil, nil
	}
	h := hashKey(id, key)
	for {
		found, missing := t.filters.narrow(t.found[:0], all, &h)
		if missing == nil {
			t.found = found
			return found, nil
		}
		if loaded, err := t.filters.load(t, missing); err != nil || !loaded {
			return all, err
		}
	}
}
