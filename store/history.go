package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"esmed/statemachine"
)

// Event is a record with what was decided because of it.
type Event struct {
	Record    statemachine.Record
	Decisions []statemachine.Decision
	TextGone  bool // the key of its texts was destroyed: they read as zeros
}

// Events reads up to limit (0 = DefaultLimit) records behind seq after, in the order of the log, with
// the decisions that each caused.
func (s *Store) Events(ctx context.Context, after uint64, limit int) ([]Event, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	if err := s.Sync(ctx); err != nil {
		return nil, err
	}
	applied := s.applied.Load()
	var events []Event
	err := s.entries(after+1, func(e entry) (bool, error) {
		if e.Seq > applied {
			return false, nil
		}
		events = append(events, Event{Record: e.Record, TextGone: e.textGone})
		return len(events) < limit, ctx.Err()
	})
	for i := 0; err == nil && i < len(events); i += visitRows {
		err = s.decide(events[i:min(i+visitRows, len(events))])
	}
	if err != nil {
		return nil, fmt.Errorf("store: events: %w", err)
	}
	return events, nil
}

// decide puts the decisions to a run of events, in one transaction.
func (s *Store) decide(events []Event) error {
	return s.view(func(tx *stateTx) error {
		for i := range events {
			e := &events[i]
			err := tx.scan(decisionTable(e.Record.Seq), seqKey(e.Record.Seq), nil, false, func(key, value []byte) error {
				d, err := decodeDecision(key, value)
				e.Decisions = append(e.Decisions, d)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// History reads all records that concern a message, in the order of the log, each with the decisions
// about the message that it caused; ErrNotFound when there is no such message.
func (s *Store) History(ctx context.Context, id statemachine.ID) ([]Event, error) {
	m, err := s.Message(ctx, id)
	if err != nil {
		return nil, err
	}
	decisions, err := s.walkBack(ctx, m.LastDecision)
	if err != nil {
		return nil, fmt.Errorf("store: history: %w", err)
	}
	by := make(map[uint64][]statemachine.Decision)
	seqs := recordsOf(m)
	for _, d := range slices.Backward(decisions) {
		by[d.Pos.Seq] = append(by[d.Pos.Seq], d)
		seqs = append(seqs, d.Pos.Seq, d.Record)
	}
	slices.Sort(seqs)
	var events []Event
	for _, seq := range slices.Compact(seqs) {
		if seq == 0 {
			continue
		}
		e, err := s.entry(seq)
		if errors.Is(err, ErrNotFound) && seq < s.log.from(0)[0].first {
			continue // dropped
		}
		if err != nil {
			return nil, fmt.Errorf("store: history: seq %d: %w", seq, err)
		}
		events = append(events, Event{Record: e.Record, Decisions: by[seq], TextGone: e.textGone})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// recordsOf are the records that a message itself names.
func recordsOf(m *statemachine.Message) []uint64 {
	seqs := []uint64{m.AcceptedSeq}
	for i := range m.Parts {
		p := &m.Parts[i]
		seqs = append(seqs, p.QueuedSeq, p.Reported.Seq, p.CutoffSeq, p.BasisSeq)
		for j := range p.Attempts {
			a := &p.Attempts[j]
			seqs = append(seqs, a.Seq, a.AnswerSeq, a.DoubtSeq, a.DoubtEndSeq)
		}
	}
	return seqs
}

// walkBack follows a message's decisions from the newest on, a few in each transaction.
func (s *Store) walkBack(ctx context.Context, pos statemachine.DecisionPos) (decisions []statemachine.Decision, err error) {
	for err == nil && pos != (statemachine.DecisionPos{}) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err = s.view(func(tx *stateTx) error {
			for n := 0; n < visitRows && pos != (statemachine.DecisionPos{}); n++ {
				d, err := decisionAt(tx, pos)
				if errors.Is(err, statemachine.ErrGone) {
					pos = statemachine.DecisionPos{}
					return nil
				}
				if err != nil {
					return err
				}
				decisions = append(decisions, d)
				pos = d.Previous
			}
			return nil
		})
	}
	return decisions, err
}

func decisionAt(tx *stateTx, pos statemachine.DecisionPos) (statemachine.Decision, error) {
	key := decisionKey(pos)
	value := tx.get(decisionTable(pos.Seq), key)
	if value == nil {
		if m, err := readStateMeta(tx); err == nil && pos.Seq < m.logFrom {
			return statemachine.Decision{}, statemachine.ErrGone
		}
		return statemachine.Decision{}, &DamagedError{File: stateFile, Seq: pos.Seq, Err: fmt.Errorf("decision %d.%d is missing", pos.Seq, pos.N)}
	}
	return decodeDecision(key, value)
}
