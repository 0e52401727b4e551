package store

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"esmed/statemachine"
)

// Judgement is what came of a record, or what would come of one.
type Judgement struct {
	Record    statemachine.Record
	Decisions []statemachine.Decision // that it caused
	NoEffect  string                  // why it changed nothing; "" = it did something
}

// Judge appends facts as Append does, waits until they are applied and says what came of each. After an
// error of the wait (ErrObstructed, the context's) they are in the log all the same.
func (s *Store) Judge(ctx context.Context, facts ...statemachine.Fact) ([]Judgement, error) {
	s.judged.begin()
	defer s.judged.end()
	records, err := s.Append(ctx, facts...)
	if err != nil {
		return nil, err
	}
	if err := s.Sync(ctx); err != nil {
		return nil, err
	}
	return s.judged.take(records), nil
}

// Try says what would come of each of the facts if it alone were the next record. Nothing is recorded.
func (s *Store) Try(ctx context.Context, facts ...statemachine.Fact) ([]Judgement, error) {
	tried := make([]Judgement, len(facts))
	err := s.reading(ctx, "try", func(tx *stateTx) error {
		b, err := beginBatch(tx, s.viewRecord)
		if err != nil {
			return err
		}
		var eff statemachine.Effects
		for i, fact := range facts {
			rec := statemachine.Record{Seq: b.cursor + 1, At: s.cfg.Now().UTC(), Fact: fact}
			if err := s.fold().Step(b, rec, &eff); err != nil {
				return fmt.Errorf("%s: %w", fact.Type(), err)
			}
			tried[i] = Judgement{rec, slices.Clone(eff.Decisions), eff.NoEffect}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tried, nil
}

// judged holds what came of records while somebody waits for that.
type judged struct {
	mu      sync.Mutex
	waiting int
	bySeq   map[uint64]Judgement
}

func (j *judged) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting++
}

// end forgets what is left once nobody waits.
func (j *judged) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting--; j.waiting == 0 {
		j.bySeq = nil
	}
}

// add takes what came of a record, if that may be waited for. Who waits takes it once it is committed.
func (j *judged) add(rec statemachine.Record, eff *statemachine.Effects) {
	switch rec.Fact.(type) {
	case *statemachine.Operator, *statemachine.Retry, *statemachine.QueryResp, *statemachine.CancelResp:
	default:
		return // traffic, which Append and Post are for
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting == 0 {
		return
	}
	if j.bySeq == nil {
		j.bySeq = make(map[uint64]Judgement)
	}
	j.bySeq[rec.Seq] = Judgement{rec, slices.Clone(eff.Decisions), eff.NoEffect}
}

func (j *judged) take(records []statemachine.Record) []Judgement {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]Judgement, len(records))
	for i, rec := range records {
		all[i] = j.bySeq[rec.Seq]
		delete(j.bySeq, rec.Seq)
	}
	return all
}
