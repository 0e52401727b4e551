package store

import (
	"errors"
	"slices"
)

// lateKeys are those that a batch puts into a sealed partition's indexes.
type lateKeys struct {
	p    *partition
	keys []keyHash
}

// noteKey notes that a key comes or goes. Until its partition is sealed that is of no interest. What goes
// may have been there when the partition was sealed, in this batch.
func (b *batch) noteKey(p *partition, t table, key []byte) {
	if p == b.parts[len(b.parts)-1] {
		return
	}
	late := b.late[p.number]
	if late == nil {
		late = &lateKeys{p: p}
		b.late[p.number] = late
	}
	late.keys = append(late.keys, hashKey(t, key))
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
		}
	}
	for _, late := range b.late {
		changed, err := b.tx.filters.add(b.tx, late.p, late.keys)
		if err != nil {
			return err
		}
		for n, block := range changed {
			b.over.put(late.p.table(tableFilters), blockKey(n), block)
		}
	}
	return nil
}

// seal makes a partition's filter of what its indexes hold, with the batch's changes to them. Late keys come
// behind: also what was there when it was sealed and is not any more is among them.
func (b *batch) seal(p *partition) error {
	f := newFilter(b.size)
	for _, t := range filteredTables {
		id := p.table(t)
		err := b.tx.scan(id, nil, nil, false, func(key, _ []byte) error {
			if value, ok := b.over.get(id, key); !ok || value != nil {
				f.add(hashKey(t, key))
			}
			return nil
		})
		if err != nil {
			return err
		}
		for key, value := range b.over.table(id).all() {
			if value != nil {
				f.add(hashKey(t, key))
			}
		}
	}
	if late := b.late[p.number]; late != nil {
		for _, h := range late.keys {
			f.add(h)
		}
		delete(b.late, p.number)
	}
	b.tx.filters.put(p.number, f)
	for n := range len(f) / filterBlock {
		b.over.put(p.table(tableFilters), blockKey(n), f[n*filterBlock:(n+1)*filterBlock])
	}
	return nil
}
