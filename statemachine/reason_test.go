package statemachine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

func TestMessage_Reason(t *testing.T) {
	const sent = "accepted M1\nsent M1\n"
	const accepted = sent + "submit_resp M1 id=7\n"
	tests := []struct {
		name, script, want string
		basis              statemachine.Basis
		evidence           []uint64
	}{
		{"queued", "accepted M1", "it waits in our queue since record 2", "none", nil},
		{"throttled", sent + "submit_resp M1 status=0x58 temporary",
			"alpha refused attempt 1 for now with command_status 0x00000058 in record 4; it waits to be sent again", "none", nil},
		{"to be resent", "accepted M1 in_doubt=resend\nsent M1\nin_doubt M1",
			"the answer to attempt 1 was lost (timeout) in record 4; it waits to be sent again", "none", nil},
		{"submitting", sent, "attempt 1 was sent in record 3 and is not answered yet", "none", nil},
		{"in doubt", sent + "in_doubt M1 cause=cut", "attempt 1 was sent in record 3 and its answer lost (cut) in record 4", "none", nil},
		{"in doubt beside an accepted attempt", sent + "in_doubt M1\nsent M1/1/2\nsubmit_resp M1/1/2 id=8",
			"attempt 1 was sent in record 3 and its answer lost (timeout) in record 4; alpha accepted attempt 2 in record 6", "none", nil},
		{"in doubt beside a refused attempt", sent + "in_doubt M1\nsent M1/1/2\nsubmit_resp M1/1/2 status=0x0B",
			"attempt 1 was sent in record 3 and its answer lost (timeout) in record 4; alpha refused attempt 2 with command_status 0x0000000B in record 6", "none", nil},
		{"two attempts in doubt", sent + "in_doubt M1\nsent M1/1/2\nin_doubt M1/1/2 cause=cut",
			"attempt 1 was sent in record 3 and its answer lost (timeout) in record 4; that to attempt 2 was lost (cut) in record 6", "none", nil},
		{"of two in doubt, the first was refused after all", sent + "in_doubt M1\nsent M1/1/2\nin_doubt M1/1/2 cause=cut\nsubmit_resp M1/1/1 status=0x0B",
			"attempt 2 was sent in record 5 and its answer lost (cut) in record 6", "none", nil},
		{"submitted", accepted, "alpha accepted it in record 4; no outcome was reported yet", "submit_sm_resp", []uint64{4}},
		{"no receipt asked for", "accepted M1 asks=none\nsent M1\nsubmit_resp M1 id=7",
			"alpha accepted it in record 4; no receipt was asked for", "submit_sm_resp", []uint64{4}},
		{"refused", sent + "submit_resp M1 status=0x0B", "alpha refused it with command_status 0x0000000B in record 4", "submit_sm_resp", []uint64{4}},
		{"expired here", "accepted M1\nexpired M1", "its validity ended in our queue, record 3", "expiry", []uint64{3}},
		{"a sibling was refused", "accepted M1 parts=2\nsent M1/2\nsubmit_resp M1/2 status=0x0B",
			"part 2: alpha refused it with command_status 0x0000000B in record 4", "submit_sm_resp", []uint64{4}},
		{"reported in the text", accepted + `reception text="id:7 stat:DELIVRD"`,
			"alpha reported DELIVRD in record 5, matched by text_id", "receipt", []uint64{5}},
		{"reported by TLV alone", accepted + "reception tlv=7 state=8",
			"alpha reported REJECTED in record 5, matched by receipted_message_id", "receipt", []uint64{5}},
		{"reported on its way, TLV and text differ", accepted + `reception tlv=7 state=1 text="stat:ACCEPTD"`,
			"alpha reported ENROUTE in record 5, matched by receipted_message_id", "receipt", []uint64{5}},
		{"answered to our query", accepted + "query_resp M1 state=2", "alpha answered our query_sm with DELIVERED in record 5", "query_sm", []uint64{5}},
		{"unreported", accepted + "2026-12-04 09:00:00 cutoff M1/1", "nothing final was reported by the end of its window, record 5", "cutoff", []uint64{5}},
		{"no failure reported", "accepted M1 asks=failure\nsent M1\nsubmit_resp M1 id=7\n2026-12-04 09:00:00 cutoff M1/1",
			"alpha accepted it in record 4; no failure was reported by the end of its window, record 5", "submit_sm_resp", []uint64{4}},
		{"echoed, without a state", "rules alpha client_ref\n" + sent + "in_doubt M1\nreception ref=M1 text=\"id:7 stat:ODD\"",
			"a receipt for it came in record 6; no outcome was reported yet", "receipt", []uint64{6}},
		{"all parts reported", "accepted M1 parts=2\nsent M1/1\nsent M1/2\nsubmit_resp M1/1 id=7\nsubmit_resp M1/2 id=8\n" +
			`reception text="id:8 stat:DELIVRD"` + "\n" + `reception text="id:7 stat:DELIVRD"`,
			"part 1: alpha reported DELIVRD in record 8, matched by text_id", "receipt", []uint64{7, 8}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := play(t, "rules alpha\n"+tt.script).message("M1")
			require.Equal(t, tt.want, m.Reason())
			require.Equal(t, tt.basis, m.Basis())
			require.Equal(t, append([]uint64{}, tt.evidence...), m.EvidenceSeqs())
		})
	}
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
