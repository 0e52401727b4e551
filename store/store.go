package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

// Store is an open data_dir. Its methods may be called from any goroutine.
type Store struct {
	cfg      Config
	lock     *os.File
	log      *segmentLog
	journal  journal // log, as all use it who only read and append
	keys     *keyring
	baseMu   sync.Mutex
	base     base // while it is folded forward
	retiring retiring
	state    *bbolt.DB  // nil: read-only, and there is none
	over     []*overlay // what a read-only store folded in memory; else nil
	rebuilt  bool       // state.db was missing, or of an earlier format

	intake      *intake
	waiters     sync.Pool // of *waiter that wait for nothing
	feed        feed
	recent      recent
	applier     *applier
	filters     *filters
	rulesMu     sync.Mutex // one SetRules at a time
	restoreMu   sync.Mutex
	backup      string       // that data_dir is, until Restore has ended; "" = none
	reopenAfter int64        // pages
	stateUse    sync.RWMutex // held for reading by who uses state's file for long, not to be opened again meanwhile
	applyMu     sync.Mutex   // held while a batch is published; whoever else holds it sees the state stand still

	head     atomic.Pointer[Head]
	end      atomic.Uint64            // seq of the last durable record
	applied  atomic.Uint64            // seq of the last record that whoever reads the state sees applied
	settled  atomic.Uint64            // seq of the last record in state.db
	wanted   atomic.Uint64            // up to where a query waits
	settling atomic.Uint64            // up to where somebody waits for state.db
	putBacks atomic.Uint64            // batches that put a part into the queue where it stood before
	kick     chan struct{}            // something for the applier
	changed  broadcast                // at each batch of the applier, and when it cannot go on
	judged   judged                   // what came of records that somebody waits for
	blocked  atomic.Pointer[obstacle] // what keeps the applier from going on; nil = nothing
	stuck    atomic.Bool              // and from folding, not only from writing what is folded
	commits  turns                    // groups of the writer
	folds    turns                    // batches of the applier
	writes   turns                    // of what it folded, to state.db
	copying  atomic.Int32             // copies of state.db that are being made
	ended    chan struct{}            // closed when Run has ended
	ran      atomic.Bool
}

// Open opens data_dir for the daemon, and makes it when there is none. It waits for commands that read
// it at that moment, half a minute at most. After an error (ErrLocked, ErrNewerFormat, *DamagedError, the
// system's) nothing was changed, but for a commit that was cut short (ErrCutShort). Records that state.db lacks are applied by Run: all of them when it is not
// there, or of an earlier format, which is set aside. Close must be called.
func Open(cfg Config) (*Store, error) {
	s, err := open(cfg.withDefaults(), true)
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	return s, nil
}

// OpenReadOnly opens data_dir for reading while no daemon has it (ErrLocked when one does; ErrNoStore
// when there is nothing; ErrCutShort when Open has to set a commit aside first). Nothing is written: what state.db lacks is folded in memory, all of the log
// if there is no state.db, or one of format 1. Run and what writes answer ErrReadOnly.
func OpenReadOnly(cfg Config) (*Store, error) {
	s, err := open(cfg.withDefaults(), false)
	if err != nil {
		return nil, fmt.Errorf("store: open read-only: %w", err)
	}
	return s, nil
}

