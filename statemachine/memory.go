package statemachine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"esmed/receipt"
)

// Memory is a View in maps that Apply keeps up to date: the fold without a store, for tests and for
// looking at a few records. NewMemory makes one. It is not safe for concurrent use.
type Memory struct {
	Fold Fold

	// What the records said so far; not to be modified.
	Records    map[uint64]Record
	Messages   map[ID]*Message
	Decisions  []Decision
	Inbox      map[InboxKey]*InboxRow
	Exceptions map[string]*Exception
	Queue      map[QueueEntry]bool
	Tallies    map[TallyKey]Tally
	Windows    map[WindowChange]bool // their Remove is false
	Overdue    map[OverdueKey]int64
	Holds      map[string]Hold // by SMSC
	Reprocess  ReprocessProgress
	Restored   Restored

	begins     uint64 // records before are gone
	rulesSeq   uint64
	rules      *Rules
	index      map[indexKey][]AttemptRef
	unanswered map[destKey][]AttemptRef
	inbound    map[inboundKey]InboundChange
}

// TallyKey is an hour (of accepted_at) and SMSC of the report.
type TallyKey struct {
	Hour time.Time
	SMSC string
}

// OverdueKey is a minute (of the window's end) and SMSC.
type OverdueKey struct {
	Minute time.Time
	SMSC   string
}

type (
	indexKey struct {
		account string
		key     receipt.Key
	}
	destKey    struct{ account, dest string }
	inboundKey struct {
		account string
		event   receipt.Fingerprint
	}
)

// NewMemory gives a Memory that holds nothing.
func NewMemory(f Fold) *Memory {
	return &Memory{
		Fold:       f,
		Records:    map[uint64]Record{},
		Messages:   map[ID]*Message{},
		Inbox:      map[InboxKey]*InboxRow{},
		Exceptions: map[string]*Exception{},
		Queue:      map[QueueEntry]bool{},
		Tallies:    map[TallyKey]Tally{},
		Windows:    map[WindowChange]bool{},
		Overdue:    map[OverdueKey]int64{},
		Holds:      map[string]Hold{},
		index:      map[indexKey][]AttemptRef{},
		unanswered: map[destKey][]AttemptRef{},
		inbound:    map[inboundKey]InboundChange{},
	}
}

// Apply steps rec into eff, as Step does, and puts the effects in place. It fails only for a record that names another
// one that was never applied.
func (m *Memory) Apply(rec Record, eff *Effects) error { return m.apply(m, rec, eff) }

// apply is Apply with the View that the step has of m.
func (m *Memory) apply(v View, rec Record, eff *Effects) error {
	m.Records[rec.Seq] = rec
	if err := m.Fold.Step(v, rec, eff); err != nil {
		return err
	}
	if rules, ok := rec.Fact.(*Rules); ok {
		m.rulesSeq, m.rules = rec.Seq, rules
	}
	m.put(eff)
	return nil
}

func (m *Memory) put(eff *Effects) {
	for _, c := range eff.Messages {
		m.Messages[c.Message.ID] = c.Message
	}
	m.Decisions = append(m.Decisions, eff.Decisions...)
	for _, e := range eff.Index {
		key := indexKey{e.Account, e.Key}
		if e.Remove {
			m.index[key] = slices.DeleteFunc(slices.Clone(m.index[key]), func(r AttemptRef) bool { return r == e.Ref })
			continue
		}
		if !slices.Contains(m.index[key], e.Ref) {
			m.index[key] = append([]AttemptRef{e.Ref}, m.index[key]...)
		}
	}
	for _, c := range eff.Inbox {
		if c.Row == nil {
			delete(m.Inbox, c.Key)
			continue
		}
		m.Inbox[c.Key] = c.Row
	}
	for _, x := range eff.Exceptions {
		m.Exceptions[x.ID] = x
	}
	for _, c := range eff.Unanswered {
		m.putUnanswered(c)
	}
	for _, c := range eff.Queue {
		if c.Remove {
			delete(m.Queue, c.Entry)
			continue
		}
		m.Queue[c.Entry] = true
	}
	for _, t := range eff.Tallies {
		key := TallyKey{t.Hour, t.SMSC}
		m.Tallies[key] = m.Tallies[key].Add(t.Delta)
	}
	for _, c := range eff.Inbound {
		m.inbound[inboundKey{c.Account, c.Fingerprint}] = c
	}
	m.putWindows(eff)
	if eff.Reprocess != nil {
		m.Reprocess = *eff.Reprocess
	}
	if eff.Restored != nil {
		m.Restored = *eff.Restored
	}
	if eff.Hold != nil {
		m.hold(eff.Hold)
	}
	if eff.Drop != nil {
		m.drop(eff.Drop)
	}
}

