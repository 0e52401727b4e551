package store

import (
	"context"

	"esmed/statemachine"
)

// Rules are the rules in force now and the seq of their record; nil and 0 before the first. Those of an
// earlier time are a Record: decisions name its seq.
func (s *Store) Rules(ctx context.Context) (seq uint64, rules *statemachine.Rules, err error) {
	err = s.reading(ctx, "rules", func(tx *stateTx) error {
		m, err := readStateMeta(tx)
		if err == nil && m.rules != nil {
			seq, rules, err = decodeRulesHead(m.rules)
		}
		return err
	})
	return seq, rules, err
}

// Applied is the seq of the last record in the projection. Entries of the queue that a record up to it
// took off the queue are not there any more.
func (s *Store) Applied() uint64 { return s.applied.Load() }
