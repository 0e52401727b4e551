package store

import (
	"encoding/binary"

	"esmed/statemachine"
)

// decisionShift makes partitions of 2^18 records of the decisions, by the seq that caused them.
const (
	decisionShift   = 18
	decisionKeySize = 12
)

// decisionKey is a decision's place in its partition: the seq that caused it and its count there.
func decisionKey(p statemachine.DecisionPos) []byte {
	return appendDecisionKey(make([]byte, 0, decisionKeySize), p)
}

func appendDecisionKey(b []byte, p statemachine.DecisionPos) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, p.Seq), uint32(p.N))
}

func decisionTable(seq uint64) tableID {
	return tableID{tableDecisions, uint32(seq >> decisionShift)}
}

// appendDecision encodes state.proto's Decision.
func appendDecision(b []byte, d *statemachine.Decision) []byte {
	b = putUint(b, 1, d.Record)
	b = putString(b, 2, string(d.Message))
	b = putUint(b, 3, uint64(d.Part))
	b = putUint(b, 4, uint64(d.Attempt))
	b = putString(b, 5, string(d.Correlation))
	b = putString(b, 6, d.By)
	b = putString(b, 7, d.ExternalID)
	for _, rule := range d.Rule {
		b = putString(b, 8, rule)
	}
	b = putUint(b, 9, uint64(d.Candidates))
	b = putString(b, 10, d.NarrowedBy)
	b = putString(b, 11, string(d.Verdict))
	b = putString(b, 12, d.Why)
	b = putUint(b, 13, uint64(d.From))
	b = putUint(b, 14, uint64(d.To))
	b = putFingerprint(b, 15, d.LogicalEvent)
	b = putUint(b, 16, d.RepeatOf)
	b = putUint(b, 17, d.PossibleRepeatOf)
	b = putUint(b, 18, d.Rules)
	b = putString(b, 19, d.Parser)
	return putPos(b, 20, d.Previous)
}

func decodeDecision(key, value []byte) (d statemachine.Decision, err error) {
	if len(key) != decisionKeySize {
		return d, errMalformed
	}
	d.Pos = statemachine.DecisionPos{Seq: binary.BigEndian.Uint64(key), N: int(binary.BigEndian.Uint32(key[8:]))}
	f := fields{rest: value}
	for f.next() {
		readDecisionField(&f, &d)
	}
	return d, f.err
}

func readDecisionField(f *fields, d *statemachine.Decision) {
	switch f.num {
	case 1:
		d.Record = f.u
	case 2:
		d.Message = statemachine.ID(f.str())
	case 3:
		d.Part = int(f.u)
	case 4:
		d.Attempt = int(f.u)
	case 5:
		d.Correlation = statemachine.Correlation(f.str())
	case 6:
		d.By = f.str()
	case 7:
		d.ExternalID = f.str()
	case 8:
		d.Rule = append(d.Rule, f.str())
	case 9:
		d.Candidates = int(f.u)
	case 10:
		d.NarrowedBy = f.str()
	case 11:
		d.Verdict = statemachine.Verdict(f.str())
	case 12:
		d.Why = f.str()
	case 13:
		d.From = statemachine.State(f.u)
	case 14:
		d.To = statemachine.State(f.u)
	case 15:
		copy(d.LogicalEvent[:], f.b)
	case 16:
		d.RepeatOf = f.u
	case 17:
		d.PossibleRepeatOf = f.u
	case 18:
		d.Rules = f.u
	case 19:
		d.Parser = f.str()
	case 20:
		f.nested(func(in *fields) { d.Previous = readPos(in) })
	}
}
