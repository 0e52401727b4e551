package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// stateMmap is the address space that a state file is given beyond what it has, so that growing rarely has to
// wait for readers.
const stateMmap = 4 << 30

// openState opens state.db.
func openState(dir string, write bool) (*bbolt.DB, error) {
	options := bbolt.Options{ReadOnly: true}
	if write {
		options = stateOptions(false)
	}
	return openStateFile(filepath.Join(dir, stateFile), stateFile, options)
}

// openStateFile opens state.db or one like it. For writing, its pages are looked at first when it is no larger
// than a segment that is: what is wrong with it is found before anything is appended to the log.
func openStateFile(path, file string, options bbolt.Options) (*bbolt.DB, error) {
	if !options.ReadOnly {
		used, err := checkHeader(path, file)
		if err == nil && used <= reopenBytes {
			err = checkPages(path, file, false)
		}
		if err != nil {
			return nil, err
		}
		options.InitialMmapSize += int(used)
	}
	db, err := openBolt(path, file, options)
	if err != nil {
		return nil, err
	}
	err = guard(file, func() error {
		return db.View(func(tx *bbolt.Tx) error {
			state := newStateTx(tx)
			version, ok := seqOf(state.get(tableID{table: tableMeta}, metaFormat))
			switch {
			case !ok:
				return &DamagedError{File: file, Err: errors.New("not esmed's")}
			case version > stateVersion:
				return ErrNewerFormat
			}
			if m, err := readStateMeta(state); err != nil || m.partition == 0 {
				return &DamagedError{File: file, Err: errors.New("its meta table is not whole")}
			}
			return nil
		})
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// stateOptions are for writing. A scratch file is not made durable.
func stateOptions(scratch bool) bbolt.Options {
	options := bbolt.Options{InitialMmapSize: stateMmap}
	if scratch {
		options.NoSync, options.NoGrowSync, options.NoFreelistSync, options.PageSize = true, true, true, scratchPage
	}
	return options
}

// scratchPage is the page size of a scratch file: bbolt writes each page by a call of its own.
const scratchPage = 16 << 10

// createState makes a state.db that holds nothing yet. A scratch one is not made durable.
func createState(path string, o origin, scratch bool) (*bbolt.DB, error) {
	return createBolt(path, filepath.Base(path), stateOptions(scratch), func(tx *bbolt.Tx) error {
		return o.begin(newStateTx(tx))
	})
}

func stateMetaOf(db *bbolt.DB) (m stateMeta, err error) {
	err = guard(stateFile, func() error {
		return db.View(func(tx *bbolt.Tx) error {
			m, err = readStateMeta(newStateTx(tx))
			return err
		})
	})
	return m, stateDamaged(0, err)
}

// stateDamaged says of which file a value could not be decoded.
func stateDamaged(seq uint64, err error) error {
	var already *DamagedError
	if errors.Is(err, errMalformed) && !errors.As(err, &already) {
		return &DamagedError{File: stateFile, Seq: seq, Err: err}
	}
	return err
}

// view reads the state in one short transaction.
func (s *Store) view(fn func(*stateTx) error) error {
	return stateDamaged(0, guard(stateFile, func() error {
		tx, end, err := s.beginView()
		if err != nil {
			return err
		}
		defer end()
		return fn(tx)
	}))
}

// beginView begins what view does. While it lasts the applier cannot show what it has folded, and nothing else of the
// state is read by who has it. end is called once.
func (s *Store) beginView() (tx *stateTx, end func(), err error) {
	known := s.filters.now()
	overs, unlock := s.over, func() {}
	if s.applier != nil {
		l := &s.applier.layers
		l.mu.RLock()
		overs, unlock = l.all, l.mu.RUnlock
	}
	var bolt *bbolt.Tx
	end = unlock
	if s.state != nil {
		if bolt, err = s.state.Begin(false); err != nil {
			unlock()
			return nil, nil, err
		}
		end = func() {
			bolt.Rollback()
			unlock()
		}
	}
	tx = newStateTx(bolt, overs...)
	tx.filters = known
	return tx, end, nil
}

// viewWritten reads the state as the file has it, and may take its time: what is folded meanwhile is shown and
// written, only the file cannot use room again that becomes free.
func (s *Store) viewWritten(fn func(*stateTx) error) error {
	if s.readOnly() {
		return s.view(fn)
	}
	s.stateUse.RLock()
	defer s.stateUse.RUnlock()
	known := s.filters.now()
	known.behind = true
	return stateDamaged(0, guard(stateFile, func() error {
		return s.state.View(func(tx *bbolt.Tx) error {
			state := newStateTx(tx)
			state.filters = known
			return fn(state)
		})
	}))
}

// foldTail folds in memory what the log holds behind state.db's cursor.
func (s *Store) foldTail() error {
	over := newOverlay()
	if s.state == nil { // all is in what lies over it
		s.over = []*overlay{over}
		o, err := s.origin(uint64(s.cfg.PartitionMessages))
		if err != nil {
			return err
		}
		if err := o.begin(overlaySink{over}); err != nil {
			return err
		}
	}
	if err := s.upgradeOver(over); err != nil {
		return err
	}
	err := s.view(func(tx *stateTx) error {
		b, err := beginBatch(tx, s.viewRecord)
		if err != nil {
			return err
		}
		fold, applied := s.fold(), b.cursor
		var eff statemachine.Effects
		err = s.entries(b.cursor+1, func(e entry) (bool, error) {
			return true, b.step(fold, e.Record, &eff)
		})
		if err != nil || b.cursor == applied {
			return err
		}
		if err := b.freeze(); err != nil {
			return err
		}
		s.over = append(slices.Clip(s.over), b.over)
		return nil
	})
	s.applied.Store(s.end.Load())
	return err
}

// upgradeOver lays over a state.db of an earlier format what makes it one of this.
func (s *Store) upgradeOver(over *overlay) error {
	var m stateMeta
	err := s.view(func(tx *stateTx) (err error) {
		m, err = readStateMeta(tx)
		return err
	})
	if err != nil || m.format == stateVersion {
		return err
	}
	up := upgrading{
		read: s.view,
		write: func(fn func(*stateTx, sink) error) error {
			return s.view(func(tx *stateTx) error { return fn(tx, overlaySink{over}) })
		},
	}
	err = up.run(m.format)
	s.over = []*overlay{over}
	return err
}

// viewRecord is statemachine.View's Record. Of the records that are dropped it has the rules in force at the
// first that is left.
func (s *Store) viewRecord(seq uint64) (statemachine.Record, error) {
	e, err := s.entry(seq)
	if !errors.Is(err, ErrNotFound) {
		return e.Record, err
	}
	var first *segment
	var head segmentHead
	for err = errRetired; errors.Is(err, errRetired); { // it may go while it is looked at
		first = s.log.from(0)[0]
		head, err = first.head()
	}
	switch {
	case err != nil:
		return e.Record, err
	case seq >= first.first:
		return e.Record, ErrNotFound
	}
	if at, rules, err := head.rulesInForce(); rules == nil || at != seq || err != nil {
		return e.Record, statemachine.ErrGone
	}
	r, err := decodeRecord(seq, head.rules[len(seqKey(seq)):])
	return r.Record, err
}

// entry reads one record of the log, with its texts unsealed.
func (s *Store) entry(seq uint64) (found entry, err error) {
	err = s.entries(seq, func(e entry) (bool, error) {
		found = e
		return false, nil
	})
	if err == nil && found.Seq != seq {
		err = ErrNotFound
	}
	return found, err
}

// entries reads the log from seq on, with texts unsealed.
func (s *Store) entries(seq uint64, fn func(entry) (more bool, err error)) error {
	return s.journal.readFrom(seq, func(seq uint64, value []byte) (bool, error) {
		e, err := s.decode(seq, value)
		if err != nil {
			return false, err
		}
		return fn(e)
	})
}

// decode reads a record and unseals its texts.
func (s *Store) decode(seq uint64, value []byte) (entry, error) {
	e, err := decodeRecord(seq, value)
	if err != nil {
		return e, &DamagedError{File: s.log.fileOf(seq), Seq: seq, Err: err}
	}
	if e.key == 0 {
		return e, nil
	}
	key, err := s.keys.named(e.key)
	if err != nil {
		return e, fmt.Errorf("seq %d: %w", seq, err)
	}
	e.unseal(key)
	return e, nil
}
