package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"esmed/statemachine"
)

// batch is what a run of records changes, until flush writes it. It is the fold's View of the state:
// what tx has, with its own changes laid over.
type batch struct {
	tx     *stateTx
	record func(seq uint64) (statemachine.Record, error)
	cache  *messageCache
	parts  partitions
	size   uint64 // of a partition, in messages

	rules rulesInForce

	over      *overlay // all tables but messages, decisions, sizes and tallies
	messages  map[statemachine.ID]*statemachine.Message
	decisions []encodedDecision
	arena     []byte // of decisions
	scratch   []byte // for a key
	sizes     map[string]int64
	queues    map[string]*queueCounts // by SMSC: what to add
	tallies   map[string]statemachine.Tally
	windows   map[string]int   // by key: 1 put, -1 taken away
	overdue   map[string]int64 // by key: what to add
	late      map[uint32]*lateKeys
	firstOpen uint32 // number of the partition that was the last one when the batch began
	reprocess *statemachine.ReprocessProgress
	restored  *statemachine.Restored
	putBack   bool // a part is in the queue again where it stood before

	logFrom uint64 // records before are dropped, as far as the fold is concerned
	ruled   ruleSeqs
	cursor  uint64 // seq of the last record
	at      time.Time
}

// encodedDecision is where a decision stands in the arena.
type encodedDecision struct {
	pos        statemachine.DecisionPos
	start, end int
}

// rulesInForce are a rules record's. The zero value is none.
type rulesInForce struct {
	seq   uint64
	rules *statemachine.Rules
}

// newBatch begins behind the cursor that tx holds. rules are those that the last batch ended with, if
// there was one.
func newBatch(tx *stateTx, parts partitions, cache *messageCache, rules rulesInForce, record func(uint64) (statemachine.Record, error)) (*batch, error) {
	b := &batch{
		tx: tx, record: record, cache: cache, parts: parts, rules: rules, over: newOverlay(),
		messages: make(map[statemachine.ID]*statemachine.Message),
		sizes:    make(map[string]int64), queues: make(map[string]*queueCounts), tallies: make(map[string]statemachine.Tally),
		windows: make(map[string]int), overdue: make(map[string]int64), late: make(map[uint32]*lateKeys),
	}
	if n := len(parts); n > 0 {
		b.firstOpen = parts[n-1].number
	}
	m, err := readStateMeta(tx)
	if err != nil {
		return nil, err
	}
	b.cursor, b.at, b.size, b.logFrom, b.ruled = m.cursor, m.at, m.partition, m.logFrom, m.ruled
	if m.rules != rules.seq {
		b.rules, err = readRulesRecord(m.rules, record)
	}
	return b, err
}

// readRulesRecord reads the rules of a record; seq 0 gives none.
func readRulesRecord(seq uint64, record func(uint64) (statemachine.Record, error)) (rulesInForce, error) {
	if seq == 0 {
		return rulesInForce{}, nil
	}
	rec, err := record(seq)
	if err != nil {
		return rulesInForce{}, err
	}
	rules, ok := rec.Fact.(*statemachine.Rules)
	if !ok { // either may be the damaged one
		return rulesInForce{}, &DamagedError{File: logDir, Seq: seq, Err: errors.New("is no rules record, as state.db has it")}
	}
	return rulesInForce{seq, rules}, nil
}

// step folds one record in. eff, as the fold's Step leaves it, tells what the record changed.
func (b *batch) step(fold statemachine.Fold, rec statemachine.Record, eff *statemachine.Effects) error {
	if r, ok := rec.Fact.(*statemachine.Rules); ok {
		b.rules = rulesInForce{rec.Seq, r}
		b.ruled = append(b.ruled, rec.Seq)
	}
	err := fold.Step(b, rec, eff)
	if err == nil {
		err = b.take(rec, eff)
	}
	if err != nil {
		return fmt.Errorf("seq %d: %w", rec.Seq, err)
	}
	b.cursor, b.at = rec.Seq, rec.At
	return nil
}

