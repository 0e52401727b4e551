package statemachine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestFold_queryResp: the answer to our own query is evidence as far as it says anything, and only for the
// part that was asked about.
func TestFold_queryResp(t *testing.T) {
	const (
		submitted = "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7\n"
		enroute   = submitted + "reception text=\"id:7 done date:2611300901 stat:ENROUTE\"\n"
	)
	tests := []struct {
		name, script string
		want         statemachine.State
		verdict      statemachine.Verdict // "" = it is no evidence
	}{
		{"final, with its date", submitted + "query_resp M1 state=2 date=261130100800000+", statemachine.Delivered, statemachine.VerdictApplied},
		{"final, no date", submitted + "query_resp M1 state=5", statemachine.Undeliverable, statemachine.VerdictApplied},
		{"final, a relative date", submitted + "query_resp M1 state=2 date=000000010000000R", statemachine.Delivered, statemachine.VerdictApplied},
		{"final, an error code beside", submitted + "query_resp M1 state=3 error=17", statemachine.Expired, statemachine.VerdictApplied},
		{"delivered, an error code beside", submitted + "query_resp M1 state=2 error=17", statemachine.Delivered, statemachine.VerdictApplied},
		{"on its way", submitted + "query_resp M1 state=1", statemachine.Enroute, statemachine.VerdictApplied},
		{"on its way, no date, and a receipt said so before", enroute + "query_resp M1 state=1", statemachine.Enroute, statemachine.VerdictRepeat},
		{"another state on its way, no date", enroute + "query_resp M1 state=6", statemachine.Enroute, statemachine.VerdictUnordered},
		{"message_state 0 is what some answer for ids that they never saw", submitted + "query_resp M1 state=0 date=261130100800000+", statemachine.Submitted, statemachine.VerdictNoted},
		{"message_state 0 and an error code", submitted + "query_resp M1 state=0 error=69", statemachine.Submitted, statemachine.VerdictNoted},
		{"a state that SMPP does not know", submitted + "query_resp M1 state=77", statemachine.Submitted, statemachine.VerdictNoted},
		{"ESME_RQUERYFAIL", submitted + "query_resp M1 status=0x67 state=2", statemachine.Submitted, ""},
		{"ESME_RINVMSGID: it does not know the id, which proves nothing", submitted + "query_resp M1 status=0x0C state=8", statemachine.Submitted, ""},
		{"an attempt that was never made", submitted + "query_resp M1/1/2 state=2", statemachine.Submitted, ""},
		{"the same final state again", submitted + "query_resp M1 state=2\nquery_resp M1 state=2", statemachine.Delivered, statemachine.VerdictRepeat},
		{"contradicts what was reported", submitted + "reception text=\"id:7 stat:DELIVRD\"\nquery_resp M1 state=5", statemachine.Delivered, statemachine.VerdictConflict},
		{"on its way after the window", submitted + "2026-12-04 09:00:00 cutoff M1\nquery_resp M1 state=1", statemachine.Unreported, statemachine.VerdictLate},
		{"final after the window", submitted + "2026-12-04 09:00:00 cutoff M1\nquery_resp M1 state=2", statemachine.Delivered, statemachine.VerdictApplied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, tt.script)
			m := l.message("M1")
			require.Equal(t, tt.want, m.State)
			last := l.effects[len(l.effects)-1]
			if tt.verdict == "" && last.NoEffect != "" {
				require.Empty(t, last.Decisions)
				return
			}
			require.Equal(t, tt.verdict, l.last().Verdict)
			if tt.verdict == "" { // a refusal: it shows in the message's history
				require.NotEmpty(t, l.last().Why)
				return
			}
			require.Equal(t, statemachine.ByRequest, l.last().By)
			require.Empty(t, last.Inbox)
		})
	}
}

// TestFold_queryResp_kept: what the answer said is kept as it was received.
func TestFold_queryResp_kept(t *testing.T) {
	l := play(t, "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7\nquery_resp M1 state=3 error=17 date=261130100800004-")
	r := l.message("M1").Parts[0].Reported
	require.Equal(t, "017", r.Err)
	require.Equal(t, "261130100800004-", r.DoneDateRaw)
	require.Equal(t, time.Date(2026, 11, 30, 11, 8, 0, 0, time.UTC), r.DoneDate.Wall)
	require.True(t, r.DoneDate.Zoned)
	require.Zero(t, l.message("M1").Counts.Receipts, "an answer is no receipt")
}
