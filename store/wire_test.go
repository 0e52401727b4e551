package store

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
)

// fill puts drawn values into every field that can be reached, so that a field that an encoding
// forgets shows, also one that is added later.
func fill(t *rapid.T, v reflect.Value, text *rapid.Generator[string]) {
	if v.Type() == reflect.TypeFor[receipt.MessageState]() {
		v.SetUint(rapid.Uint64Max(uint64(receipt.Skipped)).Draw(t, "state")) // its JSON is a name
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(0, 1<<31-1).Draw(t, "int"))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64Max(1<<v.Type().Bits()-1).Draw(t, "uint"))
	case reflect.String:
		v.SetString(text.Draw(t, "string"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), text)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), text)
		}
	case reflect.Slice:
		if n := rapid.IntRange(0, 3).Draw(t, "len"); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i), text)
			}
		}
	case reflect.Map:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.MakeMap(v.Type()))
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(t, key, text)
			fill(t, value, text)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if rapid.Bool().Draw(t, "set") {
				v.Set(reflect.ValueOf(fromNanos(rapid.Uint64().Draw(t, "nanos"))))
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i), text)
			}
		}
	default:
		t.Fatalf("no values for a %s", v.Kind())
	}
}

// octets are strings as a peer may send them; words are what configuration holds.
var (
	octets = rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "octets")) })
	words  = rapid.StringMatching(`[a-zA-Z0-9_#@.-]{1,12}`)
)

func facts() []statemachine.Fact {
	return []statemachine.Fact{
		&statemachine.Rules{}, &statemachine.MessageAccepted{}, &statemachine.Sent{}, &statemachine.SubmitResp{},
		&statemachine.AttemptInDoubt{}, &statemachine.QueueExpired{}, &statemachine.Reception{}, &statemachine.Cutoff{},
		&statemachine.QueryResp{}, &statemachine.Retry{}, &statemachine.SessionEvent{}, &statemachine.Operator{},
		&statemachine.Retention{}, &statemachine.Restored{}, &statemachine.CancelResp{},
	}
}

func drawFact(t *rapid.T) statemachine.Fact {
	fact := rapid.SampledFrom(facts()).Draw(t, "fact")
	text := octets
	if _, ok := fact.(*statemachine.Rules); ok {
		text = words
	}
	drawn := reflect.New(reflect.TypeOf(fact).Elem())
	fill(t, drawn.Elem(), text)
	return drawn.Interface().(statemachine.Fact)
}

func TestRecord_roundTrip(t *testing.T) {
	key, err := newSealKey(7, make([]byte, secretSize))
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		rec := statemachine.Record{Seq: rapid.Uint64().Draw(t, "seq"), At: fromNanos(rapid.Uint64().Draw(t, "at")), Fact: drawFact(t)}
		var spans []Span
		if pdu := sealedPDU(rec.Fact); len(pdu) > 1 {
			spans = []Span{{0, 1}, {1, len(pdu)}}
		}
		var e encoder
		first, err := e.appendRecord(nil, rec, spans, key)
		require.NoError(t, err)
		second, err := e.appendRecord(nil, rec, spans, key)
		require.NoError(t, err)
		require.Equal(t, first, second, "deterministic, and the fact was not changed by sealing")

		got, err := decodeRecord(rec.Seq, first)
		require.NoError(t, err)
		require.Nil(t, got.commit)
		got.unseal(key)
		require.Equal(t, rec, got.Record)

		made := commit{hash{1}, 6, skip{4, hash{2}}}
		closed := appendCommit(first, made)
		again, err := decodeRecord(rec.Seq, closed)
		require.NoError(t, err)
		require.Equal(t, &made, again.commit)
		o, err := readOutline(closed)
		require.NoError(t, err)
		number, _ := numberOf(rec.Fact.Type())
		require.Equal(t, outline{at: again.At, body: first, fact: number, ends: true, commit: made}, o, "the commit field is outside the record's hash")
	})
}

