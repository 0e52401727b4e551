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

// lateIn is where it is noted what is done to a partition's indexes; nil until that is sealed, when it is of no interest.
func (b *batch) lateIn(p *partition) *lateKeys {
	if p == b.parts[len(b.parts)-1] {
		return nil
	}
	late := b.late[p.number]
	if late == nil {
		late = &lateKeys{p: p}
		b.late[p.number] = late
	}
	return late
}

// noteKey notes that a key comes.
func (b *batch) noteKey(p *partition, t table, key []byte) {
	if late := b.lateIn(p); late != nil {
		late.keys = append(late.keys, hashKey(t, key))
	}
}

// noteGone notes that a key may have gone.
func (b *batch) noteGone(p *partition) {
	if late := b.lateIn(p); late != nil {
		late.gone = true
	}
}

// unsealed are the partitions that had no filter when the batch began.
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
	for _, late := range b.late {
		if err := b.addLate(late); err != nil {
			return err
		}
	}
	return nil
}

// seal makes a partition's filter of what its indexes hold, with the batch's changes to them.
func (b *batch) seal(p *partition) error {
	f := newFilter(b.size)
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
	return nil
}

// addLate adds the late keys to a filter. Where keys went it is made anew, which takes a walk through the indexes: that is
// done when rules change or a person takes something back, and an id is not what it was.
func (b *batch) addLate(late *lateKeys) error {
	if err := b.tx.filters.add(b.tx, late.p, late.keys); err != nil {
		return err
	}
	if late.gone {
		return b.seal(late.p)
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
