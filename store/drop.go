package store

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// What retention drops is gone from the projection at once: the heads of its partitions go, and nobody finds
// what has no head. Their buckets are noted in the freeing table, and their pages are given back a bucket
// at a time afterwards (freeStep), so that no batch waits for all of it.

// takeDrop forgets what retention drops.
func (b *batch) takeDrop(d *statemachine.Drop) error {
	for _, id := range d.Exceptions {
		if err := b.dropException(id); err != nil {
			return err
		}
	}
	b.dropMessages(d.Messages)
	if d.Log > b.logFrom {
		b.logFrom = d.Log
		b.ruled = b.ruled.from(d.Log)
		return b.dropDecisions()
	}
	return nil
}

func (b *batch) dropException(id string) error {
	x, err := b.Exception(id)
	if x == nil || err != nil {
		return err
	}
	key, err := exceptionKey(id)
	if err != nil {
		return err
	}
	b.over.delete(tableID{table: tableExceptions}, key)
	if x.Status == statemachine.StatusOpen {
		b.closeException(key, x)
	}
	return nil
}

// dropMessages drops the partitions whose ids are all less than before.
func (b *batch) dropMessages(before statemachine.ID) {
	gone := b.parts.allBefore(before)
	if len(gone) == 0 {
		return
	}
	kept := b.parts[len(gone):]
	last := gone[len(gone)-1]
	maps.DeleteFunc(b.messages, func(id statemachine.ID, _ *statemachine.Message) bool {
		return len(kept) == 0 || id < kept[0].start
	})
	*b.cache = messageCache{}
	for _, p := range gone {
		b.over.delete(tableID{table: tablePartitions}, p.key())
		b.sizes[sizeOf{kind: sizeMessages}] -= int64(p.messages)
		for _, t := range [...]table{tableMessages, tableIDs, tableRefs, tableDests, tableFilters, tableStates} {
			b.drop(p.table(t))
		}
		delete(b.late, p.number)
		b.tx.filters.drop(p.number)
	}
	if len(kept) == 0 {
		kept = partitions{{number: last.number + 1}} // numbers are not given twice
	} else {
		b.over.delete(tableID{table: tablePartitions}, kept[0].key())
	}
	// What comes late, with an id less than all, has a place too.
	kept[0].start, kept[0].changed = "", true
	b.parts = slices.Clone(kept)
}

// allBefore are the first ones, whose ids are all less than an id. One that never held a message stays.
func (all partitions) allBefore(id statemachine.ID) partitions {
	n := 0
	for n < len(all) && all[n].messages > 0 && all[n].lastID < id {
		n++
	}
	return all[:n]
}

// dropDecisions drops the partitions of decisions that records before logFrom caused, and none else.
func (b *batch) dropDecisions() error {
	limit := decisionTable(b.logFrom)
	b.over.tables.keep(func(id tableID, _ *memTable) bool { return id.table != tableDecisions || id.part >= limit.part })
	ids, err := b.tx.partsOf(tableDecisions)
	for _, id := range ids {
		if id.part < limit.part {
			b.drop(id)
		}
	}
	return err
}

// drop forgets what the batch has for a table of a partition, and notes what was written of it before.
func (b *batch) drop(id tableID) {
	b.over.tables.delete(id)
	b.dropped = append(b.dropped, id)
	b.over.put(tableID{table: tableFreeing}, freeingKey(id), []byte{})
}

// freeingDecisions is tableDecisions in the keys of freeing, for ever; the tables behind it follow.
const freeingDecisions = 22

func freeingKey(id tableID) []byte {
	return append([]byte{freeingDecisions + byte(id.table-tableDecisions)}, id.partName()...)
}

func readFreeingKey(key []byte) (id tableID, err error) {
	if len(key) != 5 || key[0] < freeingDecisions || int(key[0]-freeingDecisions) >= len(tableNames)-int(tableDecisions) {
		return id, errMalformed
	}
	return tableID{tableDecisions + table(key[0]-freeingDecisions), binary.BigEndian.Uint32(key[1:])}, nil
}

// freeing are the tables that were dropped and whose pages are not all given back.
func (t *stateTx) freeing() (map[tableID]bool, error) {
	ids := make(map[tableID]bool)
	err := t.scan(tableID{table: tableFreeing}, nil, nil, false, func(key, _ []byte) error {
		id, err := readFreeingKey(key)
		ids[id] = true
		return err
	})
	return ids, err
}

// freeStep gives back the pages of a table that state.db dropped. It says whether there was anything to do.
func (s *Store) freeStep(ctx context.Context) (did bool, err error) {
	if dropped, err := s.anyFreeing(); !dropped || err != nil {
		return false, err
	}
	if err := s.settle(ctx); err != nil {
		return false, err
	}
	s.stateUse.RLock()
	defer s.stateUse.RUnlock()
	t, err := firstFreeing(ctx, s.state, stateFile)
	if t == nil || err != nil {
		return false, stateDamaged(0, err)
	}
	return true, t.free(s.state, stateFile)
}

// anyFreeing reports whether there is a table that was dropped.
func (s *Store) anyFreeing() (any bool, err error) {
	err = s.view(func(tx *stateTx) error {
		return tx.scan(tableID{table: tableFreeing}, nil, nil, false, func(_, _ []byte) error {
			any = true
			return errStop
		})
	})
	return any, err
}

// droppedTable is a table whose pages are to be given back, with its key in freeing.
type droppedTable struct {
	id  tableID
	key []byte
}

// firstFreeing is one that a state file has dropped, nil when there is none. Its pages, which may have lain on the disk
// for months, were read: nobody waits for them yet.
func firstFreeing(ctx context.Context, db *bbolt.DB, file string) (found *droppedTable, err error) {
	err = guard(file, func() error {
		return db.View(func(bolt *bbolt.Tx) error {
			tx := newStateTx(bolt)
			err := tx.scan(tableID{table: tableFreeing}, nil, nil, false, func(key, _ []byte) error {
				id, err := readFreeingKey(key)
				if err == nil {
					found, err = &droppedTable{id, slices.Clone(key)}, errStop
				}
				return err
			})
			if found == nil || err != nil {
				return err
			}
			return readTable(ctx, tx, found.id, 1)
		})
	})
	return found, err
}

// free gives the pages of all of the table back in one transaction. Row by row they would be written again and again
// while they become empty, and with every transaction the list of all pages that are free.
func (t *droppedTable) free(db *bbolt.DB, file string) error {
	return diskFull(guard(file, func() error {
		return db.Update(func(bolt *bbolt.Tx) error {
			tx := newStateTx(bolt)
			if tx.bucket(t.id) != nil {
				if err := bolt.Bucket(t.id.name()).DeleteBucket(t.id.partName()); err != nil {
					return err
				}
			}
			return tx.delete(tableID{table: tableFreeing}, t.key)
		})
	}))
}