func TestRecord_unknown(t *testing.T) {
	t.Run("fields of a later version are skipped", func(t *testing.T) {
		b := putTime(nil, fieldAt, time.Unix(1, 0))
		b = putBytes(b, 9, []byte("new"))
		b, at := openNested(b, factCutoff)
		b = putUint(putString(b, 1, "M1"), 2, 3)
		b = closeNested(putBytes(protowire.AppendFixed32(protowire.AppendTag(b, 77, protowire.Fixed32Type), 1), 78, []byte("x")), at)
		e, err := decodeRecord(5, b)
		require.NoError(t, err)
		require.Equal(t, &statemachine.Cutoff{Message: "M1", Part: 3}, e.Fact)
	})
	for _, name := range []statemachine.RecordType{"callback", "webhook", "unknown_99"} {
		t.Run("type "+string(name)+" reads as Other", func(t *testing.T) {
			rec := statemachine.Record{Seq: 5, At: time.Unix(1, 0).UTC(), Fact: &statemachine.Other{Name: name, Raw: []byte{1, 2}}}
			var enc encoder
			b, err := enc.appendRecord(nil, rec, nil, nil)
			require.NoError(t, err)
			e, err := decodeRecord(5, b)
			require.NoError(t, err)
			require.Equal(t, rec, e.Record)
		})
	}
	for _, name := range []statemachine.RecordType{"sent", "restored", "no such type", "unknown_2047", "unknown_17"} {
		t.Run("type "+string(name)+" cannot be written as Other", func(t *testing.T) {
			var enc encoder
			_, err := enc.appendRecord(nil, statemachine.Record{Seq: 5, Fact: &statemachine.Other{Name: name}}, nil, nil)
			require.ErrorIs(t, err, errNoEncoding)
		})
	}
}

func FuzzDecodeRecord(f *testing.F) {
	var e encoder
	for _, fact := range facts() {
		b, err := e.appendRecord(nil, statemachine.Record{Seq: 1, At: time.Unix(1, 0), Fact: fact}, nil, nil)
		require.NoError(f, err)
		f.Add(b)
	}
	full := &statemachine.Operator{
		Action: statemachine.ActionReprocess, Row: "row", Target: statemachine.AttemptRef{Message: "M", Part: 1},
		Reprocess: &statemachine.Reprocess{Rows: []statemachine.InboxKey{"", "row"}, Messages: []statemachine.ID{"M"}},
	}
	b, err := e.appendRecord(nil, statemachine.Record{Seq: 1, At: time.Unix(1, 0), Fact: full}, nil, nil)
	require.NoError(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decodeRecord(1, b)
		if err != nil {
			return
		}
		if _, other := got.Fact.(*statemachine.Other); other {
			return // of a later format: read, never written
		}
		got.unseal(nil)
		again, err := e.appendRecord(nil, got.Record, nil, nil)
		require.NoError(t, err)
		read, err := decodeRecord(1, again)
		require.NoError(t, err)
		require.Equal(t, got.Record, read.Record)
	})
}

// roundTrip checks that a value of state.db reads back as it was written.
func roundTrip[T any](t *testing.T, encode func(*T) []byte, decode func([]byte) (*T, error)) {
	rapid.Check(t, func(t *rapid.T) {
		var v T
		fill(t, reflect.ValueOf(&v).Elem(), octets)
		got, err := decode(encode(&v))
		require.NoError(t, err)
		require.Equal(t, &v, got)
	})
}

func TestStateValues_roundTrip(t *testing.T) {
	t.Run("message", func(t *testing.T) {
		roundTrip(t, func(m *statemachine.Message) []byte { return appendMessage(nil, m) }, decodeMessage)
	})
	t.Run("inbox row", func(t *testing.T) {
		roundTrip(t, func(r *statemachine.InboxRow) []byte { return appendRow(nil, r) }, decodeRow)
	})
	t.Run("exception", func(t *testing.T) {
		roundTrip(t, func(x *statemachine.Exception) []byte { return appendException(nil, x) }, decodeException)
	})
	t.Run("decision", func(t *testing.T) {
		roundTrip(t, func(d *statemachine.Decision) []byte { return appendDecision(decisionKey(d.Pos), d) },
			func(b []byte) (*statemachine.Decision, error) {
				d, err := decodeDecision(b[:decisionKeySize], b[decisionKeySize:])
				return &d, err
			})
	})
	t.Run("hold", func(t *testing.T) {
		roundTrip(t, func(h *statemachine.Hold) []byte { return appendHold(nil, h) },
			func(b []byte) (*statemachine.Hold, error) {
				h, err := readHold(b)
				return &h, err
			})
	})
	t.Run("tally", func(t *testing.T) {
		roundTrip(t, func(c *statemachine.Tally) []byte { return appendTally(nil, *c) },
			func(b []byte) (*statemachine.Tally, error) {
				c, err := readTally(b)
				return &c, err
			})
	})
}
