package statemachine_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// Lives that end with an exception of each kind; that exception's id is beside.
const (
	lifeConflict = "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:DELIVRD\"\nreception text=\"id:7 stat:UNDELIV\""
	lifeInDoubt  = "rules alpha\naccepted M1\nsent M1\nin_doubt M1"
	lifeNoID     = "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1"
	lifeTwoOwned = "rules alpha\naccepted M1\naccepted M2\nsent M1\nsent M2\nsubmit_resp M1 id=7\nsubmit_resp M2 id=7"
	lifeTwoFit   = lifeTwoOwned + "\nreception text=\"id:7 stat:DELIVRD\""
	lifeMismatch = "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7\nreception src=447700900123 text=\"id:7 stat:DELIVRD\""
	lifeFlagged  = "rules alpha address_check=flag\naccepted M1\nsent M1\nsubmit_resp M1 id=7\nreception src=447700900123 text=\"id:7 stat:DELIVRD\""
	lifeUnmapped = "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:ODD\""
	lifeGarbage  = "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7\nreception garbage"
	lifeNobodys  = "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=8\nreception text=\"id:7 stat:DELIVRD\"\noperator dismiss row=5\noperator undo exception=x6"
)

var lives = []struct {
	kind   statemachine.ExceptionKind
	script string
	id     string
}{
	{statemachine.KindConflict, lifeConflict, "x6"},
	{statemachine.KindAmbiguous, lifeTwoFit, "x8"},
	{statemachine.KindAddressMismatch, lifeMismatch, "x5"},
	{statemachine.KindUnmappedState, lifeUnmapped, "x5"},
	{statemachine.KindUndecodable, lifeGarbage, "x5"},
	{statemachine.KindInDoubt, lifeInDoubt, "x4"},
	{statemachine.KindUnmatched, lifeNobodys, "x6"},
	{statemachine.KindNoMessageID, lifeNoID, "x4"},
	{statemachine.KindDuplicateMessageID, lifeTwoOwned, "x7"},
}

// TestOperator_everyActionForEveryKind: an action that is an answer to a kind ends the exception in the person's
// name, and undo opens it again; any other is refused and changes nothing.
func TestOperator_everyActionForEveryKind(t *testing.T) {
	answers := map[statemachine.Action][]statemachine.ExceptionKind{
		statemachine.ActionAssign:   {statemachine.KindAmbiguous, statemachine.KindAddressMismatch, statemachine.KindUnmatched},
		statemachine.ActionResend:   {statemachine.KindInDoubt},
		statemachine.ActionNotSent:  {statemachine.KindInDoubt},
		statemachine.ActionAccepted: {statemachine.KindInDoubt, statemachine.KindNoMessageID},
		statemachine.ActionTake:     {statemachine.KindConflict},
	}
	for _, life := range lives {
		answers[statemachine.ActionDismiss] = append(answers[statemachine.ActionDismiss], life.kind)
	}
	for _, life := range lives {
		for _, action := range actions {
			t.Run(string(life.kind)+" "+string(action), func(t *testing.T) {
				l := play(t, life.script)
				x := l.mem.Exceptions[life.id]
				require.NotNil(t, x)
				require.Equal(t, life.kind, x.Kind)
				require.Equal(t, statemachine.StatusOpen, x.Status)
				l.play("operator " + string(action) + " exception=" + life.id + " to=M1 id=7 by=ann reason=because")
				eff := l.effects[len(l.effects)-1]
				if !slices.Contains(answers[action], life.kind) {
					require.Equal(t, string(action)+" is no answer to an exception of kind "+string(life.kind), eff.NoEffect)
					require.Equal(t, statemachine.Effects{NoEffect: eff.NoEffect}, eff)
					return
				}
				require.Empty(t, eff.NoEffect)
				requireEnded(t, l, life.id, action)
				l.play("operator undo exception=" + life.id)
				require.Empty(t, l.effects[len(l.effects)-1].NoEffect)
				x = l.mem.Exceptions[life.id]
				require.Equal(t, statemachine.StatusOpen, x.Status)
				require.Nil(t, x.Resolution)
				if x.Message != "" {
					require.Contains(t, l.message(string(x.Message)).Exceptions, life.id)
				}
			})
		}
	}
}

