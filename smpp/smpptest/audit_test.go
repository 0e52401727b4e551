package smpptest_test

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// story is what happened on the wire, and what an ESME without fault says about it.
type story struct {
	truth    []smpptest.Line
	messages []smpptest.AuditMessage
	events   []smpptest.AuditEvent
	opt      smpptest.AuditOptions
}

// tell runs three messages against a server: 0 is delivered (with a duplicate and a contradiction), 1 is
// refused, 2 is never answered; and there is a receipt for an unknown id, an MO message and an oversize PDU.
func tell(t *testing.T) *story {
	t.Helper()
	s := start(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		switch sub.N {
		case 1:
			a.Receipts = append(a.Receipts,
				smpptest.Planned{Kind: smpptest.Duplicate, Word: "DELIVRD"}, smpptest.Planned{Kind: smpptest.Contradiction, Word: "UNDELIV"},
				smpptest.Planned{Kind: smpptest.UnknownID, Word: "DELIVRD"}, smpptest.Planned{Kind: smpptest.MO}, smpptest.Planned{Kind: smpptest.Oversize})
		case 2:
			a.Status = smpp.StatusInvDstAdr
		case 3:
			a.Never = true
		}
		return a
	}})
	e := bound(t, s)
	st := &story{opt: smpptest.AuditOptions{MaxInDoubt: -1}}
	decide := func(correlation, message, verdict string) {
		record := uint64(len(st.events) + 1)
		f := e.acked(pdu.DeliverSMID)
		st.events = append(st.events, smpptest.AuditEvent{Seq: record, Type: "reception", PDU: hex.EncodeToString(f.raw[:min(len(f.raw), 131072)]),
			Decisions: []smpptest.AuditDecision{{Record: record, Message: message, Correlation: correlation, Verdict: verdict}}})
	}
	for i, dest := range []string{"393331234560", "393331234561", "393331234562"} {
		seq := e.submit(dest)
		m := smpptest.AuditMessage{ID: fmt.Sprintf("M%d", i), Destination: smpptest.AuditAddress{Addr: dest}}
		attempt := smpptest.AuditAttempt{Attempt: 1, SequenceNumber: seq}
		switch i {
		case 0:
			attempt.CommandStatus, attempt.MessageID, m.State = "ESME_ROK", e.want(pdu.SubmitSMRespID).messageID(), "DELIVERED"
			decide("matched", "M0", "applied")
			decide("matched", "M0", "duplicate")
			decide("matched", "M0", "conflict")
			decide("unmatched", "", "held")
			decide("not_a_receipt", "", "")
			decide("undecodable", "", "held")
		case 1:
			e.want(pdu.SubmitSMRespID)
			attempt.CommandStatus, m.State = "ESME_RINVDSTADR", "FAILED"
		case 2:
			m.State = "IN_DOUBT"
			decide("unmatched", "", "held")
		}
		m.Parts = []smpptest.AuditPart{{Part: 1, State: m.State, Attempts: []smpptest.AuditAttempt{attempt}}}
		st.messages = append(st.messages, m)
	}
	drained(t, s)
	require.NoError(t, s.Close())
	st.truth = s.Truth()
	return st
}

func (st *story) shows(i int, state string) {
	st.messages[i].State, st.messages[i].Parts[0].State = state, state
}

func (st *story) audit() smpptest.AuditReport {
	return smpptest.Audit(st.truth, st.messages, st.events, st.opt)
}

func TestAudit_agrees_with_an_ESME_without_fault(t *testing.T) {
	st := tell(t)
	r := st.audit()
	require.Empty(t, r.Differences)
	require.True(t, r.Agree())
	require.Regexp(t, `^agree: 7 acknowledged deliveries all stored \(3 assigned, 2 held, 2 no evidence\); 3 messages, 1 final, 1 in doubt, 0 maybe doubled`, r.Verdict())
	require.Contains(t, r.Figures(), "3 submits (2 accepted, 1 refused, 0 ignored), 7 deliveries written 7 times, 7 acknowledged (4 of them final receipts), 0 pending")
}

