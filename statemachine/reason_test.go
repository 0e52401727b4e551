package statemachine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// statusName names the command_status values of scripts.
func statusName(status uint32) string {
	switch status {
	case 0x0B:
		return "ESME_RINVDSTADR"
	case 0x58:
		return "ESME_RTHROTTLED"
	}
	return fmt.Sprintf("0x%08X", status)
}

func TestMessage_Reason(t *testing.T) {
	const sent = "accepted M1\nsent M1\n"
	const accepted = sent + "submit_resp M1 id=7\n"
	tests := []struct {
		name, script, want string
		basis              statemachine.Basis
		evidence           []uint64
	}{
		{"queued", "accepted M1", "waits in the queue of alpha since record 2", "none", []uint64{2}},
		{"throttled", sent + "submit_resp M1 status=0x58 temporary",
			"alpha refused attempt 1 with ESME_RTHROTTLED in record 4; it will be sent again", "none", []uint64{4}},
		{"throttled, with a delay", sent + "submit_resp M1 status=0x58 temporary retry=5s",
			"alpha refused attempt 1 with ESME_RTHROTTLED in record 4; next attempt not before 2026-11-30T09:00:09Z", "none", []uint64{4}},
		{"to be resent", "accepted M1 in_doubt=resend\nsent M1\nin_doubt M1",
			"attempt 1 left on alpha/1, and its answer was lost (timeout), record 4; it will be sent again", "none", []uint64{4}},
		{"to be resent, and refused for good after all", "accepted M1 in_doubt=resend\nsent M1\nin_doubt M1\nsubmit_resp M1 status=0x0B",
			"alpha refused attempt 1 with ESME_RINVDSTADR in record 5; it will be sent again", "none", []uint64{4}},
		{"did not leave", sent + "in_doubt M1 not_written", "back in the queue of alpha since record 4", "none", []uint64{4}},
		{"queued by the late answer to the first of two attempts", sent + "in_doubt M1\nsent M1/1/2\nin_doubt M1/1/2\nsubmit_resp M1/1/1 status=0x58 temporary",
			"alpha refused attempt 1 with ESME_RTHROTTLED in record 7; it will be sent again", "none", []uint64{7}},
		{"submitting", sent, "attempt 1 left on alpha/1 in record 3, no answer yet", "none", []uint64{3}},
		{"in doubt", sent + "in_doubt M1 cause=cut", "attempt 1 left on alpha/1, and its answer was lost (cut), record 4", "none", []uint64{4}},
		{"in doubt beside an accepted attempt", sent + "in_doubt M1\nsent M1/1/2\nsubmit_resp M1/1/2 id=8",
			"attempt 1 left on alpha/1, and its answer was lost (timeout), record 4; attempt 2 was accepted in record 6", "none", []uint64{4}},
		{"in doubt beside a refused attempt", sent + "in_doubt M1\nsent M1/1/2\nsubmit_resp M1/1/2 status=0x0B",
			"attempt 1 left on alpha/1, and its answer was lost (timeout), record 4; attempt 2 was refused with ESME_RINVDSTADR in record 6", "none", []uint64{4}},
		{"two attempts in doubt", sent + "in_doubt M1\nsent M1/1/2\nin_doubt M1/1/2 cause=cut",
			"attempt 1 left on alpha/1, and its answer was lost (timeout), record 4; so was that to attempt 2 (cut), record 6", "none", []uint64{4}},
		{"in doubt beside an attempt that did not leave", sent + "in_doubt M1\nsent M1/1/2\nin_doubt M1/1/2 not_written\nexpired M1",
			"attempt 1 left on alpha/1, and its answer was lost (timeout), record 4; attempt 2 did not leave", "none", []uint64{4}},
		{"of two in doubt, the first was refused after all", sent + "in_doubt M1\nsent M1/1/2\nin_doubt M1/1/2 cause=cut\nsubmit_resp M1/1/1 status=0x0B",
			"attempt 2 left on alpha/1, and its answer was lost (cut), record 6", "none", []uint64{6}},
		{"submitted", accepted, "alpha accepted it in record 4; no outcome was reported yet", "submit_sm_resp", []uint64{4}},
		{"no receipt asked for", "accepted M1 asks=none\nsent M1\nsubmit_resp M1 id=7",
			"alpha accepted it in record 4; no receipt was asked for", "submit_sm_resp", []uint64{4}},
		{"refused", sent + "submit_resp M1 status=0x0B", "alpha refused attempt 1 with ESME_RINVDSTADR in record 4", "submit_sm_resp", []uint64{4}},
		{"expired here", "accepted M1\nexpired M1", "it expired in our queue before it could be submitted, record 3", "expiry", []uint64{3}},
		{"a sibling was refused", "accepted M1 parts=2\nsent M1/2\nsubmit_resp M1/2 status=0x0B",
			"part 2: alpha refused attempt 1 with ESME_RINVDSTADR in record 4", "submit_sm_resp", []uint64{4}},
		{"reported in the text", accepted + `reception text="id:7 stat:DELIVRD"`,
			"alpha reported DELIVRD in record 5, matched by text_id", "receipt", []uint64{5}},
		{"reported by TLV alone", accepted + "reception tlv=7 state=8",
			"alpha reported REJECTED in record 5, matched by receipted_message_id", "receipt", []uint64{5}},
		{"reported on its way, TLV and text differ", accepted + `reception tlv=7 state=1 text="stat:ACCEPTD"`,
			"alpha reported ENROUTE in record 5, matched by receipted_message_id", "receipt", []uint64{5}},
		{"reported on its way, twice", accepted + `reception text="id:7 done date:2611300901 stat:ENROUTE"` + "\n" + `reception text="id:7 done date:2611300902 stat:ENROUTE"`,
			"alpha reported ENROUTE in record 6, matched by text_id", "receipt", []uint64{6}},
		{"answered to our query", accepted + "query_resp M1 state=2", "alpha answered query_sm with DELIVERED in record 5", "query_sm", []uint64{5}},
		{"assigned", accepted + "reception text=\"id:8 stat:DELIVRD\"\noperator assign row=5 to=M1 reason=\"same sender\"",
			"alpha reported DELIVRD in record 5, which uid:0 gave to it in record 6 (assign: same sender)", "receipt", []uint64{5, 6}},
		{"taken", accepted + "reception text=\"id:7 stat:DELIVRD\"\nreception text=\"id:7 stat:UNDELIV\"\noperator take exception=x6 reason=\"the SMSC says so\"",
			"uid:0 decided so in record 7 (take: the SMSC says so): alpha reported UNDELIV in record 6, matched by text_id", "operator", []uint64{6, 7}},
		{"accepted after it had failed, and that taken", sent + "in_doubt M1\nsent M1/1/2\nsubmit_resp M1/1/2 status=0x0B\nin_doubt M1\n" +
			"submit_resp M1/1/1 status=0x0B\nsent M1/1/3\nsubmit_resp M1/1/3 id=9\noperator take exception=x10",
			"uid:0 decided so in record 11 (take): alpha accepted it in record 10; no outcome was reported yet", "operator", []uint64{10, 11}},
		{"accepted, as an operator says", sent + "in_doubt M1\noperator accepted exception=x4 id=7 by=ann reason=\"their log\"",
			`ann decided so in record 5 (accepted: their log): alpha accepted attempt 1 as "7"; no outcome was reported yet`, "operator", []uint64{5}},
		{"accepted, as an operator says, and no failure reported", "accepted M1 asks=failure\nsent M1\nin_doubt M1\noperator accepted exception=x4 id=7\n2026-12-04 09:00:00 cutoff M1/1",
			`uid:0 decided so in record 5 (accepted): alpha accepted attempt 1 as "7"; its window ended in record 6 and a receipt was asked for failure only`, "operator", []uint64{5}},
		{"in doubt beside an attempt that an operator says was accepted", sent + "in_doubt M1\nsent M1/1/2\nin_doubt M1/1/2\noperator accepted exception=x4 id=7",
			`attempt 2 left on alpha/1, and its answer was lost (timeout), record 6; attempt 1 was accepted in record 7`, "none", []uint64{6}},
		{"to be resent, as an operator wants", sent + "in_doubt M1\noperator resend exception=x4 by=ann reason=urgent",
			"attempt 1 left on alpha/1, and its answer was lost (timeout), record 4; as ann decided in record 5 (resend: urgent) it will be sent again", "none", []uint64{5}},
		{"not sent, as an operator says", sent + "in_doubt M1\noperator not_sent exception=x4",
			"attempt 1 did not leave; as uid:0 decided in record 5 (not_sent) it will be sent again", "none", []uint64{5}},
		{"queued in a backup", "accepted M1\nin_doubt M1 cause=restored",
			"attempt 1 may have left after the backup was made that was restored, record 3", "none", []uint64{3}},
		{"unreported", accepted + "2026-12-04 09:00:00 cutoff M1/1", "nothing final was heard before its window ended, record 5", "cutoff", []uint64{5}},
		{"no failure reported", "accepted M1 asks=failure\nsent M1\nsubmit_resp M1 id=7\n2026-12-04 09:00:00 cutoff M1/1",
			"alpha accepted it in record 4; its window ended in record 5 and a receipt was asked for failure only", "submit_sm_resp", []uint64{4}},
		{"echoed, without a state", "rules alpha client_ref\n" + sent + "in_doubt M1\nreception ref=M1 text=\"id:7 stat:ODD\"",
			"evidence in record 6 shows that alpha has it; no outcome was reported yet", "receipt", []uint64{6}},
		{"echoed before its answer was lost", "rules alpha client_ref\n" + sent + "reception ref=M1 text=\"id:7 stat:ODD\"\nin_doubt M1",
			"evidence in record 5 shows that alpha has it; no outcome was reported yet", "receipt", []uint64{5}},
		{"echoed without an id before its answer was lost", "rules alpha client_ref\n" + sent + "reception ref=M1 text=\"stat:ODD\"\nin_doubt M1",
			"evidence in record 5 shows that alpha has it; no outcome was reported yet", "receipt", []uint64{5}},
		{"echoed before its answer came", "rules alpha client_ref\n" + sent + "reception ref=M1 text=\"stat:ODD\"\nsubmit_resp M1 id=7",
			"alpha accepted it in record 6; no outcome was reported yet", "submit_sm_resp", []uint64{6}},
		{"echoed, and the next attempt refused", "rules alpha client_ref\n" + sent + "in_doubt M1\nreception ref=M1 text=\"id:7 stat:ODD\"\nsent M1/1/2\nsubmit_resp M1/1/2 status=0x0B",
			"evidence in record 6 shows that alpha has it; no outcome was reported yet", "receipt", []uint64{6}},
		{"reported on its way, then no failure", "accepted M1 asks=failure\nsent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:ENROUTE\"\n2026-12-04 09:00:00 cutoff M1/1",
			"alpha accepted it in record 4; its window ended in record 6 and a receipt was asked for failure only", "cutoff", []uint64{6}},
		{"on its way by our query alone, then no failure", "accepted M1 asks=failure\nsent M1\nin_doubt M1\nquery_resp M1 state=1\n2026-12-04 09:00:00 cutoff M1/1",
			"alpha answered query_sm with ENROUTE in record 5; its window ended in record 6 and a receipt was asked for failure only", "cutoff", []uint64{6}},
		{"a word that a rule maps", "rules alpha states=DONE:DELIVERED\n" + accepted + `reception text="id:7 stat:DONE"`,
			"alpha reported DONE in record 6, matched by text_id", "receipt", []uint64{6}},
		{"a mapped word beside message_state", "rules alpha states=DONE:DELIVERED\n" + accepted + `reception tlv=7 state=2 text="stat:DONE"`,
			"alpha reported DELIVERED in record 6, matched by receipted_message_id", "receipt", []uint64{6}},
		{"all parts reported", "accepted M1 parts=2\nsent M1/1\nsent M1/2\nsubmit_resp M1/1 id=7\nsubmit_resp M1/2 id=8\n" +
			`reception text="id:8 stat:DELIVRD"` + "\n" + `reception text="id:7 stat:DELIVRD"`,
			"part 1: alpha reported DELIVRD in record 8, matched by text_id", "receipt", []uint64{7, 8}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := play(t, "rules alpha\n"+tt.script).message("M1")
			require.Equal(t, tt.want, m.Reason(statusName))
			require.Equal(t, tt.basis, m.Basis())
			require.Equal(t, append([]uint64{}, tt.evidence...), m.EvidenceSeqs())
		})
	}
}