func requireEnded(t *testing.T, l *lab, id string, action statemachine.Action) {
	x := l.mem.Exceptions[id]
	status := statemachine.StatusResolved
	if action == statemachine.ActionDismiss {
		status = statemachine.StatusDismissed
	}
	require.Equal(t, status, x.Status)
	seq := uint64(len(l.effects))
	require.Equal(t, &statemachine.Resolution{Action: string(action), By: "ann", At: l.now, Reason: "because", Seq: seq}, x.Resolution)
	if x.Message == "" {
		return
	}
	m := l.message(string(x.Message))
	require.NotContains(t, m.Exceptions, id)
	require.Equal(t, seq, m.LastDecision.Seq, "the message's history has it")
	d := l.effects[seq-1].Decisions[0]
	require.Equal(t, statemachine.ByOperator, d.By)
	require.Equal(t, string(action)+" by ann: because", d.Why)
}

// TestOperator_refused: what no longer holds changes nothing, and the reason says what to do.
func TestOperator_refused(t *testing.T) {
	const late = "2026-12-04 09:00:00 "
	tests := []struct{ name, script, want string }{
		{"a flagged receipt is its message's already", lifeFlagged + "\naccepted M2\nsent M2\noperator assign exception=x5 to=M2",
			"its receipts are matched already (address_check: flag): there is nothing to assign, dismiss it"},
		{"the row found its owner", lifeNobodys + "\nsent M1/1/2\nsubmit_resp M1/1/2 id=7\noperator assign exception=x6 to=M1",
			"x6 is resolved already: matched, record 9"},
		{"what ended by itself is nobody's to take back", lifeNobodys + "\nsent M1/1/2\nsubmit_resp M1/1/2 id=7\noperator undo exception=x6",
			"x6 ended by itself: matched, record 9"},
		{"what ended with another exception", lifeInDoubt + "\naccepted M2\nsent M2\nsubmit_resp M2 id=7\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:DELIVRD\"\n" +
			"sent M1/1/2\nin_doubt M1/1/2\noperator undo exception=x4",
			"x4 ended by itself: late_answer, record 8"},
		{"a doubt that ended with a receipt by hand, decided again", lifeInDoubt + "\nreception text=\"id:7 stat:DELIVRD\"\noperator assign row=5 to=M1\noperator dismiss exception=x4",
			"x4 is resolved already: receipt, record 6"},
		{"a doubt that ended with a receipt by hand, taken back", lifeInDoubt + "\nreception text=\"id:7 stat:DELIVRD\"\noperator assign row=5 to=M1\noperator undo exception=x4",
			"x4 ended with what record 6 decided about x6: take that back"},
		{"the doubt is over", lifeInDoubt + "\noperator dismiss exception=x4\nsubmit_resp M1 id=7\noperator resend exception=x4",
			"x4 is dismissed already: dismiss of uid:0, record 5"},
		{"the message's validity is over", "accepted M1 valid=1h\nsent M1\n" + "2026-11-30 11:00:00 in_doubt M1\noperator resend exception=x3",
			"its validity ended at 2026-11-30T10:00:01Z"},
		{"resent, and it left", lifeInDoubt + "\noperator resend exception=x4\nsent M1/1/2\noperator undo exception=x4",
			"the part does not wait in the queue for that any more: it may have been sent again"},
		{"an exception that retention dropped", lifeInDoubt + "\nretention exceptions=x4\noperator resend exception=x4",
			"there is no such exception (any more)"},
		{"what it rests on was dropped", lifeConflict + "\noperator take exception=x6\nrules alpha accepted=final\nretention log=7\noperator undo exception=x6",
			"not all that it rests on is kept any more"},
		{"the second final is no final any more", "rules alpha states=ODD:REJECTED\naccepted M1\nsent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:DELIVRD\"\n" +
			"reception text=\"id:7 stat:ODD\"\nrules alpha\noperator take exception=x6",
			"under the rules in force record 6 names no final state"},
		{"a page of nothing", "operator reprocess", ""},
		{"reported, then nothing more to decide", lifeMismatch + "\noperator dismiss exception=x5\nrules alpha address_check=off\noperator reprocess\noperator undo exception=x5",
			"the row that was dismissed is not in the inbox any more, or is held for something else"},
		{"the window ended meanwhile: a person may still say what became of it", lifeInDoubt + "\n" + late + "operator accepted exception=x4 id=7", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, tt.script)
			eff := l.effects[len(l.effects)-1]
			require.Equal(t, tt.want, eff.NoEffect)
			if tt.want != "" {
				require.Equal(t, statemachine.Effects{NoEffect: tt.want}, eff)
			}
		})
	}
}

