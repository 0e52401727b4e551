package statemachine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

// BenchmarkLife folds whole lives: accepted, sent, submit_resp, and a receipt with TLVs and text. The
// Memory is part of what is measured; so is reading the receipt.
func BenchmarkLife(b *testing.B) {
	rules := receipt.DefaultRules()
	mem := statemachine.NewMemory(statemachine.Fold{Decode: func(pdu []byte) receipt.Delivery {
		return receipt.Delivery{
			CommandID: 5, ESMClass: 4, Source: receipt.Address{Addr: "393331234567"}, Dest: receipt.Address{Addr: "ACME"},
			ShortMessage: pdu,
		}
	}})
	var eff statemachine.Effects
	seq := uint64(0)
	apply := func(fact statemachine.Fact) {
		seq++
		rec := statemachine.Record{Seq: seq, At: began.Add(time.Duration(seq) * time.Millisecond), Fact: fact}
		require.NoError(b, mem.ApplySeenAs(lending{mem}, rec, &eff))
	}
	apply(&statemachine.Rules{Parser: "1", SMSCs: []statemachine.SMSCRules{{SMSC: "alpha", Account: "alpha", Receipt: rules, DeliveryWindow: time.Hour}}})
	parts := make([]statemachine.PartContent, 1)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%10000 == 0 {
			clear(mem.Messages)
			clear(mem.Records)
			mem.Decisions = mem.Decisions[:0]
		}
		id, ref := statemachine.ID(fmt.Sprintf("M%025d", n)), fmt.Sprintf("%08X", n)
		apply(&statemachine.MessageAccepted{
			Message: id, SMSC: "alpha", Account: "alpha", E164: "+393331234567", RegisteredDelivery: 1, Parts: parts,
		})
		apply(&statemachine.Sent{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1"})
		apply(&statemachine.SubmitResp{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", MessageID: ref})
		apply(&statemachine.Reception{
			SMSC: "alpha", Account: "alpha",
			PDU: []byte("id:" + ref + " sub:001 dlvrd:001 submit date:2611301000 done date:2611301000 stat:DELIVRD err:000 text:hi"),
		})
	}
	require.Empty(b, mem.Inbox)
}
