package store

import (
	"context"
	"slices"
	"time"

	"esmed/statemachine"
)

// UnansweredAttempt is an attempt that left and has no answer.
type UnansweredAttempt struct {
	Ref     statemachine.AttemptRef
	SMSC    string
	Session string
	At      time.Time // of its sent record
}

// Unanswered lists the attempts of an SMSC ("" = any) that have no answer: at start, what a crash left
// SUBMITTING, for which in_doubt records are due.
func (s *Store) Unanswered(ctx context.Context, smsc string) ([]UnansweredAttempt, error) {
	var all []UnansweredAttempt
	err := s.reading(ctx, "unanswered", func(tx *stateTx) error {
		return tx.scan(tableID{table: tableUnanswered}, nil, nil, false, func(_, value []byte) error {
			refs, err := readRefs(value)
			for _, ref := range refs {
				m, err := messageIn(tx, ref.Message)
				if err != nil {
					return err
				}
				if u, ok := unanswered(m, ref); ok && (smsc == "" || u.SMSC == smsc) {
					all = append(all, u)
				}
			}
			return err
		})
	})
	slices.SortFunc(all, func(a, b UnansweredAttempt) int { return a.At.Compare(b.At) })
	return all, err
}

func unanswered(m *statemachine.Message, ref statemachine.AttemptRef) (u UnansweredAttempt, ok bool) {
	if m == nil {
		return u, false
	}
	if p := m.Part(ref.Part); p != nil && ref.Attempt >= 1 && ref.Attempt <= len(p.Attempts) {
		a := &p.Attempts[ref.Attempt-1]
		return UnansweredAttempt{ref, m.SMSC, a.Session, a.At}, true
	}
	return u, false
}
