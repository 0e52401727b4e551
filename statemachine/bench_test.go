package statemachine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

// traffic is what of a life the fold sees before each of its records, and that record.
type traffic struct {
	name string
	mem  *statemachine.Memory
	rec  statemachine.Record
}

// lifeByRecord gives a life record by record, each on top of those before.
func lifeByRecord(tb testing.TB) []traffic {
	fold := statemachine.Fold{Decode: delivered}
	ref := "0413029177"
	facts := []statemachine.Fact{
		&statemachine.Rules{Parser: "1", SMSCs: []statemachine.SMSCRules{{SMSC: "alpha", Account: "alpha", Receipt: receipt.DefaultRules(), DeliveryWindow: time.Hour}}},
		&statemachine.MessageAccepted{Message: "M1", SMSC: "alpha", Account: "alpha", E164: "+393331234567", RegisteredDelivery: 1, Parts: make([]statemachine.PartContent, 1)},
		&statemachine.Sent{Message: "M1", Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1"},
		&statemachine.SubmitResp{Message: "M1", Part: 1, Attempt: 1, SMSC: "alpha", MessageID: ref},
		&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: []byte("id:" + ref + " sub:001 dlvrd:001 submit date:2611301000 done date:2611301000 stat:DELIVRD err:000 text:hi")},
	}
	var life []traffic
	for i, fact := range facts[1:] {
		mem := statemachine.NewMemory(fold)
		for j, earlier := range facts[:i+1] {
			rec := statemachine.Record{Seq: uint64(j) + 1, At: began.Add(time.Duration(j) * time.Millisecond), Fact: earlier}
			require.NoError(tb, mem.Apply(rec, new(statemachine.Effects)))
		}
		rec := statemachine.Record{Seq: uint64(i) + 2, At: began.Add(time.Second), Fact: fact}
		life = append(life, traffic{string(fact.Type()), mem, rec})
	}
	return life
}

// delivered is a deliver_sm with that text, from and to who a receipt of these tests is about.
func delivered(text []byte) receipt.Delivery {
	return receipt.Delivery{
		CommandID: 5, ESMClass: 4, Source: receipt.Address{Addr: "393331234567"}, Dest: receipt.Address{Addr: "ACME"},
		ShortMessage: text,
	}
}

// BenchmarkStep steps a record of each kind, whose message the View does not lend.
func BenchmarkStep(b *testing.B) {
	for _, tr := range lifeByRecord(b) {
		b.Run(tr.name, func(b *testing.B) {
			var eff statemachine.Effects
			b.ReportAllocs()
			for b.Loop() {
				if err := tr.mem.Fold.Step(tr.mem, tr.rec, &eff); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLife folds whole lives: accepted, sent, submit_resp, and a receipt with TLVs and text. The
// Memory is part of what is measured; so is reading the receipt.
func BenchmarkLife(b *testing.B) {
	rules := receipt.DefaultRules()
	mem := statemachine.NewMemory(statemachine.Fold{Decode: delivered})
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
