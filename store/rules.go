package store

import (
	"bytes"
	"context"

	"esmed/statemachine"
)

// SetRules puts rules in force: it appends a rules record when they differ from those in force, and
// gives the seq of the record that is in force then. It is called when Run runs, before anything that
// the rules decide is appended, and again when they change.
func (s *Store) SetRules(ctx context.Context, r statemachine.Rules) (seq uint64, err error) {
	s.rulesMu.Lock()
	defer s.rulesMu.Unlock()
	var now []byte
	err = s.reading(ctx, "rules", func(tx *stateTx) error {
		m, err := readStateMeta(tx)
		if err == nil && m.rules != nil {
			var rules *statemachine.Rules
			if seq, rules, err = decodeRulesHead(m.rules); err == nil {
				now = appendRules(nil, rules)
			}
		}
		return err
	})
	if err != nil || seq != 0 && bytes.Equal(now, appendRules(nil, &r)) {
		return seq, err
	}
	records, err := s.Append(ctx, &r)
	if err != nil {
		return 0, err
	}
	return records[0].Seq, nil
}