func TestAudit_finds_what_is_wrong(t *testing.T) {
	tests := []struct {
		name   string
		doctor func(*story)
		want   smpptest.DifferenceKind
	}{
		{"no truth at all", func(st *story) { *st = story{opt: st.opt} }, smpptest.NoTruth},
		{"an acknowledged receipt is not stored", func(st *story) { st.events = st.events[1:] }, smpptest.NotStored},
		{"an acknowledged oversize PDU is not stored", func(st *story) { st.events = append(st.events[:5], st.events[6:]...) }, smpptest.NotStored},
		{"a stored octet differs", func(st *story) { st.events[0].PDU = st.events[0].PDU[:80] + "00" + st.events[0].PDU[82:] }, smpptest.NeverSent},
		{"stored more often than sent", func(st *story) { st.events = append(st.events, st.events[0]) }, smpptest.NeverSent},
		{"a receipt without decision", func(st *story) { st.events[2].Decisions = nil }, smpptest.Undecided},
		{"assigned to another message", func(st *story) { st.events[1].Decisions[0].Message = "M2" }, smpptest.Misassigned},
		{"an unknown id assigned", func(st *story) {
			st.events[3].Decisions[0] = smpptest.AuditDecision{Record: 4, Message: "M0", Correlation: "matched", Verdict: "applied"}
		}, smpptest.Misassigned},
		{"an MO message assigned", func(st *story) {
			st.events[4].Decisions[0] = smpptest.AuditDecision{Record: 5, Message: "M0", Correlation: "matched", Verdict: "applied"}
		}, smpptest.Misassigned},
		{"assigned by a later record to the wrong message", func(st *story) {
			st.events = append(st.events, smpptest.AuditEvent{Seq: 99, Type: "submit_resp", Decisions: []smpptest.AuditDecision{{Record: 1, Message: "M1", Correlation: "matched"}}})
		}, smpptest.Misassigned},
		{"held although it bears the id", func(st *story) { st.events[0].Decisions[0].Correlation = "unmatched" }, smpptest.NotAssigned},
		{"an id that was never given", func(st *story) { st.messages[0].Parts[0].Attempts[0].MessageID = "beef" }, smpptest.UnknownAttempt},
		{"an id that was given for another destination", func(st *story) {
			st.messages[0].Destination, st.messages[2].Destination = st.messages[2].Destination, st.messages[0].Destination
		}, smpptest.UnknownAttempt},
		{"a submit that is not recorded", func(st *story) { st.messages[2].Parts[0].Attempts = nil }, smpptest.Unrecorded},
		{"a message that is lost", func(st *story) { st.messages = st.messages[:2] }, smpptest.Unrecorded},
		{"sent twice and not admitted to", func(st *story) {
			again := st.truth[2]
			again.N, again.Seq, again.MessageID = 4, 99, "4"
			st.truth = append(st.truth, again)
			st.messages[0].Parts[0].Attempts = append(st.messages[0].Parts[0].Attempts, smpptest.AuditAttempt{Attempt: 2, SequenceNumber: 99, MessageID: "4", CommandStatus: "ESME_ROK"})
		}, smpptest.Doubled},
		{"a contradiction shown instead of the first final", func(st *story) { st.shows(0, "UNDELIVERABLE") }, smpptest.Unsupported},
		{"a final state that was never sent", func(st *story) { st.shows(0, "EXPIRED") }, smpptest.Unsupported},
		{"an intermediate state that was never sent", func(st *story) { st.shows(2, "ENROUTE") }, smpptest.Unsupported},
		{"FAILED although it was accepted", func(st *story) { st.shows(0, "FAILED") }, smpptest.Unsupported},
		{"SUBMITTED although it was refused", func(st *story) { st.shows(1, "SUBMITTED") }, smpptest.Unsupported},
		{"the message shows what its part does not", func(st *story) { st.messages[0].State = "EXPIRED" }, smpptest.Unsupported},
		{"an acknowledged final receipt does not show", func(st *story) { st.shows(0, "SUBMITTED") }, smpptest.MissingFinal},
		{"more in doubt than may be", func(st *story) { st.opt.MaxInDoubt = 0 }, smpptest.TooManyInDoubt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := tell(t)
			tt.doctor(st)
			r := st.audit()
			require.False(t, r.Agree())
			found := map[smpptest.DifferenceKind]bool{}
			for _, d := range r.Differences {
				found[d.Kind] = true
			}
			require.Contains(t, found, tt.want, r.Differences)
			require.Contains(t, r.Verdict(), "DISAGREE: ")
		})
	}
}

func TestAudit_admits_what_may_be(t *testing.T) {
	tests := []struct {
		name   string
		doctor func(*story)
	}{
		{"sent twice and admitted to", func(st *story) {
			again := st.truth[2]
			again.N, again.Seq, again.MessageID = 4, 99, "4"
			st.truth = append(st.truth, again)
			st.messages[0].MaybeDoubled = true
			st.messages[0].Parts[0].Attempts = append(st.messages[0].Parts[0].Attempts, smpptest.AuditAttempt{Attempt: 2, SequenceNumber: 99, MessageID: "4", CommandStatus: "ESME_ROK"})
		}},
		{"the answer that was lost is found by another way", func(st *story) {
			st.shows(2, "DELIVERED")
			st.events[6].Decisions[0] = smpptest.AuditDecision{Record: 7, Message: "M2", Correlation: "matched", Verdict: "applied"}
		}},
		{"held when the receipt came, assigned when the answer did", func(st *story) {
			st.events[0].Decisions[0] = smpptest.AuditDecision{Record: 1, Correlation: "unmatched", Verdict: "held"}
			st.events = append(st.events, smpptest.AuditEvent{Seq: 99, Type: "submit_resp", Decisions: []smpptest.AuditDecision{{Record: 1, Message: "M0", Correlation: "matched", Verdict: "applied"}}})
		}},
		{"stored, and the acknowledgement lost", func(st *story) {
			for i, l := range st.truth {
				if l.Type == smpptest.LineAck {
					st.truth = append(st.truth[:i], st.truth[i+1:]...)
					break
				}
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := tell(t)
			tt.doctor(st)
			require.Empty(t, st.audit().Differences)
		})
	}
}

func TestAudit_asks_no_more_than_the_ids_allow(t *testing.T) {
	tests := []struct {
		name     string
		tlv, txt string
		rulesFit bool
		missing  bool
	}{
		{"both as in the response", "1", "1", false, true},
		{"only one as in the response", "1", "", false, true},
		{"none as in the response", "01", "01", false, false},
		{"none as in the response, and rules that fit", "01", "01", true, true},
		{"the other is that of another message", "1", "2", false, false},
		{"no id at all", "", "", true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := tell(t)
			st.opt.RulesFit = tt.rulesFit
			for i := range st.truth {
				if l := &st.truth[i]; l.N == 1 && l.Type == smpptest.LineDelivery {
					l.TLVID, l.TextID = tt.tlv, tt.txt
				}
			}
			for i := range 3 {
				st.events[i].Decisions[0] = smpptest.AuditDecision{Record: uint64(i + 1), Correlation: "unmatched", Verdict: "held"}
			}
			st.shows(0, "SUBMITTED")
			require.Equal(t, !tt.missing, func() bool { r := st.audit(); return r.Agree() }())
		})
	}
}
