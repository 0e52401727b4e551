package statemachine

import (
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
	held       map[indexKey]map[InboxKey]bool // rows of Inbox by their keys …
	heldFor    map[destKey]map[InboxKey]bool  // … and by the destinations that they wait for
	open       map[matterKey]string           // ids of open exceptions
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
	destKey   struct{ account, dest string }
	matterKey struct {
		kind  ExceptionKind
		group string
	}
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
		held:       map[indexKey]map[InboxKey]bool{},
		heldFor:    map[destKey]map[InboxKey]bool{},
		open:       map[matterKey]string{},
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
		m.putRow(c)
	}
	for _, x := range eff.Exceptions {
		m.putException(x)
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

func (m *Memory) putRow(c InboxChange) {
	if was := m.Inbox[c.Key]; was != nil {
		for _, key := range was.Keys {
			takeFrom(m.held, indexKey{was.Account, key}, c.Key)
		}
		for _, dest := range was.WaitsFor {
			takeFrom(m.heldFor, destKey{was.Account, dest}, c.Key)
		}
		delete(m.Inbox, c.Key)
	}
	if c.Row == nil {
		return
	}
	for _, key := range c.Row.Keys {
		addTo(m.held, indexKey{c.Row.Account, key}, c.Key)
	}
	for _, dest := range c.Row.WaitsFor {
		addTo(m.heldFor, destKey{c.Row.Account, dest}, c.Key)
	}
	m.Inbox[c.Key] = c.Row
}

func addTo[K comparable](sets map[K]map[InboxKey]bool, at K, row InboxKey) {
	if sets[at] == nil {
		sets[at] = map[InboxKey]bool{}
	}
	sets[at][row] = true
}

func takeFrom[K comparable](sets map[K]map[InboxKey]bool, at K, row InboxKey) {
	if delete(sets[at], row); len(sets[at]) == 0 {
		delete(sets, at)
	}
}

func (m *Memory) putException(x *Exception) {
	m.Exceptions[x.ID] = x
	switch key := (matterKey{x.Kind, x.Group}); {
	case x.Status == StatusOpen:
		m.open[key] = x.ID
	case m.open[key] == x.ID:
		delete(m.open, key)
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
	if d.Messages != "" {
		m.dropMessages(d.Messages)
	}
	for _, id := range d.Exceptions {
		if x := m.Exceptions[id]; x != nil && m.open[matterKey{x.Kind, x.Group}] == id {
			delete(m.open, matterKey{x.Kind, x.Group})
		}
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
	maps.DeleteFunc(m.inbound, func(_ inboundKey, c InboundChange) bool { return c.Seq < d.Log })
	maps.DeleteFunc(m.Records, func(seq uint64, _ Record) bool { return seq < d.Log && seq != inForce })
}

// dropMessages forgets those whose ids are less than first, and what names them.
func (m *Memory) dropMessages(first ID) {
	maps.DeleteFunc(m.Messages, func(id ID, _ *Message) bool { return id < first })
	for key, refs := range m.index {
		if !slices.ContainsFunc(refs, func(r AttemptRef) bool { return r.Message < first }) {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(refs), func(r AttemptRef) bool { return r.Message < first })
		if m.index[key] = left; len(left) == 0 {
			delete(m.index, key)
		}
	}
}

func (m *Memory) putUnanswered(c UnansweredChange) {
	key := destKey{c.Account, c.Dest}
	if c.Remove {
		left := slices.DeleteFunc(m.unanswered[key], func(r AttemptRef) bool { return r == c.Ref })
		if m.unanswered[key] = left; len(left) == 0 {
			delete(m.unanswered, key)
		}
		return
	}
	m.unanswered[key] = append(m.unanswered[key], c.Ref)
}
