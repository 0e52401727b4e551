package store

import (
	"errors"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"esmed/statemachine"
)

// sink takes what a batch changes: a transaction, or the overlay of a read-only store.
type sink interface {
	put(id tableID, key, value []byte) error
	delete(id tableID, key []byte) error
}

// overlaySink makes an overlay a sink.
type overlaySink struct{ o *overlay }

func (s overlaySink) put(id tableID, key, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	s.o.put(id, key, value)
	return nil
}

func (s overlaySink) delete(id tableID, key []byte) error {
	s.o.put(id, key, nil)
	return nil
}

// flush writes the batch, each table's keys in order: bbolt splits a page only when it commits, so
// keys at random would be sorted into ever longer ones. What it hands over stays in the batch's arena.
func (b *batch) flush(to sink) error {
	if err := b.flushMessages(to); err != nil {
		return err
	}
	for _, d := range b.decisions {
		if err := to.put(decisionTable(d.pos.Seq), decisionKey(d.pos), b.arena[d.start:d.end:d.end]); err != nil {
			return err
		}
	}
	if err := b.flushFilters(to); err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(b.over.tables), func(x, y tableID) int {
		if x.table != y.table {
			return int(x.table) - int(y.table)
		}
		return int(x.part) - int(y.part)
	})
	for _, id := range ids {
		t := b.over.tables[id]
		t.sort()
		for _, key := range t.keys {
			var err error
			if value := t.values[key]; value != nil {
				err = to.put(id, []byte(key), value)
			} else {
				err = to.delete(id, []byte(key))
			}
			if err != nil {
				return err
			}
		}
	}
	return b.flushCounters(to)
}

func (b *batch) flushMessages(to sink) error {
	ids := make([]statemachine.ID, 0, len(b.messages))
	for id := range b.messages {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		start := len(b.arena)
		b.arena = appendMessage(b.arena, b.messages[id])
		if err := to.put(b.parts.of(id).table(tableMessages), []byte(id), b.arena[start:]); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) flushCounters(to sink) error {
	if err := errors.Join(b.flushWindows(to), b.flushQueues(to)); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(b.sizes)) {
		n := readSize(b.tx.get(tableID{table: tableSizes}, []byte(key))) + b.sizes[key]
		if err := to.put(tableID{table: tableSizes}, []byte(key), appendSize(n)); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.tallies)) {
		t, err := readTally(b.tx.get(tableID{table: tableTallies}, []byte(key)))
		if err != nil {
			return err
		}
		if err := to.put(tableID{table: tableTallies}, []byte(key), appendTally(nil, t.Add(b.tallies[key]))); err != nil {
			return err
		}
	}
	for _, p := range b.parts {
		if !p.changed {
			continue
		}
		if err := to.put(tableID{table: tablePartitions}, p.key(), appendPartition(nil, p)); err != nil {
			return err
		}
	}
	return b.flushMeta(to)
}

func (b *batch) flushMeta(to sink) error {
	id := tableID{table: tableMeta}
	err := errors.Join(to.put(id, metaRules, seqKey(b.rules.seq)), to.put(id, metaAt, appendNanos(nil, b.at)))
	if b.reprocess != nil {
		err = errors.Join(err, to.put(id, metaReprocess, appendProgress(nil, b.reprocess)))
	}
	if b.restored != nil {
		err = errors.Join(err, to.put(id, metaRestored, appendRestored(nil, b.restored)))
	}
	if len(b.ruled) > 0 {
		err = errors.Join(err, to.put(id, metaRuled, b.ruled.append(nil)))
	}
	if b.logFrom > 0 {
		err = errors.Join(err, to.put(id, metaLogFrom, seqKey(b.logFrom)))
	}
	return errors.Join(err, to.put(id, metaCursor, seqKey(b.cursor)))
}

// forgetInbound drops what is remembered of mobile-originated messages for longer than anybody asks.
// It follows from the cursor alone, so that one batch and many leave the same.
func forgetInbound(tx *stateTx, to sink, now time.Time) error {
	limit := appendNanos(nil, now.Add(-statemachine.InboundWindow))
	byAge, inbound := tableID{table: tableInboundByAge}, tableID{table: tableInbound}
	var ages, keys [][]byte
	err := tx.scan(byAge, nil, nil, false, func(age, key []byte) error {
		if len(age) != 16 || string(age[:8]) >= string(limit) {
			return errStop
		}
		ages = append(ages, slices.Clone(age))
		if value := tx.get(inbound, key); len(value) == 16 && string(value[:8]) == string(age[8:]) {
			keys = append(keys, slices.Clone(key)) // else it came again since
		}
		return nil
	})
	for _, age := range ages {
		if err == nil {
			err = to.delete(byAge, age)
		}
	}
	for _, key := range keys {
		if err == nil {
			err = to.delete(inbound, key)
		}
	}
	return err
}

func readSize(value []byte) int64 {
	v, n := protowire.ConsumeVarint(value)
	if n < 0 {
		return 0
	}
	return protowire.DecodeZigZag(v)
}

func appendSize(n int64) []byte { return protowire.AppendVarint(nil, protowire.EncodeZigZag(n)) }

// Keys of the meta table.
var (
	metaFormat = []byte("format")
	metaCursor = []byte("cursor") // seq of the last record that is in
	metaAt     = []byte("at")     // and its time
	metaRules  = []byte("rules")  // seq of the rules in force behind it; 0 = none

	metaPartition      = []byte("partition_messages") // Config.PartitionMessages when it was made
	metaPartitionCheck = []byte("partition_check")    // its complement: no other row would tell that it is damaged
	metaRuled          = []byte("rules_seqs")         // seqs of the rules records that a fold may still ask for
	metaLogFrom        = []byte("log_from")           // records before are dropped; not there = none
	metaReprocess      = []byte("reprocess")          // how far the last pass is
	metaRestored       = []byte("restored")           // the last such record
)

type stateMeta struct {
	format uint64
	cursor uint64
	at     time.Time
	rules  uint64
	ruled  ruleSeqs

	partition uint64
	logFrom   uint64
}

func readStateMeta(tx *stateTx) (m stateMeta, err error) {
	id := tableID{table: tableMeta}
	number := func(key []byte) (n uint64) {
		if v := tx.get(id, key); v != nil {
			var ok bool
			if n, ok = seqOf(v); !ok {
				err = errMalformed
			}
		}
		return n
	}
	m.format, m.cursor, m.rules, m.partition = number(metaFormat), number(metaCursor), number(metaRules), number(metaPartition)
	m.logFrom = number(metaLogFrom)
	m.ruled = readRuleSeqs(tx.get(id, metaRuled))
	if m.format >= upgradableState && m.partition != ^number(metaPartitionCheck) {
		err = errMalformed
	}
	if v := tx.get(id, metaAt); len(v) == 8 {
		m.at = fromKeyNanos(v)
	}
	return m, err
}
