package store

import (
	"bytes"
	"errors"
	"slices"
)

// lateKeys are what a batch does to a sealed partition's indexes.
type lateKeys struct {
	p    *partition
	keys []keyHash // that it puts
	gone bool      // it took some away
}

// lateIn is where it is noted what is done to a partition's indexes.
func (b *batch) lateIn(p *partition) *lateKeys {
	late := b.late[p.number]
	if late == nil {
		late = &lateKeys{p: p}
		b.late[p.number] = late
	}
	return late
}

// isOpen reports whether new messages come into a partition.
func (b *batch) isOpen(p *partition) bool { return p == b.parts[len(b.parts)-1] }

// noteKey notes that a key comes.
func (b *batch) noteKey(p *partition, t table, key []byte) {
	switch {
	case !b.isOpen(p):
		late := b.lateIn(p)
		late.keys = append(late.keys, hashKey(t, key))
	case b.fills:
		b.tx.filters.addOpen(p, t, key)
	default:
		b.lateIn(p) // so that holding gives it
	}
}

// noteGone notes that a key may have gone. Of an open partition the filter is made anew once it is sealed.
func (b *batch) noteGone(p *partition) {
	switch {
	case !b.isOpen(p):
		b.lateIn(p).gone = true
	case b.fills:
		b.tx.filters.drop(p.number)
	}
}

// unsealed are the partitions that had no filter stored when the batch began.
func (b *batch) unsealed() partitions {
	i := len(b.parts)
	for i > 0 && b.parts[i-1].number >= b.firstOpen {
		i--
	}
	return b.parts[i:]
}

// holding is stateTx.holding with what the batch put itself.
func (b *batch) holding(id table, key []byte) (partitions, error) {
	unsealed := b.unsealed()
	sealed := len(b.parts) - len(unsealed)
	found, err := b.tx.holding(b.parts[:min(sealed+1, len(b.parts))], id, key)
	if err != nil || len(b.late) == 0 && len(unsealed) < 2 {
		return found, err
	}
	found = append(slices.Clip(found), unsealed[min(1, len(unsealed)):]...)
	for _, late := range b.late {
		if !slices.Contains(found, late.p) {
			found = append(found, late.p)
		}
	}
	return found, nil
}

// freezeFilters makes those of the partitions that the batch sealed, with what else these have, and adds its late keys
// to the others.
func (b *batch) freezeFilters() error {
	if unsealed := b.unsealed(); len(unsealed) > 1 {
		for _, p := range unsealed[:len(unsealed)-1] {
			if err := errors.Join(b.seal(p), b.sealStates(p)); err != nil {
				return err
			}
			delete(b.late, p.number)
		}
	}
	if n := len(b.parts); n > 0 {
		delete(b.late, b.parts[n-1].number) // nothing is stored of an open one's
	}
	for _, late := range b.late {
		if err := b.addLate(late); err != nil {
			return err
		}
	}
	return nil
}

// seal makes and stores the filter of a partition that is full: it was made as the keys came, unless it was open before
// the store was, or lost a key.
func (b *batch) seal(p *partition) error {
	f, late := b.tx.filters.begun(p.number), b.late[p.number]
	if f == nil || late != nil && late.gone {
		return b.sealAnew(p)
	}
	if late != nil {
		for i := range late.keys {
			f.add(&late.keys[i])
		}
	}
	b.putFilter(p, f)
	return nil
}

// sealAnew makes a partition's filter of what its indexes hold, with the batch's changes to them.
func (b *batch) sealAnew(p *partition) error {
	f := newFilter(blocksFor(b.size))
	for _, index := range filteredIndexes {
		id := p.table(index.table)
		err := f.addKeys(b.tx, p, index.table, func(key []byte) bool {
			_, changed := b.over.get(id, key)
			return !changed
		})
		if err != nil {
			return err
		}
		for key, value := range b.over.table(id).all() {
			if value != nil {
				h := hashKey(index.table, key)
				f.add(&h)
			}
		}
	}
	b.putFilter(p, f)
	return nil
}

func (b *batch) putFilter(p *partition, f *filter) {
	b.tx.filters.put(p.number, f)
	id := p.table(tableFilters)
	for at, block := range f.blocks() {
		key := at.key()
		switch have := b.get(id, key); {
		case bytes.Equal(have, block):
		case block == nil:
			b.over.delete(id, key)
		default:
			b.over.put(id, key, block)
		}
	}
}

// addLate adds the late keys to a filter. Where keys went it is made anew, which takes a walk through the indexes: that is
// done when rules change or a person takes something back, and an id is not what it was.
func (b *batch) addLate(late *lateKeys) error {
	if err := b.tx.filters.add(b.tx, late.p, late.keys); err != nil {
		return err
	}
	if late.gone {
		return b.sealAnew(late.p)
	}
	id := late.p.table(tableFilters)
	changed := make(map[blockID][]byte)
	for i := range late.keys {
		h := &late.keys[i]
		blocks := filteredIndexes[h.index].blocks(b.size)
		at := blockID{h.index, h.blockOf(blocks)}
		if changed[at] == nil {
			changed[at] = slices.Clone(b.get(id, at.key()))
		}
		if changed[at] == nil { // the first key of its index
			for n := range blocks {
				changed[blockID{h.index, n}] = make([]byte, filterBlock)
			}
		}
		h.addTo(changed[at])
	}
	for at, block := range changed {
		b.over.put(id, at.key(), block)
	}
	return nil
}
