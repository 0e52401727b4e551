package store

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"esmed/receipt"
	"esmed/statemachine"
)

var _ statemachine.View = (*batch)(nil)

// get looks at the batch's own changes first.
func (b *batch) get(id tableID, key []byte) []byte {
	if v, ok := b.over.get(id, key); ok {
		return v
	}
	return b.tx.get(id, key)
}

// Rules implements statemachine.View, as do the methods below.
func (b *batch) Rules() (uint64, *statemachine.Rules) { return b.rules.seq, b.rules.rules }

// Message looks at the batch's own, then those of the batches before. Nobody else has any of them: what is written of
// them is encoded when a batch is frozen, and after one that came to nothing they are read again.
func (b *batch) Message(id statemachine.ID) (m *statemachine.Message, own bool, err error) {
	if m, ok := b.messages[id]; ok {
		return m, true, nil
	}
	if m := b.cache.get(id); m != nil {
		return m, true, nil
	}
	m, err = readMessage(b.tx, b.parts, id)
	return m, true, err
}

// Attempts probes the partitions that may have the key, from the newest on.
func (b *batch) Attempts(account string, key receipt.Key) ([]statemachine.AttemptRef, error) {
	b.key = appendPairKey(b.key[:0], account, string(key))
	parts, err := b.holding(tableIDs, b.key)
	if err != nil {
		return nil, err
	}
	return attempts(b.get, parts, b.key)
}

// attemptsIn looks through all partitions.
func attemptsIn(tx *stateTx, parts partitions, key []byte) ([]statemachine.AttemptRef, error) {
	parts, err := tx.holding(parts, tableIDs, key)
	if err != nil {
		return nil, err
	}
	return attempts(tx.get, parts, key)
}

func attempts(get func(tableID, []byte) []byte, parts partitions, key []byte) ([]statemachine.AttemptRef, error) {
	var all []statemachine.AttemptRef
	for _, p := range slices.Backward(parts) {
		list := get(p.table(tableIDs), key)
		if list == nil {
			continue
		}
		refs, err := readRefs(list)
		if err != nil {
			return nil, err
		}
		slices.Reverse(refs)
		all = append(all, refs...)
	}
	return all, nil
}

// Held reads the rows that wait for an id, in the order of their first receptions.
func (b *batch) Held(account string, key receipt.Key) ([]*statemachine.InboxRow, error) {
	return b.listed(tableInboxByKey, account, string(key))
}

// HeldFor reads the rows that wait for a destination.
func (b *batch) HeldFor(account, dest string) ([]*statemachine.InboxRow, error) {
	return b.listed(tableInboxByDest, account, dest)
}

func (b *batch) listed(t table, account, by string) ([]*statemachine.InboxRow, error) {
	b.key = appendPairKey(b.key[:0], account, by)
	keys, err := readList(b.get(tableID{table: t}, b.key))
	if err != nil {
		return nil, err
	}
	var rows []*statemachine.InboxRow
	for _, key := range keys {
		row, err := b.InboxRow(statemachine.InboxKey(key))
		if err != nil {
			return nil, err
		}
		if row != nil && len(row.Receptions) > 0 {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(x, y *statemachine.InboxRow) int { return cmp.Compare(x.Receptions[0], y.Receptions[0]) })
	return rows, nil
}

// InboxRow reads one row.
func (b *batch) InboxRow(key statemachine.InboxKey) (*statemachine.InboxRow, error) {
	value := b.get(tableID{table: tableInbox}, bounded([]byte(key)))
	if value == nil {
		return nil, nil
	}
	return decodeRow(value)
}

// Unanswered reads a list.
func (b *batch) Unanswered(account, dest string) ([]statemachine.AttemptRef, error) {
	b.key = appendPairKey(b.key[:0], account, dest)
	return readRefs(b.get(tableID{table: tableUnanswered}, b.key))
}

// OpenException goes by the group to the exception.
func (b *batch) OpenException(kind statemachine.ExceptionKind, group string) (*statemachine.Exception, error) {
	key := b.get(tableID{table: tableOpenByGroup}, pairKey(string(kind), group))
	if key == nil {
		return nil, nil
	}
	return decodeException(b.get(tableID{table: tableExceptions}, key))
}

// Inbound reads what is remembered of a mobile-originated message.
func (b *batch) Inbound(account string, fp receipt.Fingerprint) (uint64, time.Time, error) {
	value := b.get(tableID{table: tableInbound}, pairKey(account, string(fp[:])))
	switch len(value) {
	case 0:
		return 0, time.Time{}, nil
	case 16:
		return binary.BigEndian.Uint64(value), fromKeyNanos(value[8:]), nil
	}
	return 0, time.Time{}, errMalformed
}

// Record reads the log again. Whether a record is gone follows from the log, not from what is still on disk. The
// rules in force at the first that is left are not: it was judged under them, and segments' heads keep them.
func (b *batch) Record(seq uint64) (statemachine.Record, error) {
	if seq < b.logFrom && !(len(b.ruled) > 0 && b.ruled[0] == seq) {
		return statemachine.Record{}, statemachine.ErrGone
	}
	return b.record(seq)
}

// Exception reads one by its id.
func (b *batch) Exception(id string) (*statemachine.Exception, error) {
	key, err := exceptionKey(id)
	if err != nil {
		return nil, nil // no id of ours
	}
	value := b.get(tableID{table: tableExceptions}, key)
	if value == nil {
		return nil, nil
	}
	return decodeException(value)
}

// Decision reads one.
func (b *batch) Decision(pos statemachine.DecisionPos) (*statemachine.Decision, error) {
	if pos.Seq < b.logFrom {
		return nil, statemachine.ErrGone
	}
	b.key = appendDecisionKey(b.key[:0], pos)
	if own, ok := b.over.get(decisionTable(pos.Seq), b.key); ok {
		d, err := decodeDecision(b.key, own)
		return &d, err
	}
	d, err := decisionAt(b.tx, pos)
	return &d, err
}
