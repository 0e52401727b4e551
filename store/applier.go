package store

import (
	"time"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

const (
	// applyBatch bounds a batch, and with it the applier's memory and how long a query waits at most.
	applyBatch = 16384
	// A pause of twice what the last batch took is kept before the next while nobody waits and little has
	// come, within these bounds: a steady trickle is not written one record at a time, and a slow disk
	// is left to the log.
	minApplyPause = 10 * time.Millisecond
	maxApplyPause = 100 * time.Millisecond
	// obstaclePause is how long to wait before what failed for want of room or of a key is tried again.
	obstaclePause = time.Second
	// applyStep is how many records are taken at a time, between looks at who waits.
	applyStep = 256
)

// applier brings a state.db up to the log. One goroutine uses it.
type applier struct {
	db     *bbolt.DB
	file   string // as errors name it
	fold   statemachine.Fold
	record func(uint64) (statemachine.Record, error)

	cursor  uint64
	parts   partitions // nil: to be read again
	filters *filters
	rules   rulesInForce
	cache   messageCache
	putBack bool // the last batch put a part into the queue where it stood before
	batch   *batch
	eff     statemachine.Effects // of one record after the other
}

func newApplier(db *bbolt.DB, file string, filters *filters, fold statemachine.Fold, record func(uint64) (statemachine.Record, error)) *applier {
	a := &applier{db: db, file: file, filters: filters, fold: fold, record: record}
	a.batch = newBatch(&a.cache, record)
	return a
}

// run folds one batch and commits it. next gives records from a seq on, none to end the batch. folded, if not nil, is
// shown what came of each, as of a Witness. After an error nothing has changed.
func (a *applier) run(next func(seq uint64) ([]statemachine.Record, error), folded func(statemachine.Record, *statemachine.Effects)) error {
	b := a.batch
	err := guard(a.file, func() error {
		known := a.filters.now()
		tx, err := a.db.Begin(true)
		if err != nil {
			return err
		}
		defer tx.Rollback() // of no effect once it was committed
		state := newStateTx(tx, nil)
		state.filters = known
		if err := a.begin(state); err != nil {
			return err
		}
		if err = a.foldAll(b, next, folded); err != nil {
			return err
		}
		if err := b.flush(state); err != nil {
			return err
		}
		if err := forgetInbound(state, state, b.at); err != nil {
			return err
		}
		return tx.Commit()
	})
	if err != nil {
		a.parts, a.rules, a.cache = nil, rulesInForce{}, messageCache{}
		a.filters.reset()
		return diskFull(err)
	}
	a.end(b)
	return nil
}

// foldAll folds what next gives.
func (a *applier) foldAll(b *batch, next func(seq uint64) ([]statemachine.Record, error), folded func(statemachine.Record, *statemachine.Effects)) error {
	for !b.full() {
		records, err := next(b.cursor + 1)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, rec := range records {
			if err := b.step(a.fold, rec, &a.eff); err != nil {
				return stateDamaged(rec.Seq, err)
			}
			if folded != nil {
				folded(rec, &a.eff)
			}
		}
	}
	return nil
}

func (a *applier) begin(tx *stateTx) (err error) {
	if a.parts == nil {
		if a.parts, err = readPartitions(tx); err != nil {
			return err
		}
	}
	return a.batch.begin(tx, a.parts, a.rules)
}

// end takes over what a committed batch knows.
func (a *applier) end(b *batch) {
	a.cursor, a.parts, a.rules, a.putBack = b.cursor, b.parts, b.rules, b.putBack
	a.cache.add(b.messages, b.octets)
}

// applyAll applies until written is closed and nothing is left, or nothing can be applied for now.
func (s *Store) applyAll(written <-chan struct{}) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		if s.applied.Load() == s.end.Load() {
			select {
			case <-s.kick:
				continue
			case <-written:
				if s.applied.Load() == s.end.Load() {
					return nil
				}
			}
		}
		s.gather(pause, written)
		began := time.Now()
		err := s.applyBatch()
		if passing(err) {
			s.obstruct(err)
			pause.Reset(obstaclePause)
			select {
			case <-pause.C:
			case <-written:
				return nil // what is durable is applied when the store is opened again
			}
			pause.Reset(0)
			continue
		}
		if err != nil {
			return err
		}
		s.obstruct(nil)
		pause.Reset(min(max(2*time.Since(began), minApplyPause), maxApplyPause))
	}
}

// gather waits for more to come since the last batch, unless somebody waits for what there is.
func (s *Store) gather(pause *time.Timer, written <-chan struct{}) {
	for s.wanted.Load() <= s.applied.Load() && s.end.Load()-s.applied.Load() < applyBatch/2 {
		select {
		case <-pause.C:
			return
		case <-s.kick:
		case <-written:
			return
		}
	}
}

func (s *Store) applyBatch() error {
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	var witness Witness
	if s.cfg.Witness != nil {
		witness = s.cfg.Witness()
	}
	folded := func(rec statemachine.Record, eff *statemachine.Effects) {
		s.judged.add(rec, eff)
		if witness != nil {
			witness.Folded(rec, eff)
		}
	}
	if err := s.applier.run(s.nextRecords(s.applied.Load()), folded); err != nil {
		return err
	}
	if witness != nil {
		witness.Committed()
	}
	if s.applier.putBack {
		s.putBacks.Add(1)
	}
	s.applied.Store(s.applier.cursor)
	s.changed.send()
	return nil
}

// nextRecords gives a batch its records: all there are, but not more than a batch takes, and no more once
// what a query waits for is in.
func (s *Store) nextRecords(start uint64) func(uint64) ([]statemachine.Record, error) {
	room := make([]statemachine.Record, 0, applyStep)
	return func(seq uint64) (records []statemachine.Record, err error) {
		end := s.end.Load()
		if seq > end || seq > start+applyBatch {
			return nil, nil
		}
		if want := s.wanted.Load(); want > start && seq > want {
			return nil, nil
		}
		if records = s.feed.take(seq, room); len(records) > 0 {
			return records, nil
		}
		err = s.entries(seq, func(e entry) (bool, error) {
			if e.Seq > end {
				return false, nil
			}
			records = append(records, e.Record)
			return len(records) < applyStep, nil
		})
		return records, err
	}
}
