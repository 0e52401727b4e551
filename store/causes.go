package store

import (
	"bytes"
	"encoding/binary"
	"slices"

	"esmed/statemachine"
)

// causes are the records that a row follows from, as far as it tells; the most telling one first.
func causes(id tableID, r row, tx *stateTx) []uint64 {
	switch id.table {
	case tableDecisions:
		if d, err := decodeDecision(r.key, r.value); err == nil {
			return []uint64{d.Pos.Seq, d.Record}
		}
	case tableMessages:
		return causesOfMessage(statemachine.ID(r.key), tx)
	case tableStates:
		return causesOfMessage(statemachine.ID(r.key[min(1, len(r.key)):]), tx)
	case tableIDs, tableUnanswered:
		if refs, err := readRefs(r.value); err == nil && len(refs) > 0 {
			return causesOfMessage(refs[0].Message, tx)
		}
	case tableQueue, tableDelayed:
		return causesOfMessage(statemachine.ID(r.value), tx)
	case tableDests:
		if i := bytes.IndexByte(r.key, 0); i >= 0 {
			return causesOfMessage(statemachine.ID(r.key[i+1:]), tx)
		}
	case tableRefs, tableInbound, tableOpenByGroup:
		return seqAtHead(r.value)
	case tableExceptions, tableOpen:
		return seqAtHead(r.key)
	case tableInboundByAge:
		return seqAtHead(r.key[min(8, len(r.key)):])
	case tableInbox:
		if held, err := decodeRow(r.value); err == nil {
			return held.Receptions
		}
	case tableWindows:
		if d, err := readWindowKey(r.key); err == nil {
			return causesOfMessage(d.Message, tx)
		}
	case tableHolds:
		if h, err := readHold(r.value); err == nil {
			return []uint64{h.Seq}
		}
	case tableInboxBySeq:
		return seqAtHead(r.key)
	case tableInboxByAge, tableInboxWaiting:
		if held, err := decodeRow(tx.get(tableID{table: tableInbox}, bounded(slices.Clone(r.value)))); err == nil {
			return held.Receptions
		}
	}
	return nil
}

// causesOfMessage are the records of a message, newest decision first.
func causesOfMessage(id statemachine.ID, tx *stateTx) []uint64 {
	m, err := messageIn(tx, id)
	if err != nil || m == nil {
		return nil
	}
	var seqs []uint64
	for pos := m.LastDecision; pos != (statemachine.DecisionPos{}); {
		d, err := decisionAt(tx, pos)
		if err != nil {
			break
		}
		seqs = append(seqs, pos.Seq, d.Record)
		pos = d.Previous
	}
	return append(seqs, recordsOf(m)...)
}

func seqAtHead(b []byte) []uint64 {
	if len(b) < 8 {
		return nil
	}
	return []uint64{binary.BigEndian.Uint64(b)}
}
