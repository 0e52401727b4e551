package control

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
)

// acceptedMessage is a message as the fold leaves it after its accepted record.
func acceptedMessage(t require.TestingT, m *statemachine.MessageAccepted, at Accepted) *statemachine.Message {
	mem := statemachine.NewMemory(statemachine.Fold{})
	var eff statemachine.Effects
	require.NoError(t, mem.Apply(statemachine.Record{Seq: at.Seq, At: at.At, Fact: m}, &eff))
	return mem.Messages[m.Message]
}

// A text may be anything that is UTF-8: the answer is written without encoding/json, and is the same.
func TestAppendAccepted_isWhatAMessageIsInJSON(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,12}`), rapid.String(), rapid.SampledFrom([]string{"", "<&>", "a\"b\\c", "\u2028\x00\x7f", "é"}))
	address := rapid.Custom(func(t *rapid.T) receipt.Address {
		return receipt.Address{TON: rapid.Byte().Draw(t, "ton"), NPI: rapid.Byte().Draw(t, "npi"), Addr: text.Draw(t, "addr")}
	})
	rapid.Check(t, func(t *rapid.T) {
		m := &statemachine.MessageAccepted{
			Message: statemachine.ID(rapid.StringMatching(`[0-9A-Z]{26}`).Draw(t, "id")),
			SMSC:    text.Draw(t, "smsc"), Account: text.Draw(t, "account"), Owner: "uid:0", Ref: text.Draw(t, "ref"),
			To: text.Draw(t, "to"), E164: text.Draw(t, "e164"), Source: address.Draw(t, "source"), Dest: address.Draw(t, "dest"),
			RegisteredDelivery: rapid.Byte().Draw(t, "registered_delivery"),
			Parts:              make([]statemachine.PartContent, rapid.IntRange(1, 3).Draw(t, "parts")),
		}
		zone := time.FixedZone("", 3600*rapid.IntRange(-11, 11).Draw(t, "zone"))
		at := Accepted{
			Message: m.Message, Seq: rapid.Uint64Min(1).Draw(t, "seq"),
			At: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).In(zone),
		}
		r := renderer{statusName: func(s uint32) string { return strconv.Itoa(int(s)) }}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(r.message(acceptedMessage(t, m, at))))
		require.Equal(t, want.String(), string(appendAccepted(nil, m, at)))
	})
}

func TestAppendAccepted_allocatesNothing(t *testing.T) {
	m := &statemachine.MessageAccepted{
		Message: "01JDXW5Q0C8Z4Y3K7M2N9P6R5T", SMSC: "alpha", Account: "alpha", Ref: "order-42", To: "+393331234567",
		Parts: make([]statemachine.PartContent, 1),
	}
	at := Accepted{Message: m.Message, Seq: 1790, At: time.Unix(1, 0)}
	b := appendAccepted(nil, m, at)
	require.Zero(t, testing.AllocsPerRun(100, func() { b = appendAccepted(b[:0], m, at) }))
}
