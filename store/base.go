package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// baseFile is where a fold begins once records are dropped: the projection as it followed from the log up to
// some record. Counters of hours that are long over, the partitions' bounds and what became of receipts
// for messages that are gone cannot be had from what is left; with it they need not be, and a fold gives
// the same, octet for octet, as one of all records would. It is folded forward from the log itself, never
// copied from state.db, so that Verify still has a second opinion of every row; but where the fold would not
// decide as it did once, since another parser read then or a text is gone, there is no such opinion, and it is
// copied. It goes forward no further than it must: over the record that drops the next segment, behind which
// no fold asks for that one's records; and before a key of texts is destroyed, over all that it sealed.
const baseFile = "base.db"

// origin is what a projection begins with.
type origin struct {
	partition uint64 // messages a partition takes
	cursor    uint64 // of the last record before; 0 = none
	rules     uint64 // seq of those in force then
}

// origin is where a fold begins that has no base: at the first segment, with the rules in its head.
func (s *Store) origin(partition uint64) (o origin, err error) {
	o.partition = partition
	segments := s.log.from(0)
	if len(segments) == 0 || segments[0].first == 1 {
		return o, nil
	}
	head, err := segments[0].head()
	if err != nil {
		return o, err
	}
	o.cursor = head.first - 1
	o.rules, _, err = head.rulesInForce()
	return o, err
}

// begin writes what a projection begins with.
func (o origin) begin(to sink) error {
	id := tableID{table: tableMeta}
	err := errors.Join(to.put(id, metaFormat, seqKey(stateVersion)), to.put(id, metaPartition, seqKey(o.partition)),
		to.put(id, metaPartitionCheck, seqKey(^o.partition)))
	if o.cursor > 0 {
		err = errors.Join(err, to.put(id, metaCursor, seqKey(o.cursor)), to.put(id, metaRules, seqKey(o.rules)),
			to.put(id, metaLogFrom, seqKey(o.cursor+1)))
	}
	if o.rules > 0 {
		err = errors.Join(err, to.put(id, metaRuled, seqKey(o.rules)))
	}
	return err
}

func (s *Store) basePath() string { return filepath.Join(s.cfg.Dir, baseFile) }

// beginFold makes a state file at path that holds what a fold of the log begins with. A scratch one is not
// made durable.
func (s *Store) beginFold(path string, partition uint64, scratch bool) (*bbolt.DB, error) {
	s.baseMu.Lock()
	defer s.baseMu.Unlock()
	there, err := exists(s.basePath())
	if err != nil {
		return nil, err
	}
	if there {
		if err := s.checkBase(); err != nil {
			return nil, err
		}
		db, err := copyState(s.basePath(), path, scratch)
		if err != nil {
			return nil, err
		}
		return upgradeOpened(db, filepath.Base(path))
	}
	o, err := s.origin(partition)
	if err != nil {
		return nil, err
	}
	return createState(path, o, scratch)
}