func (m *Memory) putWindows(eff *Effects) {
	for _, c := range eff.Windows {
		remove := c.Remove
		if c.Remove = false; remove {
			delete(m.Windows, c)
			continue
		}
		m.Windows[c] = true
	}
	for _, c := range eff.Overdue {
		key := OverdueKey{c.Minute, c.SMSC}
		if m.Overdue[key] += c.Delta; m.Overdue[key] == 0 {
			delete(m.Overdue, key)
		}
	}
}

func (m *Memory) hold(c *HoldChange) {
	if c.Hold == (Hold{}) {
		delete(m.Holds, c.SMSC)
		return
	}
	m.Holds[c.SMSC] = c.Hold
}

// drop forgets what retention drops. A Memory has no partitions: the messages go one by one.
func (m *Memory) drop(d *Drop) {
	for id := range m.Messages {
		if id < d.Messages {
			delete(m.Messages, id)
		}
	}
	for _, id := range d.Exceptions {
		delete(m.Exceptions, id)
	}
	if d.Log <= m.begins {
		return
	}
	m.begins = d.Log
	m.Decisions = slices.DeleteFunc(m.Decisions, func(x Decision) bool { return x.Pos.Seq < d.Log })
	inForce := uint64(0) // at the first that is left
	for seq, rec := range m.Records {
		if _, rules := rec.Fact.(*Rules); rules && seq < d.Log {
			inForce = max(inForce, seq)
		}
	}
	maps.DeleteFunc(m.Records, func(seq uint64, _ Record) bool { return seq < d.Log && seq != inForce })
}

func (m *Memory) putUnanswered(c UnansweredChange) {
	key := destKey{c.Account, c.Dest}
	if c.Remove {
		m.unanswered[key] = slices.DeleteFunc(m.unanswered[key], func(r AttemptRef) bool { return r == c.Ref })
		return
	}
	m.unanswered[key] = append(m.unanswered[key], c.Ref)
}

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
	return m.rows(func(row *InboxRow) bool { return row.Account == account && slices.Contains(row.Keys, key) }), nil
}

// InboxRow implements View.
func (m *Memory) InboxRow(key InboxKey) (*InboxRow, error) { return m.Inbox[key], nil }

// Unanswered implements View.
func (m *Memory) Unanswered(account, dest string) ([]AttemptRef, error) {
	return m.unanswered[destKey{account, dest}], nil
}

// HeldFor implements View.
func (m *Memory) HeldFor(account, dest string) ([]*InboxRow, error) {
	return m.rows(func(row *InboxRow) bool { return row.Account == account && slices.Contains(row.WaitsFor, dest) }), nil
}

// OpenException implements View.
func (m *Memory) OpenException(kind ExceptionKind, group string) (*Exception, error) {
	for _, x := range m.Exceptions {
		if x.Kind == kind && x.Group == group && x.Status == StatusOpen {
			return x, nil
		}
	}
	return nil, nil
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

// rows selects from the inbox, in the order of the first receptions.
func (m *Memory) rows(want func(*InboxRow) bool) []*InboxRow {
	var rows []*InboxRow
	for _, row := range m.Inbox {
		if want(row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b *InboxRow) int { return cmp.Compare(a.Receptions[0], b.Receptions[0]) })
	return rows
}
