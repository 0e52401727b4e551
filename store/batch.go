package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"esmed/statemachine"
)

// batch is what a run of records changes, until it is frozen and its overlay published. It is the fold's View of the
// state: what tx has, with its own changes laid over. Its room is used again by begin.
type batch struct {
	tx     *stateTx
	record func(seq uint64) (statemachine.Record, error)
	cache  *messageCache
	parts  partitions
	size   uint64 // of a partition, in messages
	fills  bool   // what it puts goes into the filters at once: it is published, or all filters are forgotten

	rules rulesInForce

	over     *overlay // all that it changes, once it is frozen; till then what follows is not in it
	messages map[statemachine.ID]*statemachine.Message
	was      map[statemachine.ID]statemachine.State // of the messages, when the batch began; NoState: there was none
	octets   int                                    // that the messages take
	sizes    map[sizeOf]int64
	queues   map[string]*queueCounts // by SMSC: what to add
	tallies  map[tallyOf]*statemachine.Tally
	overdue  map[string]int64 // by key: what to add
	late     map[uint32]*lateKeys

	// Room for a key, an element of a list and a value, each until the next one is made.
	key, element, value []byte

	firstOpen uint32 // number of the partition that was the last one when the batch began
	reprocess *statemachine.ReprocessProgress
	restored  *statemachine.Restored
	putBack   bool      // a part is in the queue again where it stood before
	dropped   []tableID // that what lies under it has for nothing

	logFrom uint64 // records before are dropped, as far as the fold is concerned
	ruled   ruleSeqs
	began   uint64 // seq of the last record before it
	cursor  uint64 // seq of the last record
	at      time.Time
}

// sizeOf names one of the counters of what there is now.
type sizeOf struct {
	kind byte
	of   string
}

// tallyOf names an hour's counters.
type tallyOf struct {
	hour int64 // its start, in seconds
	smsc string
}

// rulesInForce are a rules record's. The zero value is none.
type rulesInForce struct {
	seq   uint64
	rules *statemachine.Rules
}

// newBatch makes a batch that is to be begun.
func newBatch(cache *messageCache, record func(uint64) (statemachine.Record, error)) *batch {
	return &batch{
		record: record, cache: cache, over: newOverlay(),
		messages: make(map[statemachine.ID]*statemachine.Message), was: make(map[statemachine.ID]statemachine.State),
		sizes: make(map[sizeOf]int64), queues: make(map[string]*queueCounts), tallies: make(map[tallyOf]*statemachine.Tally),
		overdue: make(map[string]int64), late: make(map[uint32]*lateKeys),
	}
}

// beginBatch makes a batch for itself.
func beginBatch(tx *stateTx, record func(uint64) (statemachine.Record, error)) (*batch, error) {
	parts, err := readPartitions(tx)
	if err != nil {
		return nil, err
	}
	b := newBatch(new(messageCache), record)
	return b, b.begin(tx, parts, rulesInForce{})
}

// begin empties the batch and begins behind the cursor that tx holds. rules are those that the last batch ended
// with, if there was one.
func (b *batch) begin(tx *stateTx, parts partitions, rules rulesInForce) error {
	b.over.reset()
	clear(b.messages)
	clear(b.was)
	clear(b.sizes)
	clear(b.queues)
	clear(b.tallies)
	clear(b.overdue)
	clear(b.late)
	b.tx, b.parts, b.rules = tx, parts, rules
	b.firstOpen, b.reprocess, b.restored, b.putBack, b.octets, b.dropped = 0, nil, nil, false, 0, b.dropped[:0]
	if n := len(parts); n > 0 {
		b.firstOpen = parts[n-1].number
	}
	m, err := readStateMeta(tx)
	if err != nil {
		return err
	}
	b.began, b.cursor, b.at, b.size, b.logFrom, b.ruled = m.cursor, m.cursor, m.at, m.partition, m.logFrom, m.ruled
	if m.rules != rules.seq {
		b.rules, err = readRulesRecord(m.rules, b.record)
	}
	return err
}

// batchOctets bounds what a batch holds in memory, beside applyBatch, for those of long messages.
const batchOctets = 4 << 20