// TestMessage_Reason_ofWhatNoScriptBrings has parts that no record of a script leads to.
func TestMessage_Reason_ofWhatNoScriptBrings(t *testing.T) {
	reported := statemachine.Reported{State: statemachine.Delivered, SMSC: "alpha", Seq: 5, RawStat: "DELIVRD", By: statemachine.ByCallback}
	doubt := statemachine.Attempt{Number: 1, Seq: 3, Session: "alpha/1", Outcome: statemachine.Doubtful, DoubtSeq: 4, DoubtCause: "cut"}
	arrived := statemachine.Attempt{Number: 2, Seq: 5, Session: "alpha/1", Outcome: statemachine.Arrived, DoubtSeq: 6, DoubtEnded: statemachine.DoubtClientRef, DoubtEndSeq: 7}
	tests := []struct {
		name string
		part statemachine.Part
		want string
	}{
		{"a callback reported it", statemachine.Part{State: statemachine.Delivered, Reported: reported, Basis: statemachine.BasisCallback, BasisSeq: 5},
			"the callback in record 5 reported DELIVRD, matched by callback_id"},
		{"in doubt beside an attempt that a receipt showed",
			statemachine.Part{State: statemachine.InDoubt, Attempts: []statemachine.Attempt{doubt, arrived}, Basis: statemachine.BasisNone, BasisSeq: 4},
			"attempt 1 left on alpha/1, and its answer was lost (cut), record 4; the receipt in record 7 shows that alpha has attempt 2"},
		{"another part failed", statemachine.Part{State: statemachine.Failed, Basis: statemachine.BasisSubmitResp, BasisSeq: 9}, "another part failed, record 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := statemachine.Message{SMSC: "alpha", State: tt.part.State, Parts: []statemachine.Part{tt.part}}
			require.Equal(t, tt.want, m.Reason(statusName))
		})
	}
	require.Empty(t, (&statemachine.Message{}).Reason(statusName))

	accepted := statemachine.Attempt{Number: 1, Outcome: statemachine.AcceptedBy, AnswerSeq: 4}
	success := statemachine.Message{SMSC: "alpha", RegisteredDelivery: 3, Parts: []statemachine.Part{
		{State: statemachine.Submitted, Partial: true, Attempts: []statemachine.Attempt{accepted}, CutoffSeq: 9, Basis: statemachine.BasisSubmitResp, BasisSeq: 4},
	}}
	require.Equal(t, "alpha accepted it in record 4; its window ended in record 9 and a receipt was asked for success only", success.Reason(statusName))
}

