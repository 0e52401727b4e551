package store

import (
	"bytes"
	"context"
	"encoding/binary"

	"esmed/statemachine"
)

// SetRules puts rules in force: it appends a rules record when they differ from those in force, and
// gives the seq of the record that is in force then. It is called when Run runs, before anything that
// the rules decide is appended, and again when they change.
func (s *Store) SetRules(ctx context.Context, r statemachine.Rules) (seq uint64, err error) {
	s.rulesMu.Lock()
	defer s.rulesMu.Unlock()
	seq, now, err := s.Rules(ctx)
	if err != nil || now != nil && bytes.Equal(appendRules(nil, now), appendRules(nil, &r)) {
		return seq, err
	}
	records, err := s.Append(ctx, &r)
	if err != nil {
		return 0, err
	}
	return records[0].Seq, nil
}

// Rules are the rules in force now and the seq of their record; nil and 0 before the first. Those of an
// earlier time are a Record: decisions name its seq.
func (s *Store) Rules(ctx context.Context) (seq uint64, rules *statemachine.Rules, err error) {
	err = s.reading(ctx, "rules", func(tx *stateTx) error {
		now, err := s.rulesIn(tx)
		seq, rules = now.seq, now.rules
		return err
	})
	return seq, rules, err
}

// rulesIn are the rules in force behind what is applied.
func (s *Store) rulesIn(tx *stateTx) (rulesInForce, error) {
	m, err := readStateMeta(tx)
	if err != nil {
		return rulesInForce{}, err
	}
	return readRulesRecord(m.rules, s.viewRecord)
}

// ruleSeqs are the seqs of rules records: the last one before those that are left of the log, and all behind it.
type ruleSeqs []uint64

// from leaves what is needed of them when records before seq are dropped.
func (r ruleSeqs) from(seq uint64) ruleSeqs {
	for len(r) > 1 && r[1] < seq {
		r = r[1:]
	}
	return r
}

func (r ruleSeqs) append(b []byte) []byte {
	for _, seq := range r {
		b = binary.BigEndian.AppendUint64(b, seq)
	}
	return b
}

func readRuleSeqs(b []byte) (r ruleSeqs) {
	for ; len(b) >= 8; b = b[8:] {
		r = append(r, binary.BigEndian.Uint64(b))
	}
	return r
}

// rulesHead keeps a rules record outside the records of the log: its seq, then its value.
func rulesHead(seq uint64, value []byte) []byte { return append(seqKey(seq), value...) }

// splitRulesHead gives the value and the seq that rulesHead put together.
func splitRulesHead(b []byte) (value []byte, seq uint64, err error) {
	if len(b) < 8 {
		return nil, 0, errMalformed
	}
	return b[8:], binary.BigEndian.Uint64(b), nil
}

func decodeRulesHead(b []byte) (uint64, *statemachine.Rules, error) {
	value, seq, err := splitRulesHead(b)
	if err != nil {
		return 0, nil, err
	}
	e, err := decodeRecord(seq, value)
	if err != nil {
		return 0, nil, err
	}
	rules, ok := e.Fact.(*statemachine.Rules)
	if !ok {
		return 0, nil, errMalformed
	}
	return seq, rules, nil
}
