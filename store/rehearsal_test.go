package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
)

// ruled draws rules that differ from those of the worlds.
func ruled(t *rapid.T) statemachine.Rules {
	lists := rapid.SampledFrom([]receipt.IDRules{
		nil, {{Name: receipt.RuleHexToDec}}, {{Name: receipt.RuleStripZeros}}, {{Name: receipt.RuleFoldCase}},
		{{Name: receipt.RuleIgnore}}, {{Name: receipt.RuleTruncate, N: 1}},
	})
	r := rulesOf("3")
	for i := range r.SMSCs {
		rules := &r.SMSCs[i].Receipt
		rules.TLVID, rules.TextID = lists.Draw(t, "tlv"), lists.Draw(t, "text")
		rules.AddressCheck = rapid.SampledFrom([]receipt.AddressCheck{receipt.AddressHold, receipt.AddressFlag, receipt.AddressOff}).Draw(t, "address_check")
		rules.AcceptedFinal = rapid.Bool().Draw(t, "accepted")
		if rapid.Bool().Draw(t, "states") {
			rules.States = map[string]receipt.MessageState{"NONSENSE": receipt.Rejected}
		}
	}
	return r
}

// lives draws messages whose ids, as answers and receipts have them, are the same under one rule or another.
func lives(t *rapid.T) (facts []statemachine.Fact) {
	ids := rapid.SampledFrom([]string{"A", "0A", "a", "10", "16", "22", "1"})
	n := 0
	for range rapid.IntRange(4, 16).Draw(t, "lives") {
		dest := dests.Draw(t, "dest")
		if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
			n++
			id := statemachine.ID(fmt.Sprintf("M%03d", n))
			facts = append(facts, messageTo(dest, string(id), "", "text"),
				&statemachine.Sent{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1"},
				&statemachine.SubmitResp{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", MessageID: ids.Draw(t, "id")})
			continue
		}
		r := &statemachine.Reception{SMSC: "alpha", Account: "alpha", Session: "alpha/1"}
		r.PDU = receiptPDU(ids.Draw(t, "id"), stats.Draw(t, "stat"), dest, "text", rapid.SampledFrom([]byte{4, 0x20}).Draw(t, "class"))
		r.Length = uint32(len(r.PDU))
		facts = append(facts, r)
	}
	return facts
}

// reprocessed is what a pass goes through: a store, or a rehearsal.
type reprocessed interface {
	RowsAfter(context.Context, statemachine.InboxKey, int) ([]*statemachine.InboxRow, error)
	MessagesBefore(context.Context, statemachine.ID, int) ([]*statemachine.Message, error)
}

// pass has everything judged again, limit rows or messages at a time, those messages only that may change.
func pass(t tb, of reprocessed, limit int, may func(statemachine.ID) bool, apply func(*statemachine.Operator) Judgement) (came []statemachine.Decision) {
	ctx := context.Background()
	step := func(p *statemachine.Reprocess) {
		came = append(came, apply(&statemachine.Operator{Action: statemachine.ActionReprocess, By: "esmed", Reprocess: p}).Decisions...)
	}
	var at statemachine.ReprocessProgress
	for !at.Rows {
		rows, err := of.RowsAfter(ctx, at.After, limit)
		require.NoError(t, err)
		p := &statemachine.Reprocess{}
		for _, row := range rows {
			p.Rows = append(p.Rows, row.Key)
			at.After = row.Key
		}
		at.Rows = len(rows) < limit
		p.Progress = at
		step(p)
	}
	for !at.Finished {
		messages, err := of.MessagesBefore(ctx, at.Before, limit)
		require.NoError(t, err)
		p := &statemachine.Reprocess{}
		for _, m := range messages {
			if at.Before = m.ID; may(m.ID) {
				p.Messages = append(p.Messages, m.ID)
			}
		}
		at.Finished = len(messages) < limit
		p.Progress = at
		step(p)
	}
	return came
}

// TestRehearse_isWhatHappensThen: a rehearsed pass comes to the very decisions that the same pass comes to
// when it is recorded, though messages of which nothing can come were left out; and it leaves nothing behind.
func TestRehearse_isWhatHappensThen(t *testing.T) {
	n := 0
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n++
		cfg := testConfig(filepath.Join(base, fmt.Sprint(n)))
		cfg.PartitionMessages = rapid.SampledFrom([]int{2, 50_000}).Draw(t, "partition")
		cfg.Now = clock(t)
		s := start(t, cfg)
		ctx := context.Background()
		_, err := s.SetRules(ctx, ruled(t))
		require.NoError(t, err)
		for _, fact := range lives(t) {
			s.bring(fact)
		}
		rules, limit := ruled(t), rapid.IntRange(1, 4).Draw(t, "limit")
		require.NoError(t, s.Sync(ctx))
		before, head := dump(t, s.Store), s.Head()
		var promised []statemachine.Decision
		require.NoError(t, s.Rehearse(ctx, func(r *Rehearsal) error {
			_, err := r.Apply(&rules)
			require.NoError(t, err)
			promised = pass(t, r, limit, func(id statemachine.ID) bool {
				may, err := r.MayChange(id)
				require.NoError(t, err)
				return may
			}, func(o *statemachine.Operator) Judgement {
				j, err := r.Apply(o)
				require.NoError(t, err)
				return j
			})
			return nil
		}))
		same(t, before, dump(t, s.Store))
		require.Equal(t, head, s.Head())

		_, err = s.SetRules(ctx, rules)
		require.NoError(t, err)
		came := pass(t, s, limit, func(statemachine.ID) bool { return true }, func(o *statemachine.Operator) Judgement {
			all, err := s.Judge(ctx, o)
			require.NoError(t, err)
			return all[0]
		})
		require.Equal(t, promised, came)
		s.check()
	})
}
