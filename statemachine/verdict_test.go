package statemachine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
)

// at is a reported time without zone, minute minutes after nine.
func at(minute int) receipt.Date {
	return receipt.Date{Wall: time.Date(2026, 11, 30, 9, minute, 0, 0, time.UTC)}
}

func zoned(minute int) receipt.Date { d := at(minute); d.Zoned = true; return d }

func final(s State) *evidence { return &evidence{state: s, final: true, reported: at(5)} }

func intermediate(s State, when receipt.Date) *evidence { return &evidence{state: s, reported: when} }

// reportedPart is a part of which s was reported for the time of at(5).
func reportedPart(s State, locked bool) *Part {
	return &Part{State: s, BasisSeq: 9, Reported: Reported{State: s, Final: locked, DoneDate: at(5)}}
}

func TestJudge(t *testing.T) {
	known := receipt.Fingerprint{1, 2}
	knowing := reportedPart(Delivered, true)
	knowing.Events = []Event{{Fingerprint: known, Seq: 9, Count: 1}}
	unreported := &Part{State: Unreported, Asked: true, CutoffSeq: 7}
	tests := []struct {
		name string
		e    *evidence
		p    *Part
		want Verdict
	}{
		{"1: without a part it is held", final(Delivered), nil, VerdictHeld},
		{"1: even if its event is known", &evidence{event: known}, nil, VerdictHeld},
		{"2: a known event is a duplicate", &evidence{event: known, state: Delivered, final: true}, knowing, VerdictDuplicate},
		{"2: even without a state", &evidence{event: known}, knowing, VerdictDuplicate},
		{"2: an answer to a query is no event", final(Delivered), knowing, VerdictRepeat},
		{"3: no state is noted", &evidence{}, reportedPart(Enroute, false), VerdictNoted},
		{"3: an unmapped word is noted, also for a final part", &evidence{receipt: receipt.Receipt{RawStat: "ODD"}}, reportedPart(Delivered, true), VerdictNoted},
		{"4: an intermediate notification never finalises", &evidence{state: Delivered, final: true, intermediate: true}, &Part{State: Submitted}, VerdictNoted},
		{"4: nor does it contradict", &evidence{state: Expired, final: true, intermediate: true}, reportedPart(Delivered, true), VerdictNoted},
		{"5: TLV and text differ", &evidence{state: Delivered, final: true, differ: true}, &Part{State: Submitted}, VerdictNoted},
		{"5: also for a final part", &evidence{state: Enroute, differ: true}, reportedPart(Delivered, true), VerdictNoted},
		{"6: intermediate after final is late", intermediate(Enroute, at(9)), reportedPart(Delivered, true), VerdictLate},
		{"6: the same final state again", final(Delivered), reportedPart(Delivered, true), VerdictRepeat},
		{"6: another final state", final(Expired), reportedPart(Delivered, true), VerdictConflict},
		{"6: ACCEPTED that is final where the part is DELIVERED", final(Accepted), reportedPart(Delivered, true), VerdictConflict},
		{"6: a report for what failed here", final(Delivered), &Part{State: Failed}, VerdictConflict},
		{"6: an intermediate one for what failed here", intermediate(Enroute, at(9)), &Part{State: Failed}, VerdictLate},
		{"6: locked UNKNOWN", final(Delivered), reportedPart(Unknown, true), VerdictConflict},
		{"7: final for a submitted part", final(Undeliverable), &Part{State: Submitted}, VerdictApplied},
		{"7: final for one in doubt", final(Delivered), &Part{State: InDoubt}, VerdictApplied},
		{"7: final, older than what was intermediate", &evidence{state: Delivered, final: true, reported: at(1)}, reportedPart(Enroute, false), VerdictApplied},
		{"7: final after the window", final(Delivered), unreported, VerdictApplied},
		{"7: final ACCEPTED after intermediate ACCEPTED", final(Accepted), reportedPart(Accepted, false), VerdictApplied},
		{"8: intermediate after the window is late", intermediate(Enroute, at(9)), unreported, VerdictLate},
		{"8: also where only failure was asked for", intermediate(Enroute, at(9)), &Part{State: Submitted, Partial: true, CutoffSeq: 7}, VerdictLate},
		{"9: the first report", intermediate(Enroute, receipt.Date{}), &Part{State: Submitted}, VerdictApplied},
		{"9: newer", intermediate(Accepted, at(6)), reportedPart(Enroute, false), VerdictApplied},
		{"9: the same state, newer", intermediate(Enroute, at(6)), reportedPart(Enroute, false), VerdictApplied},
		{"9: the same state, same time", intermediate(Enroute, at(5)), reportedPart(Enroute, false), VerdictRepeat},
		{"9: the same state, older", intermediate(Enroute, at(4)), reportedPart(Enroute, false), VerdictRepeat},
		{"9: the same state, no time", intermediate(Enroute, receipt.Date{}), reportedPart(Enroute, false), VerdictRepeat},
		{"9: another state, older", intermediate(Accepted, at(4)), reportedPart(Enroute, false), VerdictStale},
		{"9: another state, same time", intermediate(Accepted, at(5)), reportedPart(Enroute, false), VerdictUnordered},
		{"9: another state, no time", intermediate(Accepted, receipt.Date{}), reportedPart(Enroute, false), VerdictUnordered},
		{"9: another state, a zone on one side only", intermediate(Accepted, zoned(9)), reportedPart(Enroute, false), VerdictUnordered},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := judge(tt.e, tt.p)
			require.Equal(t, tt.want, got)
		})
	}
}

