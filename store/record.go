package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"esmed/statemachine"
)

// formatVersion is the log's that this program writes, and stateVersion state.db's. It reads all logs up to it
// and refuses newer ones; a state.db of an earlier version is upgraded, or made anew.
const (
	formatVersion = 3 // 1 had commits without number and skip (chain.go); 2 had no tip (tip.go)
	tipFormat     = 3 // the first with one
	stateVersion  = 4 // 1 had no windows; 2 had what waits for a retry by time first, and counts of the queue as a whole; 3 had no states
)

// Fields of record.proto's Record.
const (
	fieldAt     protowire.Number = 1
	fieldKey    protowire.Number = 2
	fieldSpans  protowire.Number = 3
	fieldFact   protowire.Number = 16 // the first of the facts
	fieldCommit protowire.Number = 2047
)

// recordTypes in the order of their field numbers from fieldFact on. The order is for ever.
var recordTypes = [...]statemachine.RecordType{
	"rules", "accepted", "sent", "submit_resp", "in_doubt", "expired", "reception", "callback", "cutoff",
	"query_resp", "cancel_resp", "retry", "inbound", "verification", "operator", "webhook", "session",
	"retention", "restored",
}

// Field numbers of the facts that have a type.
const (
	factRules = fieldFact + iota
	factAccepted
	factSent
	factSubmitResp
	factInDoubt
	factExpired
	factReception
	_ // callback
	factCutoff
	factQueryResp
	factCancelResp
	factRetry
	_ // inbound
	_ // verification
	factOperator
	_ // webhook
	factSession
	factRetention
	factRestored
)

// unknownPrefix and a number name a type that not even recordTypes knows.
const unknownPrefix = "unknown_"

func typeOf(num protowire.Number) statemachine.RecordType {
	if i := int(num - fieldFact); i < len(recordTypes) {
		return recordTypes[i]
	}
	return statemachine.RecordType(fmt.Sprintf("%s%d", unknownPrefix, num))
}

func numberOf(t statemachine.RecordType) (protowire.Number, bool) {
	for i, name := range recordTypes {
		if name == t {
			return fieldFact + protowire.Number(i), true
		}
	}
	var num protowire.Number
	if _, err := fmt.Sscanf(string(t), unknownPrefix+"%d", &num); err != nil || typeOf(num) != t {
		return 0, false
	}
	return num, num > fieldFact && num < fieldCommit
}

// entry is a record as the log holds it.
type entry struct {
	statemachine.Record
	spans    []Span // sealed octets of the fact's PDU
	key      uint64 // name of the key that seals its texts; 0 = no text
	textGone bool   // that key was destroyed

	commit *commit // set on the last record of a commit
}

// receptionWithoutText reports whether what was decided about a record may have rested on a text that is gone.
func (e *entry) receptionWithoutText() bool {
	_, reception := e.Fact.(*statemachine.Reception)
	return reception && e.textGone
}

// encoder writes records. Its scratch space is used again, so it belongs to one goroutine.
type encoder struct {
	spans []byte
	seal  fieldSealer
}

// errNoEncoding is the caller's mistake: a fact that the log has no type for.
var errNoEncoding = errors.New("fact has no encoding")

// appendRecord appends the encoding of a record, without its commit hash. Texts are sealed with key
// where they end up, so fact and spans are only read. A nil key leaves them as they are.
func (e *encoder) appendRecord(b []byte, r statemachine.Record, spans []Span, key *sealKey) ([]byte, error) {
	start := len(b)
	b = putTime(b, fieldAt, r.At)
	e.seal.key, e.seal.seq, e.seal.field = key, r.Seq, 0
	if key != nil {
		b = putUint(b, fieldKey, key.name)
	}
	if len(spans) > 0 {
		e.spans = e.spans[:0]
		for _, s := range spans {
			e.spans = protowire.AppendVarint(e.spans, uint64(s.Start))
			e.spans = protowire.AppendVarint(e.spans, uint64(s.End-s.Start))
		}
		b = putBytes(b, fieldSpans, e.spans)
	}
	b, ok := e.appendFact(b, r.Fact, spans)
	if !ok {
		return b[:start], fmt.Errorf("%w: %T", errNoEncoding, r.Fact)
	}
	return b, nil
}