func (b *batch) full() bool { return b.octets+b.over.arena.size() >= batchOctets }

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
	for i := range eff.Messages {
		b.takeMessage(rec, &eff.Messages[i])
	}
	for i := range eff.Decisions {
		b.takeDecision(&eff.Decisions[i])
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
		b.key = appendPairKey(b.key[:0], u.Account, u.Dest)
		b.element = appendRefElement(b.element[:0], u.Ref)
		b.changeList(tableID{table: tableUnanswered}, u.Remove)
	}
	for i := range eff.Queue {
		b.takeQueue(rec.Seq, &eff.Queue[i])
	}
	for i := range eff.Tallies {
		b.takeTally(&eff.Tallies[i])
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

func (b *batch) takeMessage(rec statemachine.Record, c *statemachine.MessageChange) {
	m := c.Message
	if _, known := b.messages[m.ID]; !known {
		b.octets += octetsOf(m)
		b.was[m.ID] = c.Was
	}
	b.messages[m.ID] = m
	if c.Was != statemachine.NoState {
		b.parts.of(m.ID).moved(c.Was, m.State)
		return
	}
	p := b.parts.place(m, b.size)
	if b.fills && p.messages == 0 {
		b.tx.filters.open(p.number, blocksFor(b.size))
	}
	p.add(m)
	b.sizes[sizeOf{kind: sizeMessages}]++
	b.key = appendDestKey(b.key[:0], destination(m), m.ID)
	b.putIndex(p, tableDests, nil)
	if a, ok := rec.Fact.(*statemachine.MessageAccepted); ok {
		value := append(binary.BigEndian.AppendUint64(b.value[:0], rec.Seq), m.ID...)
		b.value = value
		if a.Ref != "" {
			b.key = appendRefKey(b.key[:0], kindRef, a.Owner, a.Ref)
			b.putIndex(p, tableRefs, value)
		}
		if a.IdempotencyKey != "" {
			b.key = appendRefKey(b.key[:0], kindIdempotency, a.Owner, a.IdempotencyKey)
			b.putIndex(p, tableRefs, value)
		}
	}
}

// putIndex puts b.key.
func (b *batch) putIndex(p *partition, t table, value []byte) {
	b.over.put(p.table(t), b.key, value)
	b.noteKey(p, t, b.key)
}

func (b *batch) takeDecision(d *statemachine.Decision) {
	b.key = appendDecisionKey(b.key[:0], d.Pos)
	b.value = appendDecision(b.value[:0], d)
	b.over.putNew(decisionTable(d.Pos.Seq), b.key, b.value)
	if p := b.parts.of(d.Message); p != nil && d.Message != "" {
		p.restsOn(d.Record)
	}
}

func (b *batch) takeIndex(e *statemachine.IndexEntry) {
	p := b.parts.of(e.Ref.Message)
	if p == nil {
		return // an entry for a message that there is not
	}
	b.key = appendPairKey(b.key[:0], e.Account, string(e.Key))
	b.element = appendRefElement(b.element[:0], e.Ref)
	b.changeList(p.table(tableIDs), e.Remove)
	if e.Remove {
		b.noteGone(p)
	} else {
		b.noteKey(p, tableIDs, b.key)
	}
}

// takeQueue knows of an entry that came in this batch that it is nowhere else: mostly it goes in it too.
func (b *batch) takeQueue(seq uint64, c *statemachine.QueueChange) {
	var id tableID
	id, b.key = appendQueueKey(b.key[:0], &c.Entry)
	if c.Remove {
		b.over.delete(id, b.key)
		b.countQueued(&c.Entry, -1)
		return
	}
	b.value = append(b.value[:0], c.Entry.Message...)
	b.over.table(id).put(b.key, b.value, c.Entry.Seq > b.began)
	b.countQueued(&c.Entry, 1)
	b.putBack = b.putBack || c.Entry.Seq < seq
}

func (b *batch) takeTally(c *statemachine.TallyChange) {
	of := tallyOf{c.Hour.Unix(), c.SMSC}
	t := b.tallies[of]
	if t == nil {
		t = new(statemachine.Tally)
		b.tallies[of] = t
	}
	*t = t.Add(c.Delta)
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
		b.over.put(tableID{table: tableOpen}, key, nil)
		b.over.put(tableID{table: tableOpenByGroup}, pairKey(string(x.Kind), x.Group), key)
		b.sizes[sizeOf{sizeOpen, string(x.Kind)}]++
		return nil
	}
	b.closeException(key, x)
	return nil
}

// closeException takes one away from those that are open.
func (b *batch) closeException(key []byte, x *statemachine.Exception) {
	b.over.delete(tableID{table: tableOpen}, key)
	b.over.delete(tableID{table: tableOpenByGroup}, pairKey(string(x.Kind), x.Group))
	b.sizes[sizeOf{sizeOpen, string(x.Kind)}]--
}

// changeList adds b.element to the list at b.key, once, or takes it away.
func (b *batch) changeList(id tableID, remove bool) {
	list, changed := b.over.get(id, b.key)
	if !changed {
		list = b.tx.get(id, b.key)
	}
	if remove {
		b.value = removeFromList(b.value[:0], list, b.element)
	} else {
		b.value = appendToList(b.value[:0], list, b.element)
	}
	switch {
	case len(b.value) > 0:
		b.over.table(id).put(b.key, b.value, !changed && list == nil)
	case list != nil:
		b.over.delete(id, b.key)
	}
}
