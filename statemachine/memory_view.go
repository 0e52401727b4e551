package statemachine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"esmed/receipt"
)

// Rules implements View.
func (m *Memory) Rules() (uint64, *Rules) { return m.rulesSeq, m.rules }

// Message implements View.
func (m *Memory) Message(id ID) (*Message, bool, error) { return m.Messages[id], false, nil }

// Attempts implements View.
func (m *Memory) Attempts(account string, key receipt.Key) ([]AttemptRef, error) {
	return m.index[indexKey{account, key}], nil
}

// Held implements View. The rows come in the order of their first reception.
func (m *Memory) Held(account string, key receipt.Key) ([]*InboxRow, error) {
	return m.rows(m.held[indexKey{account, key}]), nil
}

// InboxRow implements View.
func (m *Memory) InboxRow(key InboxKey) (*InboxRow, error) { return m.Inbox[key], nil }

// Unanswered implements View.
func (m *Memory) Unanswered(account, dest string) ([]AttemptRef, error) {
	return m.unanswered[destKey{account, dest}], nil
}

// HeldFor implements View.
func (m *Memory) HeldFor(account, dest string) ([]*InboxRow, error) {
	return m.rows(m.heldFor[destKey{account, dest}]), nil
}

// OpenException implements View.
func (m *Memory) OpenException(kind ExceptionKind, group string) (*Exception, error) {
	return m.Exceptions[m.open[matterKey{kind, group}]], nil
}

// Inbound implements View.
func (m *Memory) Inbound(account string, event receipt.Fingerprint) (uint64, time.Time, error) {
	c := m.inbound[inboundKey{account, event}]
	return c.Seq, c.At, nil
}

// Record implements View.
func (m *Memory) Record(seq uint64) (Record, error) {
	rec, ok := m.Records[seq]
	if seq < m.begins && !ok {
		return Record{}, fmt.Errorf("%w: record %d", ErrGone, seq)
	}
	if !ok {
		return Record{}, fmt.Errorf("statemachine: no record %d", seq)
	}
	return rec, nil
}

// Exception implements View.
func (m *Memory) Exception(id string) (*Exception, error) { return m.Exceptions[id], nil }

// Hold implements View.
func (m *Memory) Hold(smsc string) (Hold, error) { return m.Holds[smsc], nil }

// Decision implements View.
func (m *Memory) Decision(pos DecisionPos) (*Decision, error) {
	if pos.Seq < m.begins {
		return nil, fmt.Errorf("%w: decision %d.%d", ErrGone, pos.Seq, pos.N)
	}
	i, found := slices.BinarySearchFunc(m.Decisions, pos, func(d Decision, pos DecisionPos) int {
		return cmp.Or(cmp.Compare(d.Pos.Seq, pos.Seq), cmp.Compare(d.Pos.N, pos.N))
	})
	if !found {
		return nil, fmt.Errorf("statemachine: no decision %d.%d", pos.Seq, pos.N)
	}
	return &m.Decisions[i], nil
}

// rows gives those of the inbox, in the order of the first receptions.
func (m *Memory) rows(keys map[InboxKey]bool) []*InboxRow {
	var rows []*InboxRow
	for key := range keys {
		rows = append(rows, m.Inbox[key])
	}
	slices.SortFunc(rows, func(a, b *InboxRow) int { return cmp.Compare(a.Receptions[0], b.Receptions[0]) })
	return rows
}
