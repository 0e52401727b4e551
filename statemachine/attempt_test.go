package statemachine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestAttempts plays what becomes of the attempts of a part, without any report (DESIGN §3, Attempts).
func TestAttempts(t *testing.T) {
	tests := []struct {
		name    string
		script  string // behind rules and accepted M1
		want    statemachine.State
		queued  bool
		doubled bool
		doubt   int // open in_doubt exceptions
	}{
		{"accepted by us waits", "", statemachine.Queued, true, false, 0},
		{"sent is being submitted", "sent M1", statemachine.Submitting, false, false, 0},
		{"accepted by the SMSC", "sent M1\n submit_resp M1 id=7", statemachine.Submitted, false, false, 0},
		{"refused for good", "sent M1\n submit_resp M1 status=0x0B", statemachine.Failed, false, false, 0},
		{"throttled goes back to the queue", "sent M1\n submit_resp M1 status=0x58 temporary", statemachine.Queued, true, false, 0},
		{"and is accepted then", "sent M1\n submit_resp M1 status=0x58 temporary\n sent M1/1/2\n submit_resp M1/1/2 id=7", statemachine.Submitted, false, false, 0},
		{"the answer is lost", "sent M1\n in_doubt M1", statemachine.InDoubt, false, false, 1},
		{"it did not leave after all", "sent M1\n in_doubt M1 not_written", statemachine.Queued, true, false, 0},
		{"a late answer ends the doubt", "sent M1\n in_doubt M1\n submit_resp M1 id=7", statemachine.Submitted, false, false, 0},
		{"a late refusal ends it too", "sent M1\n in_doubt M1\n submit_resp M1 status=0x0B", statemachine.Failed, false, false, 0},
		{"a late temporary refusal puts it back", "sent M1\n in_doubt M1\n submit_resp M1 status=0x58 temporary", statemachine.Queued, true, false, 0},
		{"a second answer has no effect", "sent M1\n submit_resp M1 id=7\n submit_resp M1 status=0x0B", statemachine.Submitted, false, false, 0},
		{"a doubt after the answer has none", "sent M1\n submit_resp M1 id=7\n in_doubt M1", statemachine.Submitted, false, false, 0},
		{"an attempt that was never sent cannot be answered", "submit_resp M1 id=7", statemachine.Queued, true, false, 0},
		{"an attempt is made once", "sent M1\n sent M1", statemachine.Submitting, false, false, 0},
		{"an attempt must be the next", "sent M1/1/2", statemachine.Queued, true, false, 0},
		{"sent although nothing waits shows as doubled", "sent M1\n submit_resp M1 id=7\n sent M1/1/2", statemachine.Submitting, false, true, 0},
		{"accepted beside one in doubt stays in doubt", "sent M1\n in_doubt M1\n sent M1/1/2\n submit_resp M1/1/2 id=7", statemachine.InDoubt, false, true, 1},
		{"refused beside one in doubt stays in doubt", "sent M1\n in_doubt M1\n sent M1/1/2\n submit_resp M1/1/2 status=0x0B", statemachine.InDoubt, false, false, 1},
		{"expired before it was sent", "expired M1", statemachine.Failed, false, false, 0},
		{"expired while it is being submitted has no effect", "sent M1\n expired M1", statemachine.Submitting, false, false, 0},
		{"expired after a temporary refusal", "sent M1\n submit_resp M1 status=0x58 temporary\n expired M1", statemachine.Failed, false, false, 0},
		{"a failed part stays failed, whatever is sent", "expired M1\n sent M1\n submit_resp M1 id=7", statemachine.Failed, false, false, 0},
		{"what waits cannot be cut off", "cutoff M1/1", statemachine.Queued, true, false, 0},
		{"nor what is in doubt", "sent M1\n in_doubt M1\n cutoff M1/1", statemachine.InDoubt, false, false, 1},
		{"silence", "sent M1\n submit_resp M1 id=7\n 2026-12-04 09:00:00 cutoff M1/1", statemachine.Unreported, false, false, 0},
		{"silence, the window still open", "sent M1\n submit_resp M1 id=7\n 2026-12-03 09:00:03 cutoff M1/1", statemachine.Submitted, false, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha\n accepted M1\n"+tt.script)
			m := l.message("M1")
			require.Equal(t, tt.want, m.State)
			require.Equal(t, tt.queued, m.Parts[0].Queued())
			require.Equal(t, tt.queued, len(l.mem.Queue) == 1)
			require.Equal(t, tt.doubled, m.MaybeDoubled())
			open, _ := l.exceptions(statemachine.KindInDoubt)
			require.Equal(t, tt.doubt, open)
		})
	}
}

