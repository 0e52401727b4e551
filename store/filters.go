package store

import (
	"slices"
	"sync"
	"sync/atomic"
)

// filters are those that were read, for all who read the state. They have at least the keys of every
// transaction: the applier, who alone changes them, does so before it commits.
type filters struct {
	heads atomic.Pointer[partitions] // of the last transaction that looked; nil = none did

	mu     sync.RWMutex
	loaded []filter // by number of the partition; nil = not read
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

// narrow gives those of sealed that may have a key, and one whose filter is to be read first, if any.
func (fs *filters) narrow(sealed partitions, h keyHash) (found partitions, missing *partition) {
	fs.mu.RLock()
	defer fs.mu.RUnlock()
	for _, p := range sealed {
		if int(p.number) >= len(fs.loaded) || fs.loaded[p.number] == nil {
			return nil, p
		}
		if fs.loaded[p.number].has(h) {
			found = append(found, p)
		}
	}
	return found, nil
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
	if fs.at(p.number) == nil {
		fs.loaded[p.number] = f
	}
	return true, nil
}

// at makes room for a partition's filter. mu is held.
func (fs *filters) at(number uint32) filter {
	if n := int(number) + 1; n > len(fs.loaded) {
		fs.loaded = append(fs.loaded, make([]filter, n-len(fs.loaded))...)
	}
	return fs.loaded[number]
}

// put takes the filter of a partition that is sealed.
func (fs *filters) put(number uint32, f filter) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.at(number)
	fs.loaded[number] = f
}

// add adds keys to a partition's filter and gives the blocks that changed, in order. Only the applier calls it.
func (fs knownFilters) add(tx *stateTx, p *partition, keys []keyHash) (f filter, changed []int, err error) {
	if _, missing := fs.narrow(partitions{p}, keys[0]); missing != nil {
		if _, err := fs.load(tx, p); err != nil {
			return nil, nil, err
		}
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f = fs.loaded[p.number]
	for _, h := range keys {
		if n := f.add(h); n >= 0 {
			changed = append(changed, n)
		}
	}
	slices.Sort(changed)
	return f, slices.Compact(changed), nil
}

// drop forgets the filter of a partition that is no more. Who still reads what was before reads it again.
func (fs *filters) drop(number uint32) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if int(number) < len(fs.loaded) {
		fs.loaded[number] = nil
	}
}

// reset forgets all: a batch that had added to them was not committed.
func (fs *filters) reset() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.loaded, fs.resets = nil, fs.resets+1
}

// holding gives those of all partitions that may hold a key of an index (or what keys begin with: see
// hashKey), in the same order. The last one, which is not sealed, is always among them.
func (t *stateTx) holding(all partitions, id table, key []byte) (partitions, error) {
	if len(all) < 2 {
		return all, nil
	}
	last := len(all) - 1
	h := hashKey(id, key)
	found, missing := t.filters.narrow(all[:last], h)
	for missing != nil {
		if loaded, err := t.filters.load(t, missing); err != nil || !loaded {
			return all, err
		}
		found, missing = t.filters.narrow(all[:last], h)
	}
	return append(found, all[last]), nil
}