// TestOperator_confirmsFlagged: a receipt that was matched though its addresses differ is confirmed by assigning
// it where it is.
func TestOperator_confirmsFlagged(t *testing.T) {
	l := play(t, lifeFlagged)
	before := *l.message("M1")
	l.play("operator assign exception=x5 to=M1 by=ann reason=because")
	require.Equal(t, statemachine.StatusResolved, l.mem.Exceptions["x5"].Status)
	require.Equal(t, before.Parts, l.message("M1").Parts)
	require.Equal(t, "assign by ann: because", l.last().Why)
	l.play("operator undo exception=x5")
	require.Equal(t, statemachine.StatusOpen, l.mem.Exceptions["x5"].Status)
}

// TestOperator_thenEvidence: what the SMSC says after a person decided is still taken for what it is.
func TestOperator_thenEvidence(t *testing.T) {
	const echoing = "rules alpha client_ref\naccepted M1\nsent M1\nin_doubt M1\n"
	tests := []struct {
		name, script string
		want         statemachine.State
		doubled      bool
		ended        statemachine.DoubtEnd // of the first attempt
	}{
		{"accepted, and its answer says so too", lifeInDoubt + "\noperator accepted exception=x4 id=7\nsubmit_resp M1 id=7", statemachine.Submitted, false, statemachine.DoubtLateAnswer},
		{"accepted, and its answer has no id", lifeInDoubt + "\noperator accepted exception=x4 id=7\nsubmit_resp M1\nreception text=\"id:7 stat:DELIVRD\"", statemachine.Delivered, false, statemachine.DoubtLateAnswer},
		{"accepted, and its answer is a refusal", lifeInDoubt + "\noperator accepted exception=x4 id=7\nsubmit_resp M1 status=0x0B", statemachine.Failed, false, statemachine.DoubtLateAnswer},
		{"accepted, and refused for now", lifeInDoubt + "\noperator accepted exception=x4 id=7\nsubmit_resp M1 status=0x58 temporary", statemachine.Queued, false, statemachine.DoubtLateAnswer},
		{"accepted, and echoed", echoing + "operator accepted exception=x4 id=7\nreception ref=M1 text=\"id:7 stat:DELIVRD\"", statemachine.Delivered, false, statemachine.DoubtOperator},
		{"not sent, and accepted late", lifeInDoubt + "\noperator not_sent exception=x4\nsubmit_resp M1 id=7", statemachine.Submitted, false, statemachine.DoubtLateAnswer},
		{"not sent, sent again, and accepted late", lifeInDoubt + "\noperator not_sent exception=x4\nsent M1/1/2\nsubmit_resp M1/1/2 id=8\nsubmit_resp M1 id=7", statemachine.Submitted, true, statemachine.DoubtLateAnswer},
		{"not sent, and echoed", echoing + "operator not_sent exception=x4\nreception ref=M1 text=\"id:7 stat:ENROUTE\"", statemachine.Enroute, false, statemachine.DoubtClientRef},
		{"resent, and the first answer late", lifeInDoubt + "\noperator resend exception=x4\nsubmit_resp M1 id=7", statemachine.Submitted, false, statemachine.DoubtLateAnswer},
		{"dismissed, and the answer late", lifeInDoubt + "\noperator dismiss exception=x4\nsubmit_resp M1 id=7", statemachine.Submitted, false, statemachine.DoubtLateAnswer},
		{"accepted, and cut off at the end of the window", lifeInDoubt + "\noperator accepted exception=x4 id=7\n2026-12-03 09:00:03 cutoff M1/1", statemachine.Unreported, false, statemachine.DoubtOperator},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, tt.script)
			m := l.message("M1")
			require.Equal(t, tt.want, m.State)
			require.Equal(t, tt.doubled, m.MaybeDoubled())
			require.Equal(t, tt.ended, m.Parts[0].Attempts[0].DoubtEnded)
			require.Empty(t, l.effects[len(l.effects)-1].NoEffect)
			require.Equal(t, m.SubmittedAt.IsZero(), m.Parts[0].Accepted() == nil)
		})
	}
}

// TestOperator_dismissesWhatSeveralMessagesShow: each message that was given an id which others have shows so, until
// a person ends it.
func TestOperator_dismissesWhatSeveralMessagesShow(t *testing.T) {
	l := play(t, `rules alpha
		accepted M1
		accepted M2
		accepted M3
		sent M1
		sent M2
		sent M3
		submit_resp M1 id=7
		submit_resp M2 id=7
		submit_resp M3 id=7`)
	require.Equal(t, []string{"x9"}, l.message("M2").Exceptions)
	require.Equal(t, []string{"x9"}, l.message("M3").Exceptions)
	l.play("operator dismiss exception=x9")
	require.Empty(t, l.message("M2").Exceptions)
	require.Empty(t, l.message("M3").Exceptions)
	l.play("operator undo exception=x9")
	require.Equal(t, []string{"x9"}, l.message("M2").Exceptions)
}
