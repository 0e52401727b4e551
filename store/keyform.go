package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"esmed/receipt"
	"esmed/statemachine"
)

// maxKey keeps keys far below bbolt's limit (32 kB): a peer may send ids of 64 kB. What is longer
// keeps its beginning and gets the SHA-256 of all of it instead of the rest.
const maxKey = 512

func bounded(key []byte) []byte { return boundedFrom(key, 0) }

// boundedFrom bounds the key that b ends with, from start on.
func boundedFrom(b []byte, start int) []byte {
	key := b[start:]
	if len(key) <= maxKey {
		return b
	}
	sum := sha256.Sum256(key)
	return append(b[:start+maxKey-len(sum):start+maxKey-len(sum)], sum[:]...)
}

// appendPart appends s so that no other s begins with the result.
func appendKeyPart(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func pairKey(first, second string) []byte {
	return appendPairKey(make([]byte, 0, len(first)+len(second)+2), first, second)
}

func appendPairKey(b []byte, first, second string) []byte {
	start := len(b)
	return boundedFrom(append(appendKeyPart(b, first), second...), start)
}

// appendQueueKey appends where an entry waits: in the queue by priority and then first in first out, or among the
// delayed by priority and then by its time.
func appendQueueKey(b []byte, e *statemachine.QueueEntry) (tableID, []byte) {
	b = appendLevel(b, e.SMSC, int(e.Priority))
	id := tableID{table: tableQueue}
	if !e.NotBefore.IsZero() {
		id.table = tableDelayed
		b = appendNanos(b, e.NotBefore)
	}
	b = binary.BigEndian.AppendUint64(b, e.Seq)
	return id, binary.BigEndian.AppendUint32(b, uint32(e.Part))
}

// levelPrefix begins the keys of an SMSC's entries of a priority.
func levelPrefix(smsc string, priority int) []byte {
	return appendLevel(make([]byte, 0, 48), smsc, priority)
}

func appendLevel(b []byte, smsc string, priority int) []byte {
	return append(appendKeyPart(b, smsc), byte(lowestFirst-priority))
}

const (
	// lowestFirst less the priority sorts high priorities first.
	lowestFirst = 3
	priorities  = lowestFirst + 1
	// placeSize is what a key of queue has behind its SMSC: priority, seq and part.
	placeSize = 1 + 8 + 4
)

// queueEntry reads a key of appendQueueKey and its value.
func queueEntry(id table, smsc string, key, value []byte) (e statemachine.QueueEntry, ok bool) {
	at := len(appendKeyPart(make([]byte, 0, 48), smsc))
	if len(key) < at {
		return e, false
	}
	rest := key[at:]
	if id != tableDelayed {
		return readPlace(smsc, rest, value)
	}
	if len(rest) != 8+placeSize {
		return e, false
	}
	var place [placeSize]byte
	place[0] = rest[0]
	copy(place[1:], rest[1+8:])
	e, ok = readPlace(smsc, place[:], value)
	e.NotBefore = fromKeyNanos(rest[1:])
	return e, ok
}

func readPlace(smsc string, place, value []byte) (e statemachine.QueueEntry, ok bool) {
	if len(place) != placeSize || place[0] > lowestFirst {
		return e, false
	}
	return statemachine.QueueEntry{
		SMSC: smsc, Priority: lowestFirst - place[0], Seq: binary.BigEndian.Uint64(place[1:]),
		Message: statemachine.ID(value), Part: int(binary.BigEndian.Uint32(place[9:])),
	}, true
}

func refKey(kind byte, owner, ref string) []byte {
	return appendRefKey(make([]byte, 0, 3+len(ref)+len(owner)), kind, owner, ref)
}

func appendRefKey(b []byte, kind byte, owner, ref string) []byte {
	start := len(b)
	return boundedFrom(append(appendKeyPart(append(b, kind), ref), owner...), start)
}

// Kinds of refKey.
const (
	kindRef         = 'r'
	kindIdempotency = 'k'
)

// appendDestKey names a destination's messages: international numbers by their digits, others as given.
func appendDestKey(b []byte, dest string, id statemachine.ID) []byte {
	return append(appendDestPrefix(b, dest), id...)
}

func destPrefix(dest string) []byte { return appendDestPrefix(nil, dest) }

func appendDestPrefix(b []byte, dest string) []byte {
	digits := strings.TrimPrefix(dest, "+")
	if digits == dest {
		digits = strings.TrimPrefix(dest, "00")
	}
	start := len(b)
	return append(boundedFrom(append(b, digits...), start), 0)
}

func destination(m *statemachine.Message) string {
	if m.E164 != "" {
		return m.E164
	}
	return m.To
}

func inboxAgeKey(r *statemachine.InboxRow) []byte {
	b := appendNanos(appendKeyPart(nil, r.SMSC), r.ReceivedAt)
	return append(b, bounded([]byte(r.Key))...)
}

// A list is protobuf's repeated field 1, so that appending is putting one more behind.

// appendToList appends to b what the list is with an element, which it has once.
func appendToList(b, list, element []byte) []byte {
	b = append(b, list...)
	f := fields{rest: list}
	for f.next() {
		if bytes.Equal(f.b, element) {
			return b
		}
	}
	return putBytes(b, 1, element)
}

func readList(list []byte) (elements []string, err error) {
	f := fields{rest: list}
	for f.next() {
		elements = append(elements, f.str())
	}
	return elements, f.err
}

// removeFromList appends to b what is left of a list without an element.
func removeFromList(b, list, element []byte) []byte {
	f := fields{rest: list}
	for f.next() {
		if !bytes.Equal(f.b, element) {
			b = putBytes(b, 1, f.b)
		}
	}
	return b
}

func appendRefElement(b []byte, ref statemachine.AttemptRef) []byte {
	b = putString(b, 1, string(ref.Message))
	b = putUint(b, 2, uint64(ref.Part))
	return putUint(b, 3, uint64(ref.Attempt))
}

func readRefs(list []byte) (refs []statemachine.AttemptRef, err error) {
	f := fields{rest: list}
	for f.next() {
		f.nested(func(in *fields) { refs = append(refs, readRef(in)) })
	}
	return refs, f.err
}

func idKey(account string, key receipt.Key) []byte { return pairKey(account, string(key)) }

// sizeKey names one of the counters of what there is now.
func sizeKey(kind byte, of string) []byte { return append([]byte{kind}, of...) }

// Kinds of sizeKey.
const (
	sizeQueue    = 'q' // parts that wait, of an SMSC: queueCounts
	sizeInbox    = 'i' // rows, of an SMSC
	sizeWaiting  = 'w' // rows that nobody dismissed, of an SMSC
	sizeOpen     = 'x' // open exceptions, of a kind
	sizeMessages = 'm' // messages; of nothing
)

// tallyKey is of an hour's counters.
func tallyKey(hour time.Time, smsc string) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(hour.Unix())), smsc...)
}

func appendTally(b []byte, t statemachine.Tally) []byte {
	for i, n := range tallyFields(&t) {
		b = putInt(b, protowire.Number(i+1), *n)
	}
	return b
}

func readTally(value []byte) (t statemachine.Tally, err error) {
	to := tallyFields(&t)
	f := fields{rest: value}
	for f.next() {
		if i := int(f.num) - 1; i < len(to) {
			*to[i] = f.int()
		}
	}
	return t, f.err
}

func tallyFields(t *statemachine.Tally) [11]*int64 {
	return [...]*int64{
		&t.Accepted, &t.Submitted, &t.Failed, &t.Asked, &t.Final, &t.Delivered, &t.Open, &t.Unreported,
		&t.InDoubt, &t.MaybeDoubled, &t.Verified,
	}
}