func open(cfg Config, write bool) (s *Store, err error) {
	if write {
		if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
			return nil, err
		}
	}
	s = newStore(cfg)
	if s.lock, err = lockDir(cfg.Dir, !write); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = ErrNoStore
		}
		return nil, err
	}
	if write && cfg.Unsynced {
		err = s.markUnsynced()
	} else {
		err = s.checkUnsynced()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if write {
		err = s.removeUnfinished()
	}
	if err == nil {
		err = s.openFiles(write)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.setEnd()
	return s, s.begin(write)
}

// removeUnfinished removes what is left of a state file that was being written anew when the process ended (Compact,
// Rebuild): it may be as large as the file itself.
func (s *Store) removeUnfinished() error {
	for _, file := range []string{stateFile, baseFile} {
		err := os.Remove(filepath.Join(s.cfg.Dir, file+tmpSuffix))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// setEnd takes the log's end for what is durable.
func (s *Store) setEnd() {
	s.end.Store(s.log.last())
	s.head.Store(&Head{s.log.last(), s.log.chain.head, s.log.lastAt})
}

func newStore(cfg Config) *Store {
	return &Store{
		cfg: cfg, intake: newIntake(), kick: make(chan struct{}, 1), ended: make(chan struct{}), filters: new(filters),
		reopenAfter: reopenPages,
	}
}

// openFiles opens what is there and checks that it fits together before it makes what is missing.
func (s *Store) openFiles(write bool) error {
	s.keys = newKeyring(filepath.Join(s.cfg.Dir, keysDir))
	if err := s.readMarker(); err != nil {
		return err
	}
	hasState, err := s.checkDir(write)
	if err != nil {
		return err
	}
	if write {
		if err := s.keys.check(checkedKeys); err != nil {
			return err
		}
	}
	if hasState {
		if s.state, err = openState(s.cfg.Dir, write); err != nil {
			return err
		}
	}
	least, err := s.cursor()
	if err != nil {
		return err
	}
	if s.log, err = openLog(s.cfg.Dir, write, s.cfg.SegmentRecords, least); err != nil {
		return err
	}
	s.journal = s.log
	if s.log.last() > 0 {
		s.keys.least = uint64(s.log.lastAt.Unix()) + 1
	}
	older, err := s.checkState()
	if err != nil {
		return err
	}
	if write {
		s.log.unsynced = s.cfg.Unsynced
		if err := s.log.begin(); err != nil {
			return err
		}
		if s.backup != "" {
			s.log.restore(s.backup)
		}
	}
	if older > 0 {
		if err := s.setAside(older, write); err != nil {
			return err
		}
	}
	switch {
	case s.state == nil:
		return s.beginState(write)
	case write:
		return upgradeState(s.state, stateFile, s.cfg.OnUpgrade)
	}
	return nil
}

// beginState makes a state.db that is to be filled, or finds what a store that does not write may read instead.
func (s *Store) beginState(write bool) (err error) {
	s.rebuilt = s.log.last() > 0
	if write {
		s.state, err = s.beginFold(filepath.Join(s.cfg.Dir, stateFile), uint64(s.cfg.PartitionMessages), false)
	} else {
		var there bool
		if there, err = exists(s.basePath()); there && err == nil {
			s.state, err = openStateFile(s.basePath(), baseFile, bbolt.Options{ReadOnly: true})
		}
	}
	if s.state == nil || err != nil {
		return err
	}
	_, err = s.checkState()
	return err
}

// checkDir looks at what data_dir has. It makes the directories of a new store.
func (s *Store) checkDir(write bool) (hasState bool, err error) {
	have := make(map[string]bool)
	for _, name := range []string{logDir, keysDir, stateFile} {
		if have[name], err = exists(filepath.Join(s.cfg.Dir, name)); err != nil {
			return false, err
		}
	}
	switch {
	case !have[logDir] && have[stateFile]:
		return false, &DamagedError{File: logDir, Err: errors.New("the log is missing, state.db is there")}
	case !have[logDir] && !write:
		return false, ErrNoStore
	case !have[logDir]:
		return false, s.makeDirs()
	case !have[keysDir]:
		return false, errNoKeys
	}
	return have[stateFile], nil
}

var errNoKeys = &DamagedError{File: keysDir, Err: errors.New("the keys of the texts are missing")}

// makeDirs makes the log's last: where it is, the keys' is.
func (s *Store) makeDirs() error {
	if err := makeDir(filepath.Join(s.cfg.Dir, keysDir)); err != nil {
		return err
	}
	return makeDir(filepath.Join(s.cfg.Dir, logDir))
}

// cursor is the last record that state.db has seen; 0 = there is none.
func (s *Store) cursor() (uint64, error) {
	if s.state == nil {
		return 0, nil
	}
	m, err := stateMetaOf(s.state)
	return m.cursor, err
}

// checkState refuses a state.db that has seen more than the log holds. older is its format when that is an
// earlier one, else 0.
func (s *Store) checkState() (older uint64, err error) {
	if s.state == nil {
		return 0, nil
	}
	m, err := stateMetaOf(s.state)
	if err != nil {
		return 0, err
	}
	if m.cursor > s.log.last() {
		return 0, s.endsBefore(m.cursor)
	}
	if m.format < upgradableState {
		return m.format, nil
	}
	if err := s.checkBeginning(m); err != nil {
		return 0, err
	}
	s.applied.Store(m.cursor)
	s.settled.Store(m.cursor)
	return 0, nil
}

func (s *Store) endsBefore(cursor uint64) error {
	return &DamagedError{File: logDir, Seq: s.log.last() + 1, Err: fmt.Errorf("ends before seq %d, which state.db has", cursor)}
}

// checkBeginning refuses a log without records that a projection did not see dropped.
func (s *Store) checkBeginning(m stateMeta) error {
	from := max(m.logFrom, 1)
	if segments := s.log.from(0); len(segments) > 0 && from < segments[0].first {
		return segments[0].damaged(from, fmt.Errorf("records %d to %d are missing before it", from, segments[0].first-1))
	}
	return nil
}

// setAside leaves a state.db of an earlier format alone, under another name if this store writes: what it has
// follows from the log.
func (s *Store) setAside(format uint64, write bool) error {
	err := s.state.Close()
	s.state = nil
	if err != nil || !write {
		return err
	}
	path := filepath.Join(s.cfg.Dir, stateFile)
	if err := os.Rename(path, fmt.Sprintf("%s.v%d", path, format)); err != nil {
		return err
	}
	return syncDir(s.cfg.Dir)
}

// begin makes what follows from what was opened.
func (s *Store) begin(write bool) error {
	if !write {
		if err := s.foldTail(); err != nil {
			return errors.Join(err, s.Close())
		}
		return nil
	}
	s.filters.dir = s.cfg.Dir
	s.applier = newApplier(s.state, stateFile, s.filters, s.fold(), s.viewRecord)
	s.useState(s.state)
	return nil
}

// useState makes a state.db that was opened for writing the one that is read and written.
func (s *Store) useState(db *bbolt.DB) {
	db.NoSync, db.NoGrowSync = s.cfg.Unsynced, s.cfg.Unsynced
	s.state, s.applier.db, s.applier.allocated = db, db, 0
}

func (s *Store) fold() statemachine.Fold { return statemachine.Fold{Decode: s.cfg.Decode} }

func (s *Store) readOnly() bool { return s.applier == nil }

// Run writes and applies until ctx is done and all that was taken is durable and applied, or until an
// error after which nothing can be trusted (a failed fsync, a damaged file): then every caller that
// waits got that error, and the process should end. It is called once. What cannot be applied for want of
// room, or of a key, when ctx is done is left to the next Run: all of it is durable.
func (s *Store) Run(ctx context.Context) error {
	if s.readOnly() {
		return fmt.Errorf("store: run: %w", ErrReadOnly)
	}
	if s.ran.Swap(true) {
		return fmt.Errorf("store: run: %w", ErrClosed)
	}
	defer close(s.ended)
	written := make(chan struct{})
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		<-ctx.Done()
		s.intake.close()
		return nil
	})
	g.Go(func() error {
		defer close(written)
		return newWriter(s, stop).run()
	})
	g.Go(func() error { return s.applyAll(written) })
	g.Go(func() error { return s.log.hashSegments(written) })
	g.Go(func() error {
		s.readFilters(ctx)
		return nil
	})
	if err := g.Wait(); err != nil {
		return fmt.Errorf("store: run: %w", err)
	}
	return nil
}

// Close closes the files and gives the lock back. Run must have ended.
func (s *Store) Close() error {
	var err error
	s.intake.close()
	s.intake.refuse(s.intake.take(nil), ErrClosed) // those that came when nobody ran
	if s.log != nil && s.applier != nil && s.cfg.Unsynced {
		err = s.finishUnsynced()
	}
	if s.log != nil {
		err = errors.Join(err, s.log.close())
	}
	if s.state != nil {
		err = errors.Join(err, s.state.Close())
	}
	if s.base.db != nil {
		err = errors.Join(err, s.base.db.Close())
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	s.log, s.state, s.lock, s.base = nil, nil, nil, base{}
	if err != nil {
		return fmt.Errorf("store: close: %w", err)
	}
	return nil
}
