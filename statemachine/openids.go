package statemachine

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"esmed/receipt"
)

// openTable holds what correlation asks of the open messages of an account, in little room.
type openTable struct {
	account  string
	messages []openMessage // in the order of their ids, once sorted
	noID     int           // attempts that were accepted without an id
}

type openMessage struct {
	id           ID
	smsc         string
	source, dest string
	scheduled    time.Time
	parts        int
	attempts     []openAttempt
}

// openAttempt is an attempt that was given an id. Times are Unix nanoseconds, 0 = none.
type openAttempt struct {
	part, number            int32
	at, answered, validTill int64
	reference               uint16
	outcome                 Outcome
	learnt                  bool // the id is a receipt's, not an answer's
	id                      string
}

// add takes the message's attempts if one of its parts waits, and gives how many.
func (t *openTable) add(m *Message) int {
	waits := false
	var attempts []openAttempt
	for i := range m.Parts {
		p := &m.Parts[i]
		waiting := p.asks() && !p.Final()
		for j := range p.Attempts {
			a := &p.Attempts[j]
			if a.MessageID == "" {
				if waiting && a.Outcome == AcceptedBy {
					t.noID++
				}
				continue
			}
			waits = waits || waiting
			attempts = append(attempts, openAttempt{
				part: int32(p.Number), number: int32(a.Number), at: nanos(a.At), answered: nanos(a.AnsweredAt),
				validTill: nanos(a.ValidUntil), reference: a.UserMessageReference, outcome: a.Outcome,
				learnt: a.Learnt, id: a.MessageID,
			})
		}
	}
	if !waits {
		return 0
	}
	t.messages = append(t.messages, openMessage{
		id: m.ID, smsc: m.SMSC, source: m.Source.Addr, dest: m.destination(), scheduled: m.ScheduledAt,
		parts: len(m.Parts), attempts: attempts,
	})
	return len(attempts)
}

func (t *openTable) sort() {
	slices.SortFunc(t.messages, func(a, b openMessage) int { return cmp.Compare(a.id, b.id) })
}

func (t *openTable) find(id ID) *openMessage {
	i, ok := slices.BinarySearchFunc(t.messages, id, func(m openMessage, id ID) int { return cmp.Compare(m.id, id) })
	if !ok {
		return nil
	}
	return &t.messages[i]
}

func (t *openTable) count() (attempts int) {
	for i := range t.messages {
		attempts += len(t.messages[i].attempts)
	}
	return attempts
}

// message is the message again, as far as correlation looks at one.
func (t *openTable) message(o *openMessage) *Message {
	m := &Message{ID: o.id, SMSC: o.smsc, Account: t.account, ScheduledAt: o.scheduled, Parts: make([]Part, o.parts)}
	m.Source.Addr, m.Dest.Addr = o.source, o.dest
	for i := range m.Parts {
		m.Parts[i].Number = i + 1
	}
	for i := range o.attempts {
		a := &o.attempts[i]
		p := &m.Parts[a.part-1]
		for len(p.Attempts) < int(a.number) {
			p.Attempts = append(p.Attempts, Attempt{Number: len(p.Attempts) + 1})
		}
		p.Attempts[a.number-1] = a.attempt()
	}
	return m
}

func (a *openAttempt) attempt() Attempt {
	return Attempt{
		Number: int(a.number), At: fromNanos(a.at), AnsweredAt: fromNanos(a.answered), ValidUntil: fromNanos(a.validTill),
		UserMessageReference: a.reference, Outcome: a.outcome, MessageID: a.id, Learnt: a.learnt, AnswerSeq: 1,
	}
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// openIndex finds the attempts of an openTable by their ids under some rules. It is the View of a step
// that only correlates.
type openIndex struct {
	*Memory // empty: nothing is held, unanswered or an exception
	table   *openTable
	first   map[receipt.Key]int32 // index in entries, the last one that was added
	entries []indexedAttempt
}

type indexedAttempt struct {
	message, attempt int32 // indexes
	next             int32 // in entries, with the same key; -1 = none
}

// index makes the attempts found under rules.
func (t *openTable) index(rules *receipt.Rules) *openIndex {
	n := len(t.messages)
	x := &openIndex{Memory: NewMemory(Fold{}), table: t, first: make(map[receipt.Key]int32, n), entries: make([]indexedAttempt, 0, n)}
	for i := range t.messages {
		attempts := t.messages[i].attempts
		for j := range attempts {
			a := Attempt{MessageID: attempts[j].id, Learnt: attempts[j].learnt}
			for _, key := range a.keys(rules) {
				next, ok := x.first[key]
				if !ok {
					next = -1
				}
				x.first[key] = int32(len(x.entries))
				x.entries = append(x.entries, indexedAttempt{int32(i), int32(j), next})
			}
		}
	}
	return x
}

// Attempts implements View.
func (x *openIndex) Attempts(account string, key receipt.Key) ([]AttemptRef, error) {
	var refs []AttemptRef
	for e := range x.with(key) {
		m := &x.table.messages[e.message]
		a := &m.attempts[e.attempt]
		refs = append(refs, AttemptRef{m.id, int(a.part), int(a.number)})
	}
	return refs, nil
}

// with gives the entries of a key.
func (x *openIndex) with(key receipt.Key) iter.Seq[indexedAttempt] {
	return func(yield func(indexedAttempt) bool) {
		i, ok := x.first[key]
		for ; ok && i >= 0; i = x.entries[i].next {
			if !yield(x.entries[i]) {
				return
			}
		}
	}
}

// Message implements View.
func (x *openIndex) Message(id ID) (*Message, bool, error) {
	if o := x.table.find(id); o != nil {
		return x.table.message(o), false, nil
	}
	return nil, false, nil
}