func (b *batch) take(rec statemachine.Record, eff *statemachine.Effects) error {
	for _, m := range eff.Messages {
		if err := b.takeMessage(rec, m); err != nil {
			return err
		}
	}
	for i := range eff.Decisions {
		d := &eff.Decisions[i]
		start := len(b.arena)
		b.arena = appendDecision(b.arena, d)
		b.decisions = append(b.decisions, encodedDecision{d.Pos, start, len(b.arena)})
		if p := b.parts.of(d.Message); p != nil && d.Message != "" {
			p.restsOn(d.Record)
		}
	}
	for i := range eff.Index {
		b.takeIndex(&eff.Index[i])
	}
	for i := range eff.Inbox {
		if err := b.takeInbox(&eff.Inbox[i]); err != nil {
			return err
		}
	}
	for _, x := range eff.Exceptions {
		if err := b.takeException(x); err != nil {
			return err
		}
	}
	for i := range eff.Unanswered {
		u := &eff.Unanswered[i]
		b.changeList(tableID{table: tableUnanswered}, pairKey(u.Account, u.Dest), refElement(u.Ref), u.Remove)
	}
	for i := range eff.Queue {
		b.takeQueue(rec.Seq, &eff.Queue[i])
	}
	for _, t := range eff.Tallies {
		key := tallyKey(t.Hour, t.SMSC)
		b.tallies[key] = b.tallies[key].Add(t.Delta)
	}
	for i := range eff.Inbound {
		b.takeInbound(&eff.Inbound[i])
	}
	b.takeWindows(eff)
	if eff.Reprocess != nil {
		b.reprocess = eff.Reprocess
	}
	if eff.Restored != nil {
		b.restored = eff.Restored
	}
	if eff.Hold != nil {
		b.takeHold(eff.Hold)
	}
	if eff.Drop != nil {
		return b.takeDrop(eff.Drop)
	}
	return nil
}

func (b *batch) takeMessage(rec statemachine.Record, m *statemachine.Message) error {
	was, err := b.Message(m.ID)
	if err != nil {
		return err
	}
	b.messages[m.ID] = m
	if was != nil {
		b.parts.of(m.ID).moved(was.State, m.State)
		return nil
	}
	p := b.parts.place(m, b.size)
	p.add(m)
	b.sizes[sizeKey(sizeMessages, "")]++
	b.putIndex(p, tableDests, destKey(destination(m), m.ID), []byte{})
	if a, ok := rec.Fact.(*statemachine.MessageAccepted); ok {
		value := append(seqKey(rec.Seq), m.ID...)
		if a.Ref != "" {
			b.putIndex(p, tableRefs, refKey(kindRef, a.Owner, a.Ref), value)
		}
		if a.IdempotencyKey != "" {
			b.putIndex(p, tableRefs, refKey(kindIdempotency, a.Owner, a.IdempotencyKey), value)
		}
	}
	return nil
}

func (b *batch) putIndex(p *partition, t table, key, value []byte) {
	b.over.put(p.table(t), key, value)
	b.noteKey(p, t, key)
}

func (b *batch) takeIndex(e *statemachine.IndexEntry) {
	p := b.parts.of(e.Ref.Message)
	if p == nil {
		return // an entry for a message that there is not
	}
	id, key := p.table(tableIDs), idKey(e.Account, e.Key)
	b.changeList(id, key, refElement(e.Ref), e.Remove)
	b.noteKey(p, tableIDs, key)
}

func (b *batch) takeQueue(seq uint64, c *statemachine.QueueChange) {
	id, key := queueKey(&c.Entry)
	if c.Remove {
		b.over.put(id, key, nil)
		b.countQueued(&c.Entry, -1)
		return
	}
	b.over.put(id, key, []byte(c.Entry.Message))
	b.countQueued(&c.Entry, 1)
	b.putBack = b.putBack || c.Entry.Seq < seq
}

func (b *batch) takeInbound(c *statemachine.InboundChange) {
	key := pairKey(c.Account, string(c.Fingerprint[:]))
	b.over.put(tableID{table: tableInbound}, key, appendNanos(seqKey(c.Seq), c.At))
	age := binary.BigEndian.AppendUint64(appendNanos(nil, c.At), c.Seq)
	b.over.put(tableID{table: tableInboundByAge}, age, key)
}

func (b *batch) takeException(x *statemachine.Exception) error {
	key, err := exceptionKey(x.ID)
	if err != nil {
		return err
	}
	open := x.Status == statemachine.StatusOpen
	wasOpen := b.get(tableID{table: tableOpen}, key) != nil
	b.over.put(tableID{table: tableExceptions}, key, appendException(nil, x))
	if open == wasOpen {
		return nil
	}
	if open {
		b.over.put(tableID{table: tableOpen}, key, []byte{})
		b.over.put(tableID{table: tableOpenByGroup}, pairKey(string(x.Kind), x.Group), key)
		b.sizes[sizeKey(sizeOpen, string(x.Kind))]++
		return nil
	}
	b.closeException(key, x)
	return nil
}

// closeException takes one away from those that are open.
func (b *batch) closeException(key []byte, x *statemachine.Exception) {
	b.over.put(tableID{table: tableOpen}, key, nil)
	b.over.put(tableID{table: tableOpenByGroup}, pairKey(string(x.Kind), x.Group), nil)
	b.sizes[sizeKey(sizeOpen, string(x.Kind))]--
}

// changeList adds an element to a list, once, or takes it away.
func (b *batch) changeList(id tableID, key []byte, element string, remove bool) {
	list := b.get(id, key)
	if remove {
		b.over.put(id, key, removeFromList(list, element))
		return
	}
	b.over.put(id, key, appendToList(list, element))
}