// checkBase refuses a base.db that a fold of this version cannot go on from, or not with this log.
func (s *Store) checkBase() error {
	if s.base.db != nil {
		return nil
	}
	db, err := openStateFile(s.basePath(), baseFile, bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	m, err := stateMetaOf(db)
	switch {
	case err != nil:
	case m.format < upgradableState:
		err = &DamagedError{File: baseFile, Err: fmt.Errorf("is of format %d, and the records that it was made of are dropped", m.format)}
	default:
		err = s.checkBeginning(m)
	}
	return errors.Join(err, db.Close())
}

// copyState copies a state file that nobody writes at the moment, and opens the copy. It is there whole or
// not at all.
func copyState(from, path string, scratch bool) (*bbolt.DB, error) {
	if err := copyFile(from, path+tmpSuffix, !scratch); err != nil {
		return nil, err
	}
	if err := os.Rename(path+tmpSuffix, path); err != nil {
		return nil, err
	}
	if !scratch {
		if err := syncDir(filepath.Dir(path)); err != nil {
			return nil, err
		}
	}
	return openBolt(path, filepath.Base(path), stateOptions(scratch))
}

// copyFile copies a file to a name where there is none, or what a crash left.
func copyFile(from, to string, sync bool) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil && sync {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// base folds the log into base.db. It is used by one goroutine, under Store.baseMu.
type base struct {
	db      *bbolt.DB
	applier *applier
}

// openBase opens base.db, and makes it when there is none.
func (s *Store) openBase() (err error) {
	if s.base.db != nil {
		return nil
	}
	there, err := exists(s.basePath())
	if err != nil {
		return err
	}
	var db *bbolt.DB
	if there {
		if db, err = openStateFile(s.basePath(), baseFile, stateOptions(false)); err == nil {
			db, err = upgradeOpened(db, baseFile)
		}
	} else {
		db, err = s.createBase()
	}
	if err != nil {
		return err
	}
	s.base = base{db, newApplier(db, baseFile, new(filters), s.fold(), s.readAgain)}
	return nil
}

func (s *Store) createBase() (*bbolt.DB, error) {
	s.stateUse.RLock()
	meta, err := stateMetaOf(s.state)
	s.stateUse.RUnlock()
	if err != nil {
		return nil, err
	}
	o, err := s.origin(meta.partition)
	if err != nil {
		return nil, err
	}
	return createState(s.basePath(), o, false)
}

// forwardBase folds a batch more into base.db, unless it is as far as it must be. did says that it has, so that
// there may be more to do.
func (s *Store) forwardBase(ctx context.Context, enough func(stateMeta) bool) (did bool, err error) {
	s.baseMu.Lock()
	defer s.baseMu.Unlock()
	if err := s.openBase(); err != nil {
		return false, err
	}
	m, err := stateMetaOf(s.base.db)
	applied := s.applied.Load()
	if err != nil || enough(m) || m.cursor >= applied {
		return false, err
	}
	rules, err := readRulesRecord(m.rules, s.viewRecord)
	if err == nil && rules.rules != nil {
		err = s.foldsAsOnce(entry{Record: statemachine.Record{Fact: rules.rules}})
	}
	if err == nil {
		err = s.base.applier.run(s.recordsUpTo(applied, s.foldsAsOnce), nil)
	}
	if errors.Is(err, errOtherwise) {
		if err := s.settle(ctx); err != nil {
			return false, err
		}
		return true, s.copyBase(ctx)
	}
	if err != nil {
		return false, err
	}
	gone, err := firstFreeing(ctx, s.base.db, baseFile)
	if gone != nil && err == nil {
		err = gone.free(s.base.db, baseFile)
	}
	if err == nil && s.base.applier.allocated >= s.reopenAfter { // see reopenPages
		err = s.base.db.Close()
		s.base = base{}
	}
	return true, err
}

// errOtherwise says of a record that a fold would not decide about it as it did once.
var errOtherwise = errors.New("was decided by another parser, or its text is gone")

// foldsAsOnce is errOtherwise for what a fold of today may decide otherwise.
func (s *Store) foldsAsOnce(e entry) error {
	rules, ok := e.Fact.(*statemachine.Rules)
	if ok && rules.Parser != s.cfg.Parser || e.receptionWithoutText() {
		return errOtherwise
	}
	return nil
}

// readAgain is viewRecord for base.db.
func (s *Store) readAgain(seq uint64) (statemachine.Record, error) {
	if e, err := s.entry(seq); err == nil && e.receptionWithoutText() {
		return e.Record, errOtherwise
	}
	return s.viewRecord(seq)
}

// copyBase puts a copy of state.db in the place of base.db. Like a backup it makes nobody wait.
func (s *Store) copyBase(ctx context.Context) error {
	err := s.base.db.Close()
	s.base = base{}
	if err != nil {
		return err
	}
	tmp := s.basePath() + tmpSuffix
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b := backup{s: s, ctx: ctx, dir: s.cfg.Dir, progress: func(BackupProgress) {}}
	if err := b.copyState(baseFile + tmpSuffix); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if err := os.Rename(tmp, s.basePath()); err != nil {
		return err
	}
	return syncDir(s.cfg.Dir)
}

// recordsUpTo gives an applier one batch of the log. check may refuse a record; nil takes all.
func (s *Store) recordsUpTo(end uint64, check func(entry) error) func(uint64) ([]statemachine.Record, error) {
	n := 0
	return func(seq uint64) (records []statemachine.Record, err error) {
		if seq > end || n >= applyBatch {
			return nil, nil
		}
		err = s.entries(seq, func(e entry) (bool, error) {
			if e.Seq > end {
				return false, nil
			}
			if check != nil {
				if err := check(e); err != nil {
					return false, err
				}
			}
			records = append(records, e.Record)
			return len(records) < applyStep, nil
		})
		n += len(records)
		return records, err
	}
}

// restsOn is the earliest record that a message or a row of the inbox rests on: those before it may be
// dropped. The greatest seq there is when there are none.
func restsOn(tx *stateTx) (seq uint64, err error) {
	seq = 1<<64 - 1
	parts, err := readPartitions(tx)
	for _, p := range parts {
		if p.messages > 0 {
			seq = min(seq, p.firstSeq)
		}
	}
	if err != nil {
		return seq, err
	}
	err = tx.scan(tableID{table: tableInboxBySeq}, nil, nil, false, func(key, _ []byte) error {
		if first := seqAtHead(key); len(first) > 0 {
			seq = min(seq, first[0])
		}
		return errStop
	})
	return seq, err
}
