package statemachine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// part is one of a table: S in state S, asked for a receipt; the options change that.
func part(s statemachine.State, options ...func(*statemachine.Part)) statemachine.Part {
	p := statemachine.Part{State: s, Asked: true, BasisSeq: 1}
	if s.Reported() {
		p.Reported = statemachine.Reported{State: s, Final: s.Final()}
	}
	for _, option := range options {
		option(&p)
	}
	return p
}

func unasked(p *statemachine.Part) { p.Asked = false }

func byRule(p *statemachine.Part) { p.Reported.Final = true }

func cut(p *statemachine.Part) { p.Asked, p.Partial, p.CutoffSeq = false, true, 3 }

func TestMessage_fold(t *testing.T) {
	const (
		queued, submitting, inDoubt, submitted = statemachine.Queued, statemachine.Submitting, statemachine.InDoubt, statemachine.Submitted
		scheduled, enroute                     = statemachine.Scheduled, statemachine.Enroute
		accepted, unknown                      = statemachine.Accepted, statemachine.Unknown
		delivered, expired, deleted            = statemachine.Delivered, statemachine.Expired, statemachine.Deleted
		undeliverable, rejected, skipped       = statemachine.Undeliverable, statemachine.Rejected, statemachine.Skipped
		failed, unreported                     = statemachine.Failed, statemachine.Unreported
	)
	tests := []struct {
		name          string
		parts         []statemachine.Part
		want          statemachine.State
		final, closed bool
	}{
		{"one part is the message", []statemachine.Part{part(delivered)}, delivered, true, true},
		{"open while a part is", []statemachine.Part{part(delivered), part(submitted)}, submitted, false, false},
		{"in doubt before queued", []statemachine.Part{part(queued), part(inDoubt)}, inDoubt, false, false},
		{"queued before submitting", []statemachine.Part{part(submitting), part(queued)}, queued, false, false},
		{"submitting before submitted", []statemachine.Part{part(submitted), part(submitting)}, submitting, false, false},
		{"submitted before scheduled", []statemachine.Part{part(scheduled), part(submitted)}, submitted, false, false},
		{"scheduled before enroute", []statemachine.Part{part(enroute), part(scheduled)}, scheduled, false, false},
		{"enroute before unknown", []statemachine.Part{part(unknown), part(enroute)}, enroute, false, false},
		{"unknown before accepted", []statemachine.Part{part(accepted), part(unknown)}, unknown, false, false},
		{"a failed part does not close the others", []statemachine.Part{part(failed), part(accepted)}, accepted, false, false},
		{"unreported before failed", []statemachine.Part{part(failed), part(unreported, func(p *statemachine.Part) { p.CutoffSeq = 3 })}, unreported, false, true},
		{"failed before rejected", []statemachine.Part{part(rejected), part(failed)}, failed, true, true},
		{"rejected before undeliverable", []statemachine.Part{part(undeliverable), part(rejected)}, rejected, true, true},
		{"undeliverable before deleted", []statemachine.Part{part(deleted), part(undeliverable)}, undeliverable, true, true},
		{"deleted before expired", []statemachine.Part{part(expired), part(deleted)}, deleted, true, true},
		{"expired before skipped", []statemachine.Part{part(skipped), part(expired)}, expired, true, true},
		{"skipped before unknown", []statemachine.Part{part(unknown, byRule), part(skipped)}, skipped, true, true},
		{"unknown before accepted, both final by rule", []statemachine.Part{part(accepted, byRule), part(unknown, byRule)}, unknown, true, true},
		{"accepted before delivered", []statemachine.Part{part(delivered), part(accepted, byRule)}, accepted, true, true},
		{"delivered before submitted", []statemachine.Part{part(submitted, unasked), part(delivered)}, delivered, true, true},
		{"parts that did not ask do not hold", []statemachine.Part{part(enroute, unasked), part(delivered)}, delivered, true, true},
		{"nor have a say", []statemachine.Part{part(undeliverable, unasked), part(delivered)}, delivered, true, true},
		{"but hold until they are accepted", []statemachine.Part{part(inDoubt, unasked), part(delivered)}, inDoubt, false, false},
		{"and fail the message", []statemachine.Part{part(failed, unasked), part(delivered)}, failed, true, true},
		{"nobody asked: closed as submitted", []statemachine.Part{part(submitted, unasked), part(submitted, unasked)}, submitted, false, true},
		{"nobody asked, one reported: not locked yet", []statemachine.Part{part(submitted, unasked), part(delivered, unasked)}, delivered, false, true},
		{"nobody asked, all reported", []statemachine.Part{part(expired, unasked), part(delivered, unasked)}, expired, true, true},
		{"failure asked, window over", []statemachine.Part{part(submitted, cut)}, submitted, false, true},
		{"failure asked, one reported", []statemachine.Part{part(submitted, cut), part(undeliverable, cut)}, undeliverable, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &statemachine.Message{Parts: tt.parts}
			require.Equal(t, tt.want, m.Deciding().State)
			require.Equal(t, tt.closed, m.Closed())
			require.Equal(t, tt.final, m.Final())
		})
	}
}

func TestState_names(t *testing.T) {
	for _, s := range statemachine.States() {
		text, err := s.MarshalText()
		require.NoError(t, err)
		var back statemachine.State
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, s, back)
	}
	_, err := statemachine.ParseState("DELIVRD")
	require.Error(t, err)
	require.Equal(t, "State(200)", statemachine.State(200).String())
}

func TestMessage_Tally(t *testing.T) {
	tests := []struct {
		name, script string
		want         statemachine.Tally
	}{
		{"accepted by us", "", statemachine.Tally{Accepted: 1, Open: 1}},
		{"accepted by the SMSC", "sent M1\nsubmit_resp M1 id=7", statemachine.Tally{Accepted: 1, Submitted: 1, Asked: 1, Open: 1}},
		{"delivered", "sent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:DELIVRD\"",
			statemachine.Tally{Accepted: 1, Submitted: 1, Asked: 1, Final: 1, Delivered: 1}},
		{"expired there", "sent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:EXPIRED\"",
			statemachine.Tally{Accepted: 1, Submitted: 1, Asked: 1, Final: 1}},
		{"refused", "sent M1\nsubmit_resp M1 status=0x0B", statemachine.Tally{Accepted: 1, Failed: 1}},
		{"in doubt", "sent M1\nin_doubt M1", statemachine.Tally{Accepted: 1, Open: 1, InDoubt: 1}},
		{"doubled", "sent M1\nin_doubt M1\nsent M1/1/2", statemachine.Tally{Accepted: 1, Open: 1, MaybeDoubled: 1}},
		{"unreported", "sent M1\nsubmit_resp M1 id=7\n2026-12-04 09:00:00 cutoff M1/1", statemachine.Tally{Accepted: 1, Submitted: 1, Asked: 1, Unreported: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha\naccepted M1\n"+tt.script)
			require.Equal(t, tt.want, l.message("M1").Tally())
			require.Equal(t, map[statemachine.TallyKey]statemachine.Tally{{Hour: began, SMSC: "alpha"}: tt.want}, l.mem.Tallies)
		})
	}
	none := play(t, "rules alpha\naccepted M1 asks=none\nsent M1\nsubmit_resp M1 id=7").message("M1")
	require.Equal(t, statemachine.Tally{Accepted: 1, Submitted: 1}, none.Tally())
}
