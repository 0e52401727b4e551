package store

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// upgradableState is the earliest format of state.db that is brought up to this one. Of an earlier one only the
// log is used.
const upgradableState = 2

// upgradeState brings a state file up to this format, a partition in each transaction: what was done when it is
// interrupted is done again. begun, if not nil, is told when there is something to do.
func upgradeState(db *bbolt.DB, file string, begun func(from uint64)) error {
	m, err := stateMetaOf(db)
	if err != nil || m.format == stateVersion {
		return err
	}
	if begun != nil {
		begun(m.format)
	}
	up := upgrading{
		read: func(fn func(*stateTx) error) error {
			return guard(file, func() error { return db.View(func(tx *bbolt.Tx) error { return fn(newStateTx(tx)) }) })
		},
		write: func(fn func(*stateTx, sink) error) error {
			return guard(file, func() error {
				return db.Update(func(tx *bbolt.Tx) error {
					state := newStateTx(tx)
					return fn(state, state)
				})
			})
		},
	}
	err = up.run(m.format)
	if errors.Is(err, errMalformed) {
		return &DamagedError{File: file, Err: err}
	}
	return diskFull(err)
}

// upgrading makes a projection of an earlier format one of this.
type upgrading struct {
	read  func(func(from *stateTx) error) error
	write func(func(from *stateTx, to sink) error) error
}

func (u *upgrading) run(format uint64) error {
	if format < 3 {
		if err := u.write(upgradeTo3); err != nil {
			return err
		}
	}
	var parts partitions
	err := u.read(func(from *stateTx) (err error) {
		parts, err = readPartitions(from)
		return err
	})
	if err != nil {
		return err
	}
	for i, p := range parts {
		if err := u.partition(p, i+1 < len(parts)); err != nil {
			return err
		}
	}
	return u.write(func(_ *stateTx, to sink) error {
		return to.put(tableID{table: tableMeta}, metaFormat, seqKey(stateVersion))
	})
}

// upgradeReads is how many pages are read at once: a disk has them as soon as one, and nothing else is there to do.
const upgradeReads = 16

// partition writes what a partition of format 3 lacks: its messages by their states, how far their times and those of
// their ids part, and when it is sealed a filter of this format.
func (u *upgrading) partition(p *partition, sealed bool) error {
	states, err := u.states(p, sealed)
	var f *filter
	var was [][]byte
	if err == nil && sealed {
		f, was, err = u.filter(p)
	}
	if err != nil {
		return err
	}
	return u.write(func(_ *stateTx, to sink) error {
		for _, key := range states {
			if err := to.put(p.table(tableStates), key, nil); err != nil {
				return err
			}
		}
		if f != nil {
			if err := replaceFilter(to, p.table(tableFilters), was, f); err != nil {
				return err
			}
		}
		return to.put(tableID{table: tablePartitions}, p.key(), appendPartition(nil, p))
	})
}

// states gives the keys of a partition's messages by their states, in order, and notes how far times part.
func (u *upgrading) states(p *partition, sealed bool) (states [][]byte, err error) {
	err = u.read(func(from *stateTx) error {
		if err := readTable(context.Background(), from, p.table(tableMessages), upgradeReads); err != nil {
			return err
		}
		first := true
		return from.scan(p.table(tableMessages), nil, nil, false, func(id, value []byte) error {
			g, err := glanceAt(value)
			p.lag.add(statemachine.ID(id), g.acceptedAt, first)
			first = false
			if inStates(g.state, sealed) {
				states = append(states, appendStateKey(nil, g.state, statemachine.ID(id)))
			}
			return err
		})
	})
	slices.SortFunc(states, bytes.Compare)
	return states, err
}

// filter makes a partition's, and gives the keys of what is stored of that of the earlier format.
func (u *upgrading) filter(p *partition) (f *filter, was [][]byte, err error) {
	err = u.read(func(from *stateTx) error {
		m, err := readStateMeta(from)
		if err != nil {
			return err
		}
		f = newFilter(blocksFor(m.partition))
		for _, index := range filteredIndexes {
			err := readTable(context.Background(), from, p.table(index.table), upgradeReads)
			if err == nil {
				err = f.addKeys(from, p, index.table, nil)
			}
			if err != nil {
				return err
			}
		}
		return from.scan(p.table(tableFilters), nil, nil, false, func(key, _ []byte) error {
			was = append(was, slices.Clone(key))
			return nil
		})
	})
	return f, was, err
}

func replaceFilter(to sink, id tableID, was [][]byte, f *filter) error {
	for _, key := range was {
		if err := to.delete(id, key); err != nil {
			return err
		}
	}
	for at, block := range f.blocks() {
		if block == nil {
			continue
		}
		if err := to.put(id, at.key(), block); err != nil {
			return err
		}
	}
	return nil
}

// upgradeOpened gives a state file that was just opened, once it is of this format.
func upgradeOpened(db *bbolt.DB, file string) (*bbolt.DB, error) {
	if err := upgradeState(db, file, nil); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// upgradeTo3 writes what makes a projection of format 2 one of format 3: those that wait for a retry
// stand by priority first, and what waits is counted by priority. It takes as long as the queue is.
func upgradeTo3(from *stateTx, to sink) error {
	counts := make(map[string]*queueCounts)
	err := from.scan(tableID{table: tableSizes}, []byte{sizeQueue}, nil, false, func(key, _ []byte) error {
		counts[string(key[1:])] = new(queueCounts)
		return nil
	})
	for smsc, c := range counts {
		if err == nil {
			err = upgradeQueue(from, to, smsc, c)
		}
		if err == nil {
			err = to.put(tableID{table: tableSizes}, sizeKey(sizeQueue, smsc), appendQueueCounts(nil, c))
		}
	}
	if err != nil {
		return err
	}
	return to.put(tableID{table: tableMeta}, metaFormat, seqKey(3))
}

func upgradeQueue(from *stateTx, to sink, smsc string, c *queueCounts) error {
	prefix := appendKeyPart(nil, smsc)
	err := from.scan(tableID{table: tableQueue}, prefix, nil, false, func(key, value []byte) error {
		e, ok := queueEntry(tableQueue, smsc, key, value)
		if !ok {
			return errMalformed
		}
		c.change(&e, 1)
		return nil
	})
	if err != nil {
		return err
	}
	id := tableID{table: tableDelayed}
	var was [][]byte
	var entries []statemachine.QueueEntry
	err = from.scan(id, prefix, nil, false, func(key, value []byte) error {
		e, ok := queueEntryOf2(smsc, key[len(prefix):], value)
		if !ok {
			return errMalformed
		}
		c.change(&e, 1)
		was, entries = append(was, slices.Clone(key)), append(entries, e)
		return nil
	})
	for _, key := range was {
		if err == nil {
			err = to.delete(id, key)
		}
	}
	for i := range entries {
		if err == nil {
			_, key := appendQueueKey(nil, &entries[i])
			err = to.put(id, key, []byte(entries[i].Message))
		}
	}
	return err
}

// queueEntryOf2 reads a key of delayed, behind its SMSC, as it was in format 2: the time, and what a key of queue has.
func queueEntryOf2(smsc string, rest, value []byte) (e statemachine.QueueEntry, ok bool) {
	if len(rest) != 8+placeSize {
		return e, false
	}
	e, ok = readPlace(smsc, rest[8:], value)
	e.NotBefore = fromKeyNanos(rest)
	return e, ok
}