func TestMessage_decidingPart(t *testing.T) {
	m := play(t, `rules alpha
		accepted M1 parts=2
		sent M1/1
		sent M1/2
		submit_resp M1/1 id=7
		submit_resp M1/2 id=8
		reception text="id:7 stat:DELIVRD"
		reception text="id:8 stat:UNDELIV err:027 done date:2611301204"`).message("M1")
	require.Equal(t, "8", m.Acceptance().MessageID)
	require.Equal(t, "UNDELIV", m.Report().RawStat)
	require.Equal(t, "027", m.Report().Err)
	require.Equal(t, "2611301204", m.Report().DoneDateRaw)
	waiting := play(t, "rules alpha\naccepted M1").message("M1")
	require.Nil(t, waiting.Acceptance())
	require.Nil(t, waiting.Report())
}

func TestPart_basisOfADoubtIsTheAttemptInDoubt(t *testing.T) {
	const lost = "rules alpha in_doubt=resend\naccepted M1\nsent M1\nin_doubt M1\nsent M1/1/2\n" // in doubt in record 4
	tests := []struct {
		name, script string
		basis        uint64
		records      []uint64
	}{
		{"the next attempt refused for good", lost + "submit_resp M1/1/2 status=0x0B", 4, []uint64{4}},
		{"the next attempt accepted", lost + "submit_resp M1/1/2 id=8", 4, nil},
		{"the next attempt lost too, and no time for a third", lost + "in_doubt M1/1/2\nexpired M1", 4, []uint64{4, 6}},
		{"then the first is refused", lost + "in_doubt M1/1/2\nexpired M1\nsubmit_resp M1/1/1 status=0x0B", 6, []uint64{4, 6}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := play(t, tt.script)
			p := w.message("M1").Parts[0]
			require.Equal(t, statemachine.InDoubt, p.State)
			require.Equal(t, tt.basis, p.BasisSeq)
			var records []uint64
			for _, x := range w.mem.Exceptions {
				require.Equal(t, "attempt 1 left, and its answer was lost", x.Reason)
				records = append(records, x.Records...)
			}
			require.Equal(t, tt.records, records)
		})
	}
}