// TestInDoubt_resend: the SMSC's rules and the message itself say whether a part in doubt is sent again.
func TestInDoubt_resend(t *testing.T) {
	tests := []struct {
		name, rules, message string
		want                 statemachine.State
	}{
		{"held by default", "rules alpha", "accepted M1", statemachine.InDoubt},
		{"resent by rule", "rules alpha in_doubt=resend", "accepted M1", statemachine.Queued},
		{"the message wants it resent", "rules alpha", "accepted M1 in_doubt=resend", statemachine.Queued},
		{"the message wants it held", "rules alpha in_doubt=resend", "accepted M1 in_doubt=hold", statemachine.InDoubt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, tt.rules+"\n"+tt.message+"\nsent M1\nin_doubt M1")
			require.Equal(t, tt.want, l.message("M1").State)
		})
	}
}

// TestInDoubt_afterSibling: nothing of a message is sent again after a part of it failed.
func TestInDoubt_afterSibling(t *testing.T) {
	l := play(t, `rules alpha in_doubt=resend
		accepted M1 parts=3
		sent M1/1
		sent M1/2
		sent M1/3
		submit_resp M1/1 status=0x0B
		in_doubt M1/2
		submit_resp M1/3 status=0x58 temporary`)
	m := l.message("M1")
	require.Equal(t, statemachine.InDoubt, m.Parts[1].State)
	require.Equal(t, statemachine.Failed, m.Parts[2].State)
	require.Equal(t, statemachine.InDoubt, m.State)
	require.Empty(t, l.mem.Queue)
	open, _ := l.exceptions(statemachine.KindInDoubt)
	require.Equal(t, 1, open)
}

func TestQueue_waitsForItsRetry(t *testing.T) {
	l := play(t, "rules alpha\naccepted M1 priority=9\nsent M1\nsubmit_resp M1 status=0x58 temporary retry=30s")
	require.Len(t, l.mem.Queue, 1)
	for entry := range l.mem.Queue {
		require.Equal(t, statemachine.QueueEntry{
			SMSC: "alpha", Priority: 3, NotBefore: l.now.Add(30e9), Seq: 4, Message: "M1", Part: 1,
		}, entry)
	}
}

func TestQueue_finalEvidenceTakesItOff(t *testing.T) {
	l := play(t, `rules alpha client_ref in_doubt=resend
		accepted M1
		sent M1
		in_doubt M1
		reception ref=M1 text="id:7 stat:DELIVRD"`)
	require.Equal(t, statemachine.Delivered, l.message("M1").State)
	require.Empty(t, l.mem.Queue)
	require.False(t, l.message("M1").MaybeDoubled())
}

func TestAttempt_endOfDoubt(t *testing.T) {
	l := play(t, `rules alpha client_ref
		accepted M1
		accepted M2 to=+393331234568
		sent M1
		sent M2
		in_doubt M1
		in_doubt M2
		submit_resp M1 id=7
		reception ref=M2 src=393331234568 text="id:8 stat:ENROUTE"`)
	a := l.message("M1").Parts[0].Attempts[0]
	require.Equal(t, statemachine.DoubtLateAnswer, a.DoubtEnded)
	require.EqualValues(t, 8, a.DoubtEndSeq)
	a = l.message("M2").Parts[0].Attempts[0]
	require.Equal(t, statemachine.Arrived, a.Outcome)
	require.Equal(t, "8", a.MessageID)
	require.Equal(t, statemachine.DoubtClientRef, a.DoubtEnded)
	require.EqualValues(t, 9, a.DoubtEndSeq)
	_, ended := l.exceptions(statemachine.KindInDoubt)
	require.Equal(t, 2, ended)
	require.Empty(t, l.message("M1").Exceptions)
}