// appendCommit closes a commit: b ends with its last record.
func appendCommit(b []byte, c commit) []byte {
	b = protowire.AppendVarint(protowire.AppendTag(b, fieldCommit, protowire.BytesType), commitSize)
	return c.append(b)
}

// outline is what the hash chain needs of a record. Nothing of its fact is read.
type outline struct {
	at     time.Time
	body   []byte           // the encoding without the commit field
	fact   protowire.Number // the field that the fact is in
	ends   bool             // it is the last of a commit, which is commit
	commit commit
}

func readOutline(value []byte) (o outline, err error) {
	o.body = value
	f := fields{rest: value}
	for before := len(f.rest); f.next(); before = len(f.rest) {
		switch {
		case f.num == fieldAt:
			o.at = f.time()
		case f.num == fieldCommit:
			if o.commit, o.ends = readCommit(f.b); !o.ends || len(f.rest) != 0 {
				return o, errMalformed
			}
			o.body = value[:len(value)-before]
		case f.num >= fieldFact:
			if o.fact != 0 {
				return o, errMalformed // a record has one; this may have been the end of its commit
			}
			o.fact = f.num
		}
	}
	return o, f.err
}

// decodeRecord reads what appendRecord and appendCommit wrote. Texts are still sealed.
func decodeRecord(seq uint64, value []byte) (entry, error) {
	e := entry{Record: statemachine.Record{Seq: seq}}
	f := fields{rest: value}
	for f.next() {
		switch {
		case f.num == fieldAt:
			e.At = f.time()
		case f.num == fieldKey:
			e.key = f.u
		case f.num == fieldSpans:
			e.spans = readSpans(&f)
		case f.num == fieldCommit:
			c, ok := readCommit(f.b)
			if !ok || len(f.rest) != 0 {
				return e, errMalformed
			}
			e.commit = &c
		case f.num >= fieldFact:
			e.Fact = readFact(f.num, &f)
		}
	}
	switch {
	case f.err != nil:
		return e, f.err
	case e.Fact == nil || e.At.IsZero():
		return e, errMalformed
	}
	if pdu := sealedPDU(e.Fact); !within(e.spans, len(pdu)) {
		return e, errMalformed
	}
	return e, nil
}

func readSpans(f *fields) []Span {
	var spans []Span
	for rest := f.b; len(rest) > 0; {
		start, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			f.fail()
			return nil
		}
		length, m := protowire.ConsumeVarint(rest[n:])
		if m < 0 || start > maxRecord || length > maxRecord {
			f.fail()
			return nil
		}
		spans = append(spans, Span{int(start), int(start + length)})
		rest = rest[n+m:]
	}
	return spans
}

// within reports whether spans are in order, do not overlap and lie in n octets.
func within(spans []Span, n int) bool {
	at := 0
	for _, s := range spans {
		if s.Start < at || s.End < s.Start || s.End > n {
			return false
		}
		at = s.End
	}
	return true
}

// maxRecord bounds what one record may hold, well over the largest PDU (16 MiB are refused at the
// frame).
const maxRecord = 32 << 20

// seqKey is a record's key in its segment.
func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func seqOf(key []byte) (uint64, bool) {
	if len(key) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(key), true
}

// canonical gives the fact as it will read back from the log: instants in UTC, without a monotonic
// clock. The caller's value is not changed.
func canonical(fact statemachine.Fact) statemachine.Fact {
	switch f := fact.(type) {
	case *statemachine.MessageAccepted:
		if isCanonical(f.ScheduledAt) && isCanonical(f.ValidUntil) {
			return f
		}
		c := *f
		c.ScheduledAt, c.ValidUntil = canonicalTime(f.ScheduledAt), canonicalTime(f.ValidUntil)
		return &c
	case *statemachine.Sent:
		if isCanonical(f.ValidUntil) {
			return f
		}
		c := *f
		c.ValidUntil = canonicalTime(f.ValidUntil)
		return &c
	case *statemachine.SubmitResp:
		if isCanonical(f.RetryAt) {
			return f
		}
		c := *f
		c.RetryAt = canonicalTime(f.RetryAt)
		return &c
	}
	return fact
}

func isCanonical(t time.Time) bool { return t == canonicalTime(t) }
