package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// RebuildResult says what Rebuild made.
type RebuildResult struct {
	Records uint64 // folded: all that the log holds, or those behind base.db's
	Elapsed time.Duration
	// Older are the messages whose final state rests on a decision that was made when the parser was of another
	// version than Config.Parser, in their order. It was made again by this one.
	Older []statemachine.ID
}

// Rebuild makes state.db anew from the log, beside the one that is there, and then puts it in its place. No
// daemon may run (ErrLocked). Whatever ends it before, the old one stays. progress gets seqs and may be nil.
func Rebuild(ctx context.Context, cfg Config, progress func(done, total uint64)) (RebuildResult, error) {
	r, err := rebuild(ctx, cfg.withDefaults(), progress)
	if err != nil {
		return r, fmt.Errorf("store: rebuild: %w", diskFull(err))
	}
	return r, nil
}

func rebuild(ctx context.Context, cfg Config, progress func(done, total uint64)) (r RebuildResult, err error) {
	began := time.Now()
	s := newStore(cfg)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.openLogOnly(); err != nil {
		return r, err
	}
	path := filepath.Join(cfg.Dir, stateFile)
	a, err := s.beginAnew(path + tmpSuffix)
	if err != nil {
		return r, err
	}
	defer os.Remove(path + tmpSuffix) // of no effect once it was renamed
	for err == nil && a.cursor < s.log.last() {
		err = a.run(s.recordsUpTo(s.log.last(), nil), func(statemachine.Record, *statemachine.Effects) { r.Records++ })
		if progress != nil {
			progress(a.cursor, s.log.last())
		}
		err = errors.Join(err, ctx.Err())
	}
	if err == nil {
		r.Older, err = olderFinals(ctx, a.db, cfg.Parser)
	}
	if err = errors.Join(err, a.db.Close()); err != nil {
		return r, err
	}
	if err := os.Rename(path+tmpSuffix, path); err != nil {
		return r, err
	}
	r.Elapsed = time.Since(began)
	return r, syncDir(cfg.Dir)
}

// openLogOnly opens all but state.db.
func (s *Store) openLogOnly() (err error) {
	if s.lock, err = lockDir(s.cfg.Dir, false); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = ErrNoStore
		}
		return err
	}
	s.keys = newKeyring(filepath.Join(s.cfg.Dir, keysDir))
	if err := s.readMarker(); err != nil {
		return err
	}
	if there, err := exists(filepath.Join(s.cfg.Dir, logDir)); err != nil {
		return err
	} else if !there {
		return ErrNoStore
	}
	if there, err := exists(s.keys.dir); err != nil {
		return err
	} else if !there {
		return errNoKeys
	}
	before, err := s.metaBefore()
	if err == nil {
		_, err = lookAtLast(s.cfg.Dir, true, before.cursor) // so that a commit that was cut short is in nobody's way
	}
	if err != nil {
		return err
	}
	s.log, err = openLog(s.cfg.Dir, false, s.cfg.SegmentRecords, before.cursor)
	if err != nil {
		return err
	}
	s.journal = s.log
	if s.log.last() == 0 && before.cursor > 0 { // state.db is all that is left
		return s.endsBefore(before.cursor)
	}
	return nil
}

// metaBefore is what state.db tells of itself; nothing when there is none that can be read.
func (s *Store) metaBefore() (m stateMeta, err error) {
	old, err := openState(s.cfg.Dir, false)
	if err != nil {
		return m, nil
	}
	if m, err = stateMetaOf(old); err != nil {
		m = stateMeta{}
	}
	return m, old.Close()
}

// beginAnew makes an empty projection. It keeps the partitions' size of the one that is there, if it can be
// read.
func (s *Store) beginAnew(path string) (*applier, error) {
	before, err := s.metaBefore()
	if err != nil {
		return nil, err
	}
	db, err := s.beginFold(path, cmp.Or(before.partition, uint64(s.cfg.PartitionMessages)), false)
	if err != nil {
		return nil, err
	}
	return newApplier(db, stateFile, s.filters, s.fold(), s.viewRecord), nil
}

// olderFinals are the messages of a projection that nobody writes whose final state rests on a decision of
// another parser's.
func olderFinals(ctx context.Context, db *bbolt.DB, parser string) (ids []statemachine.ID, err error) {
	err = guard(stateFile, func() error {
		return db.View(func(tx *bbolt.Tx) error {
			state := newStateTx(tx)
			parts, err := readPartitions(state)
			for _, p := range parts {
				if err == nil {
					err = state.scan(p.table(tableMessages), nil, nil, false, func(_, value []byte) error {
						m, err := decodeMessage(value)
						if err != nil {
							return err
						}
						older, err := finalByOlder(state, m, parser)
						if older {
							ids = append(ids, m.ID)
						}
						return errors.Join(err, ctx.Err())
					})
				}
			}
			return err
		})
	})
	return ids, stateDamaged(0, err)
}

// finalByOlder looks for what made the parts final among the decisions about their message, newest first.
func finalByOlder(tx *stateTx, m *statemachine.Message, parser string) (bool, error) {
	reports := make(map[uint64]bool, len(m.Parts))
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Final() && p.Reported.Final {
			reports[p.Reported.Seq] = true
		}
	}
	for pos := m.LastDecision; len(reports) > 0 && pos != (statemachine.DecisionPos{}); {
		d, err := decisionAt(tx, pos)
		if errors.Is(err, statemachine.ErrGone) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if d.Verdict == statemachine.VerdictApplied && reports[d.Record] && d.Parser != parser {
			return true, nil
		}
		pos = d.Previous
	}
	return false, nil
}