// TestJudge_partition restates the table row by row, without order, and checks that rows are exclusive
// once those before them are taken away, that one always fits, and that judge names it.
func TestJudge_partition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e, p := drawEvidence(rt), drawPart(rt)
		got, _ := judge(e, p)
		require.Equal(rt, tableRow(e, p), got)
	})
}

// tableRow is the table of DESIGN §3 as nested questions.
func tableRow(e *evidence, p *Part) Verdict {
	if p == nil {
		return VerdictHeld
	}
	if p.event(e.event) != nil {
		return VerdictDuplicate
	}
	if e.state == NoState || e.intermediate && e.final || e.differ {
		return VerdictNoted
	}
	if p.Final() {
		if !e.final {
			return VerdictLate
		}
		if e.state != p.State {
			return VerdictConflict
		}
		return VerdictRepeat
	}
	if e.final {
		return VerdictApplied
	}
	if p.CutoffSeq != 0 {
		return VerdictLate
	}
	if p.Reported.State == NoState {
		return VerdictApplied
	}
	when, known := e.reported, p.Reported.DoneDate
	comparable := !when.IsZero() && !known.IsZero() && when.Zoned == known.Zoned
	if comparable && when.Wall.After(known.Wall) {
		return VerdictApplied
	}
	if e.state == p.Reported.State {
		return VerdictRepeat
	}
	if comparable && when.Wall.Before(known.Wall) {
		return VerdictStale
	}
	return VerdictUnordered
}

func drawEvidence(rt *rapid.T) *evidence {
	e := &evidence{
		event:        receipt.Fingerprint{byte(rapid.IntRange(0, 3).Draw(rt, "event"))},
		state:        rapid.SampledFrom([]State{NoState, Scheduled, Enroute, Accepted, Unknown, Delivered, Expired, Rejected}).Draw(rt, "state"),
		intermediate: rapid.Bool().Draw(rt, "intermediate"),
		differ:       rapid.Bool().Draw(rt, "differ"),
		reported:     drawDate(rt),
	}
	e.final = e.state.Final() || (e.state == Accepted || e.state == Unknown) && rapid.Bool().Draw(rt, "final")
	return e
}

func drawDate(rt *rapid.T) receipt.Date {
	if rapid.Bool().Draw(rt, "undated") {
		return receipt.Date{}
	}
	d := at(rapid.IntRange(1, 4).Draw(rt, "minute"))
	d.Zoned = rapid.Bool().Draw(rt, "zoned")
	return d
}

