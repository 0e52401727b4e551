package store

import (
	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

const (
	// applyBatch bounds a batch, and with it the applier's memory and how long a query waits at most.
	applyBatch = 16384
	// applyStep is how many records are taken at a time, between looks at who waits.
	applyStep = 256
)

// applier brings a state.db up to the log, a batch at a time. One goroutine folds with it; what it folded, another may
// write meanwhile.
type applier struct {
	db     *bbolt.DB
	file   string // as errors name it
	fold   statemachine.Fold
	record func(uint64) (statemachine.Record, error)

	cursor  uint64     // seq of the last record that was folded
	parts   partitions // nil: to be read again
	filters *filters
	rules   rulesInForce
	cache   messageCache
	batches [2]*batch // the one that was folded last, which may be on its way to the file, and room for the next
	over    *overlay  // what the last batch changes; nil: all is in the file
	eff     statemachine.Effects
}

func newApplier(db *bbolt.DB, file string, filters *filters, fold statemachine.Fold, record func(uint64) (statemachine.Record, error)) *applier {
	a := &applier{db: db, file: file, filters: filters, fold: fold, record: record}
	for i := range a.batches {
		a.batches[i] = newBatch(&a.cache, record)
	}
	return a
}

// run folds one batch and commits it. next gives records from a seq on, none to end the batch. folded, if not nil, is
// shown what came of each, as of a Witness. After an error nothing has changed.
func (a *applier) run(next func(seq uint64) ([]statemachine.Record, error), folded func(statemachine.Record, *statemachine.Effects)) error {
	b, err := a.foldBatch(next, folded)
	if err == nil {
		err = a.write(b)
	}
	if err != nil {
		a.void()
	}
	return err
}

// foldBatch folds one batch over the last one, which may still be on its way to the file: run without the commit.
// What it gives is written before the next but one is folded. After an error of it, or of the last one's write, void
// is called.
func (a *applier) foldBatch(next func(seq uint64) ([]statemachine.Record, error), folded func(statemachine.Record, *statemachine.Effects)) (*batch, error) {
	b := a.batches[1]
	err := guard(a.file, func() error {
		known := a.filters.now()
		return a.db.View(func(tx *bbolt.Tx) error {
			state := newStateTx(tx, a.over)
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
	if err != nil {
		return nil, err
	}
	b.tx = nil
	a.cursor, a.parts, a.rules, a.over = b.cursor, b.parts, b.rules, b.over
	a.cache.add(b.messages, b.octets)
	a.batches[0], a.batches[1] = b, a.batches[0]
	return b, nil
}

// write commits what a batch changes.
func (a *applier) write(b *batch) error {
	return diskFull(guard(a.file, func() error {
		return a.db.Update(func(tx *bbolt.Tx) error {
			state := newStateTx(tx, nil)
			if err := b.over.flush(state); err != nil {
				return err
			}
			return forgetInbound(state, state, b.at)
		})
	}))
}

// void forgets what was folded and not written.
func (a *applier) void() {
	a.parts, a.rules, a.cache, a.over = nil, rulesInForce{}, messageCache{}, nil
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
