package store

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// The protobuf wire format, written by hand: fields in ascending order, zero values left out, so that
// equal values give equal octets. record.proto and state.proto describe the messages.

var errMalformed = errors.New("malformed encoding")

func putUint(b []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func putInt(b []byte, num protowire.Number, v int64) []byte {
	return putUint(b, num, protowire.EncodeZigZag(v))
}

func putBool(b []byte, num protowire.Number, v bool) []byte {
	return putUint(b, num, protowire.EncodeBool(v))
}

func putString(b []byte, num protowire.Number, v string) []byte {
	if v == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func putBytes(b []byte, num protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

// putAll writes every string of a list, empty ones too.
func putAll[S ~string](b []byte, num protowire.Number, list []S) []byte {
	for _, v := range list {
		b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), string(v))
	}
	return b
}

// putTime writes an instant in nanoseconds since 1970; the zero Time is left out.
func putTime(b []byte, num protowire.Number, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, num, protowire.Fixed64Type), uint64(nanos(t)))
}

// The instants that nanoseconds in 64 bits can tell; others are moved to the nearer end.
var (
	minTime = time.Unix(0, math.MinInt64)
	maxTime = time.Unix(0, math.MaxInt64)
)

func nanos(t time.Time) int64 {
	switch {
	case t.Before(minTime):
		return math.MinInt64
	case t.After(maxTime):
		return math.MaxInt64
	}
	return t.UnixNano()
}

func fromNanos(v uint64) time.Time { return time.Unix(0, int64(v)).UTC() }

// canonicalTime is t as it reads back from the log.
func canonicalTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return fromNanos(uint64(nanos(t)))
}

// openNested begins a message in field num; closeNested ends it.
func openNested(b []byte, num protowire.Number) (out []byte, at int) {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return append(b, 0), len(b)
}

// closeNested puts the length before what was appended since openNested returned at.
func closeNested(b []byte, at int) []byte {
	n := len(b) - at - 1
	if n < 0x80 {
		b[at] = byte(n)
		return b
	}
	extra := protowire.SizeVarint(uint64(n)) - 1
	b = append(b, make([]byte, extra)...)
	copy(b[at+1+extra:], b[at+1:at+1+n])
	protowire.AppendVarint(b[:at], uint64(n))
	return b
}

// fields walks the fields of one message. Fields that the reader does not know are walked over like
// any other, so the caller ignores them by naming no case for them.
type fields struct {
	rest []byte
	err  error
	text string // all that is walked, when the strings in it are to be parts of one; else ""

	num protowire.Number
	u   uint64 // a varint, or the bits of a fixed-size field
	b   []byte // a length-delimited field; points into the input
}

func (f *fields) next() bool {
	if f.err != nil || len(f.rest) == 0 {
		return false
	}
	num, typ, n := protowire.ConsumeTag(f.rest)
	if n < 0 {
		return f.fail()
	}
	f.rest = f.rest[n:]
	f.num, f.u, f.b = num, 0, nil
	switch typ {
	case protowire.VarintType:
		f.u, n = protowire.ConsumeVarint(f.rest)
	case protowire.Fixed64Type:
		f.u, n = protowire.ConsumeFixed64(f.rest)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(f.rest)
		f.u = uint64(v)
	case protowire.BytesType:
		f.b, n = protowire.ConsumeBytes(f.rest)
	default:
		n = protowire.ConsumeFieldValue(num, typ, f.rest)
	}
	if n < 0 {
		return f.fail()
	}
	f.rest = f.rest[n:]
	return true
}

func (f *fields) fail() bool {
	f.err = errMalformed
	return false
}

// nested hands a message in the current field to read and keeps its error.
func (f *fields) nested(read func(*fields)) {
	in := fields{rest: f.b}
	if f.text != "" {
		in.text = f.str()
	}
	read(&in)
	if in.err != nil {
		f.err = in.err
	}
}

// joinStrings makes all strings of the message parts of one: for what has many, which are kept together.
func (f *fields) joinStrings() { f.text = string(f.rest) }

func (f *fields) str() string {
	if f.text == "" {
		return string(f.b)
	}
	end := len(f.text) - len(f.rest)
	return f.text[end-len(f.b) : end]
}

func (f *fields) bytes() []byte   { return append([]byte(nil), f.b...) }
func (f *fields) int() int64      { return protowire.DecodeZigZag(f.u) }
func (f *fields) bool() bool      { return f.u != 0 }
func (f *fields) time() time.Time { return fromNanos(f.u) }

// appendNanos appends an instant so that keys sort by it.
func appendNanos(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(nanos(t))^1<<63)
}

func fromKeyNanos(b []byte) time.Time { return fromNanos(binary.BigEndian.Uint64(b) ^ 1<<63) }