func drawPart(rt *rapid.T) *Part {
	if rapid.IntRange(0, 9).Draw(rt, "none") == 0 {
		return nil
	}
	p := &Part{Number: 1, Asked: true, Events: []Event{{Fingerprint: receipt.Fingerprint{1}, Seq: 4}}}
	switch e := drawEvidence(rt); {
	case rapid.Bool().Draw(rt, "failed"):
		p.State = Failed
	case e.state != NoState:
		p.Reported = e.report(ByTLVID, 1)
	}
	if !p.Reported.Final && rapid.Bool().Draw(rt, "cut") {
		p.CutoffSeq = 3
	}
	p.State = p.current()
	return p
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name string
		a, b receipt.Date
		want order
	}{
		{"later wall clocks are newer", at(2), at(1), newer},
		{"earlier ones older", at(1), at(2), older},
		{"the same are equal", at(1), at(1), equal},
		{"instants are ordered too", zoned(2), zoned(1), newer},
		{"a zone on one side only gives no order", zoned(2), at(1), unordered},
		{"no time gives none", receipt.Date{}, at(1), unordered},
		{"nor do two of them", receipt.Date{}, receipt.Date{}, unordered},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, compare(tt.a, tt.b)) })
	}
}

func TestAbsoluteTime(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"UTC", "261130100500000+", "2026-11-30T10:05:00Z"},
		{"two hours ahead of UTC", "261130100500008+", "2026-11-30T08:05:00Z"},
		{"an hour and a half behind", "261130233000006-", "2026-12-01T01:00:00Z"},
		{"tenths are dropped", "261130100500900+", "2026-11-30T10:05:00Z"},
		{"a relative time is none", "000001000000000R", ""},
		{"an impossible date", "261330100500000+", ""},
		{"nothing", "", ""},
		{"no digits in the zone", "2611301005000x0+", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, absoluteTime(tt.raw).String()) })
	}
}

func TestEvidence_believe(t *testing.T) {
	none := receipt.NoState
	tests := []struct {
		name      string
		tlv, text receipt.MessageState
		believe   receipt.Believe
		accepted  bool
		want      State
		final     bool
		differ    bool
	}{
		{"the TLV alone", receipt.Delivered, none, receipt.BelieveAgree, false, Delivered, true, false},
		{"the text alone", none, receipt.Enroute, receipt.BelieveAgree, false, Enroute, false, false},
		{"the text alone where the TLV is believed", none, receipt.Expired, receipt.BelieveTLV, false, Expired, true, false},
		{"the TLV alone where the text is believed", receipt.Expired, none, receipt.BelieveText, false, Expired, true, false},
		{"they agree", receipt.Deleted, receipt.Deleted, receipt.BelieveAgree, false, Deleted, true, false},
		{"two intermediate states: the TLV first", receipt.Enroute, receipt.Accepted, receipt.BelieveAgree, false, Enroute, false, false},
		{"one is final", receipt.Enroute, receipt.Delivered, receipt.BelieveAgree, false, Enroute, false, true},
		{"both are", receipt.Expired, receipt.Delivered, receipt.BelieveAgree, false, Expired, true, true},
		{"ACCEPTED is final by rule", receipt.Enroute, receipt.Accepted, receipt.BelieveAgree, true, Enroute, false, true},
		{"the TLV is believed", receipt.Expired, receipt.Delivered, receipt.BelieveTLV, false, Expired, true, false},
		{"the text is believed", receipt.Expired, receipt.Delivered, receipt.BelieveText, false, Delivered, true, false},
		{"neither names a state", none, none, receipt.BelieveAgree, false, NoState, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := evidence{
				rules:   &SMSCRules{Receipt: receipt.Rules{Believe: tt.believe, AcceptedFinal: tt.accepted}},
				receipt: receipt.Receipt{TLVState: tt.tlv, TextState: tt.text},
			}
			e.believe()
			require.Equal(t, tt.want, e.state)
			require.Equal(t, tt.final, e.final)
			require.Equal(t, tt.differ, e.differ)
		})
	}
}
