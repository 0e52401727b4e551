package store

import (
	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

const (
	// applyBatch bounds a batch, and with it the applier's memory and how long a query waits at most. As much waits
	// to be written at most, and as much is on its way.
	applyBatch = 8192
	// applyStep is how many records are taken at a time, between looks at who waits.
	applyStep = 256
)

// applier brings a state.db up to the log, a batch at a time. One goroutine folds with it and lays what it folded over
// the file, for all to see; meanwhile another may write what lay there before.
type applier struct {
	db     *bbolt.DB
	file   string // as errors name it
	fold   statemachine.Fold
	record func(uint64) (statemachine.Record, error)

	allocated int64 // pages of the file since it was opened; of who writes

	cursor  uint64     // seq of the last record that was folded
	parts   partitions // nil: to be read again
	filters *filters
	rules   rulesInForce
	cache   messageCache
	batch   *batch
	layers  layers
	eff     statemachine.Effects
}

func newApplier(db *bbolt.DB, file string, filters *filters, fold statemachine.Fold, record func(uint64) (statemachine.Record, error)) *applier {
	a := &applier{db: db, file: file, filters: filters, fold: fold, record: record}
	a.batch = newBatch(&a.cache, record)
	a.batch.fills = true
	return a
}

// run folds one batch and commits it. next gives records from a seq on, none to end the batch. folded, if not nil, is
// shown what came of each, as of a Witness. After an error nothing has changed.
func (a *applier) run(next func(seq uint64) ([]statemachine.Record, error), folded func(statemachine.Record, *statemachine.Effects)) error {
	b, err := a.foldBatch(next, folded)
	if err != nil {
		return err
	}
	a.layers.publish(b)
	if err := a.write(a.layers.toFile()); err != nil {
		a.layers.clear()
		a.void()
		return err
	}
	a.layers.written()
	return nil
}

// foldBatch folds one batch over what the layers and the file have. What it gives is to be published before the next
// one is folded. After an error it has come to nothing.
func (a *applier) foldBatch(next func(seq uint64) ([]statemachine.Record, error), folded func(statemachine.Record, *statemachine.Effects)) (*batch, error) {
	b := a.batch
	err := guard(a.file, func() error {
		known := a.filters.now()
		return a.db.View(func(tx *bbolt.Tx) error {
			state := newStateTx(tx, a.layers.all...)
			state.filters = known
			if err := a.begin(b, state); err != nil {
				return err
			}
			if err := a.foldAll(b, next, folded); err != nil {
				return err
			}
			return b.freeze()
		})
	})
	b.tx = nil
	if err != nil {
		a.void()
		return nil, err
	}
	a.cursor, a.parts, a.rules = b.cursor, b.parts, b.rules
	a.cache.add(b.messages, b.octets)
	return b, nil
}

// write commits what lies over the file.
func (a *applier) write(over *overlay) error {
	return diskFull(guard(a.file, func() error {
		return a.db.Update(func(tx *bbolt.Tx) error {
			tx.OnCommit(func() {
				stats := tx.Stats()
				a.allocated += stats.GetPageCount()
			})
			return over.flush(newStateTx(tx))
		})
	}))
}

// void forgets what was folded and not published.
func (a *applier) void() {
	a.parts, a.rules, a.cache = nil, rulesInForce{}, messageCache{}
	a.filters.reset()
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

func (a *applier) begin(b *batch, tx *stateTx) (err error) {
	if a.parts == nil {
		if a.parts, err = readPartitions(tx); err != nil {
			return err
		}
	}
	return b.begin(tx, a.parts, a.rules)
}
