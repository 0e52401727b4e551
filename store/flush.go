package store

import (
	"errors"
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
	s.o.put(id, key, value)
	return nil
}

func (s overlaySink) delete(id tableID, key []byte) error {
	s.o.delete(id, key)
	return nil
}

// freeze puts into the overlay what the batch has not put there yet, so that all that it changes is there as it is to
// be written.
func (b *batch) freeze() error {
	for id, m := range b.messages {
		b.key, b.value = append(b.key[:0], id...), appendMessage(b.value[:0], m)
		p := b.parts.of(id)
		b.over.put(p.table(tableMessages), b.key, b.value)
		b.freezeState(p, m, b.was[id])
	}
	if err := errors.Join(b.freezeFilters(), b.freezeQueues()); err != nil {
		return err
	}
	b.freezeOverdue()
	for of, delta := range b.sizes {
		key := sizeKey(of.kind, of.of)
		n := readSize(b.get(tableID{table: tableSizes}, key)) + delta
		b.over.put(tableID{table: tableSizes}, key, appendSize(n))
	}
	for of, delta := range b.tallies {
		key := tallyKey(time.Unix(of.hour, 0), of.smsc)
		t, err := readTally(b.get(tableID{table: tableTallies}, key))
		if err != nil {
			return err
		}
		b.over.put(tableID{table: tableTallies}, key, appendTally(nil, t.Add(*delta)))
	}
	for _, p := range b.parts {
		if p.changed {
			b.over.put(tableID{table: tablePartitions}, p.key(), appendPartition(nil, p))
			p.changed = false
		}
	}
	b.freezeMeta()
	return b.forgetInbound()
}

func (b *batch) freezeMeta() {
	id := tableID{table: tableMeta}
	b.over.put(id, metaRules, seqKey(b.rules.seq))
	b.over.put(id, metaAt, appendNanos(nil, b.at))
	b.over.put(id, metaCursor, seqKey(b.cursor))
	if b.reprocess != nil {
		b.over.put(id, metaReprocess, appendProgress(nil, b.reprocess))
	}
	if b.restored != nil {
		b.over.put(id, metaRestored, appendRestored(nil, b.restored))
	}
	if len(b.ruled) > 0 {
		b.over.put(id, metaRuled, b.ruled.append(nil))
	}
	if b.logFrom > 0 {
		b.over.put(id, metaLogFrom, seqKey(b.logFrom))
	}
}

// forgetInbound drops what is remembered of mobile-originated messages for longer than anybody asks.
// It follows from the cursor alone, so that one batch and many leave the same.
func (b *batch) forgetInbound() error {
	limit := appendNanos(nil, b.at.Add(-statemachine.InboundWindow))
	byAge, inbound := tableID{table: tableInboundByAge}, tableID{table: tableInbound}
	var ages, keys [][]byte
	tx := b.whole()
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
		b.over.delete(byAge, age)
	}
	for _, key := range keys {
		b.over.delete(inbound, key)
	}
	return err
}

// whole reads what the batch began with and what it has put over it.
func (b *batch) whole() *stateTx {
	return newStateTx(b.tx.bolt, append(slices.Clip(b.tx.overs), b.over)...)
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