// TestReference_attempt: an echoed reference names a part. Which attempt of it the receipt is about, its
// ids say, or there is only one that it can be; else nobody's doubt ends.
func TestReference_attempt(t *testing.T) {
	const (
		lost   = "sent M1\nin_doubt M1\n"
		twice  = lost + "sent M1/1/2\n"
		second = twice + "submit_resp M1/1/2 id=AF\n" // the first in doubt
		first  = twice + "submit_resp M1/1/1 id=AF\n" // the second unanswered
	)
	tests := []struct {
		name, rules, script string
		want                int
		ids                 []string
		outcomes            []statemachine.Outcome
	}{
		{"the only one", "", lost + `reception ref=M1 text="id:7 stat:ENROUTE"`, 1,
			[]string{"7"}, []statemachine.Outcome{statemachine.Arrived}},
		{"the only one, and no id", "", lost + `reception ref=M1 text="stat:ENROUTE"`, 1,
			[]string{""}, []statemachine.Outcome{statemachine.Arrived}},
		{"the only one, and a word for none beside an id", "", lost + `reception ref=M1 tlv=NULL text="id:7 stat:ENROUTE"`, 1,
			[]string{"7"}, []statemachine.Outcome{statemachine.Arrived}},
		{"the only one that may have arrived", "", "sent M1\nin_doubt M1 not_written\nsent M1/1/2\n" + `reception ref=M1 text="stat:ENROUTE"`, 2,
			[]string{"", ""}, []statemachine.Outcome{statemachine.NotSent, statemachine.Unanswered}},
		{"by the text's id", "", second + `reception ref=M1 tlv=999 text="id:AF stat:ENROUTE"`, 2,
			[]string{"", "AF"}, []statemachine.Outcome{statemachine.Doubtful, statemachine.AcceptedBy}},
		{"by the TLV's id", "", second + `reception ref=M1 tlv=AF text="id:999 stat:ENROUTE"`, 2,
			[]string{"", "AF"}, []statemachine.Outcome{statemachine.Doubtful, statemachine.AcceptedBy}},
		{"by an id in canonical form", "ids=hex_to_dec", second + `reception ref=M1 tlv=175 state=1`, 2,
			[]string{"", "AF"}, []statemachine.Outcome{statemachine.Doubtful, statemachine.AcceptedBy}},
		{"by an id in canonical form, beside one unanswered", "ids=hex_to_dec", first + `reception ref=M1 tlv=175 state=1`, 1,
			[]string{"AF", ""}, []statemachine.Outcome{statemachine.AcceptedBy, statemachine.Unanswered}},
		{"by an id that a reference told before", "ids=hex_to_dec", lost + "reception ref=M1 tlv=175 state=1\nsent M1/1/2\n" + `reception ref=M1 tlv=175 state=6`, 1,
			[]string{"175", ""}, []statemachine.Outcome{statemachine.Arrived, statemachine.Unanswered}},
		{"an id that fits none is the nameless one's", "", second + `reception ref=M1 text="id:B0 stat:ENROUTE"`, 1,
			[]string{"B0", "AF"}, []statemachine.Outcome{statemachine.Arrived, statemachine.AcceptedBy}},
		{"an id that was given as a word for none leaves it nameless", "", twice + "submit_resp M1/1/2 id=null\nsubmit_resp M1/1/1 id=AF\n" + `reception ref=M1 text="id:B0 stat:ENROUTE"`, 2,
			[]string{"AF", "B0"}, []statemachine.Outcome{statemachine.AcceptedBy, statemachine.AcceptedBy}},
		{"without an id it may be either's", "", second + `reception ref=M1 text="stat:ENROUTE"`, 0,
			[]string{"", "AF"}, []statemachine.Outcome{statemachine.Doubtful, statemachine.AcceptedBy}},
		{"without an id it may be either's, one unanswered", "", first + `reception ref=M1 text="stat:ENROUTE"`, 0,
			[]string{"AF", ""}, []statemachine.Outcome{statemachine.AcceptedBy, statemachine.Unanswered}},
		{"of two nameless ones", "", twice + `reception ref=M1 text="id:7 stat:ENROUTE"`, 0,
			[]string{"", ""}, []statemachine.Outcome{statemachine.Doubtful, statemachine.Unanswered}},
		{"of two that were given one id", "", second + "submit_resp M1/1/1 id=AF\n" + `reception ref=M1 text="id:AF stat:ENROUTE"`, 0,
			[]string{"AF", "AF"}, []statemachine.Outcome{statemachine.AcceptedBy, statemachine.AcceptedBy}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha client_ref "+tt.rules+"\naccepted M1 in_doubt=resend\n"+tt.script)
			require.Equal(t, statemachine.ByClientRef, l.last().By)
			require.Equal(t, tt.want, l.last().Attempt)
			for i, a := range l.message("M1").Parts[0].Attempts {
				require.Equal(t, tt.ids[i], a.MessageID, "attempt %d", a.Number)
				require.Equal(t, tt.outcomes[i], a.Outcome, "attempt %d", a.Number)
				if a.Outcome == statemachine.Doubtful {
					require.Empty(t, a.DoubtEnded)
				}
			}
		})
	}
}

// TestReference_hidesNoDoubt: what one attempt's receipt says does not answer for another one.
func TestReference_hidesNoDoubt(t *testing.T) {
	l := play(t, `rules alpha client_ref ids=hex_to_dec
		accepted M1 in_doubt=resend
		sent M1
		in_doubt M1
		sent M1/1/2
		submit_resp M1/1/1 id=AF
		reception ref=M1 tlv=175 text="err:0"
		in_doubt M1/1/2`)
	require.Equal(t, statemachine.Doubtful, l.message("M1").Parts[0].Attempts[1].Outcome)
	require.Equal(t, statemachine.InDoubt, l.message("M1").State)
}
