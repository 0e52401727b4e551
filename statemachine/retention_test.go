package statemachine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

// TestRetention_close: what is still open is closed before it is dropped, and nothing waits for it any more.
func TestRetention_close(t *testing.T) {
	tests := []struct {
		name, script string
		want         statemachine.State
		reason       string
	}{
		{"queued, never sent", "accepted M1", statemachine.Failed, "it expired in our queue before it could be submitted, record 3"},
		{"queued after a refusal", "accepted M1\nsent M1\nsubmit_resp M1 status=0x58 temporary retry=5s", statemachine.Failed,
			"it expired in our queue before it could be submitted, record 5; alpha refused attempt 1 with ESME_RTHROTTLED in record 4"},
		{"queued after a doubt", "accepted M1 in_doubt=resend\nsent M1\nin_doubt M1", statemachine.Unreported,
			"whether alpha has it was not known, and nothing was heard until its time to be kept was over, record 5"},
		{"unanswered", "accepted M1\nsent M1", statemachine.Unreported,
			"whether alpha has it was not known, and nothing was heard until its time to be kept was over, record 4"},
		{"in doubt", "accepted M1\nsent M1\nin_doubt M1", statemachine.Unreported,
			"whether alpha has it was not known, and nothing was heard until its time to be kept was over, record 5"},
		{"in doubt, and no receipt asked for", "accepted M1 asks=none\nsent M1\nin_doubt M1", statemachine.Unreported,
			"whether alpha has it was not known, and nothing was heard until its time to be kept was over, record 5"},
		{"submitted", "accepted M1\nsent M1\nsubmit_resp M1 id=7", statemachine.Unreported,
			"nothing final was heard before its window ended, record 5"},
		{"reported on its way", "accepted M1\nsent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:ENROUTE\"", statemachine.Unreported,
			"nothing final was heard before its window ended, record 6"},
		{"only failure asked for", "accepted M1 asks=failure\nsent M1\nsubmit_resp M1 id=7", statemachine.Submitted,
			"alpha accepted it in record 4; its window ended in record 5 and a receipt was asked for failure only"},
		{"sent again, unanswered, and the first reported on", "accepted M1 in_doubt=resend\nsent M1\nin_doubt M1\nsent M1/1/2\nreception ref=M1 text=\"stat:ENROUTE\"",
			statemachine.Unreported, "nothing final was heard before its window ended, record 7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha client_ref\n"+tt.script+"\n2027-03-01 00:00:00 retention close=M1")
			m := l.message("M1")
			require.Equal(t, tt.want, m.State)
			require.Equal(t, tt.reason, m.Reason(statusName))
			require.True(t, m.Closed())
			require.False(t, m.Loose())
			require.Empty(t, l.mem.Queue)
			require.Empty(t, l.mem.Windows)
			require.Empty(t, m.Exceptions)
			waiting, err := l.mem.Unanswered("alpha", "+393331234567")
			require.NoError(t, err)
			require.Empty(t, waiting)
			require.Equal(t, "M1", string(l.last().Message))
			l.play("retention close=M1")
			require.NotEmpty(t, l.effects[len(l.effects)-1].NoEffect)
		})
	}
}

// TestRetention_closedButAwaited: a message that has its outcome may still have an attempt without answer.
func TestRetention_closedButAwaited(t *testing.T) {
	l := play(t, `rules alpha client_ref
		accepted M1
		sent M1
		reception ref=M1 text="id:7 stat:DELIVRD"
		accepted M0
		accepted M2
		sent M2
		submit_resp M2 id=8
		reception text="id:8 stat:DELIVRD"
		reception text="id:8 done date:2611300907 stat:DELIVRD"`)
	m := l.message("M1")
	require.True(t, m.Closed())
	require.True(t, m.Loose())
	require.Len(t, l.mem.Inbox, 1, "it may be the other's, whose answer is awaited")
	l.play("retention close=M1,M2,M9")
	m = l.message("M1")
	require.False(t, m.Loose())
	require.Equal(t, statemachine.Delivered, m.State)
	require.Empty(t, l.mem.Inbox, "nobody else can own it now")
}

// TestRetention_lateAnswer: what comes between closing and dropping still counts for what it is.
func TestRetention_lateAnswer(t *testing.T) {
	const closed = "rules alpha\naccepted M1 asks=%s\nsent M1\n2027-03-01 00:00:00 retention close=M1\nsubmit_resp M1 id=7"
	require.Equal(t, statemachine.Unreported, play(t, fmt.Sprintf(closed, "each")).message("M1").State)
	require.Equal(t, statemachine.Submitted, play(t, fmt.Sprintf(closed, "none")).message("M1").State)
	l := play(t, fmt.Sprintf(closed, "each")+"\nreception text=\"id:7 stat:EXPIRED\"")
	require.Equal(t, statemachine.Expired, l.message("M1").State)
	require.Empty(t, l.mem.Overdue)
}

// TestRetention_drop: what is dropped leaves nothing behind that could be mistaken for it.
func TestRetention_drop(t *testing.T) {
	const life = `rules alpha
		accepted M1
		sent M1
		submit_resp M1 id=7
		reception text="id:7 stat:DELIVRD"
		reception text="id:7 stat:EXPIRED"
		reception text="id:9 stat:DELIVRD"
		reception src=447700900123 text="id:7 done date:2611300901 stat:DELIVRD"
		`
	t.Run("a receipt for a dropped message is nobody's", func(t *testing.T) {
		l := play(t, life+`retention messages=M2
			reception text="id:7 done date:2611300902 stat:DELIVRD"`)
		require.Empty(t, l.mem.Messages)
		require.Equal(t, statemachine.Unmatched, l.last().Correlation)
		require.Zero(t, l.last().Candidates)
	})
	t.Run("its id given again is no duplicate", func(t *testing.T) {
		l := play(t, life+"retention messages=M2\naccepted M2\nsent M2\nsubmit_resp M2 id=7")
		open, _ := l.exceptions(statemachine.KindDuplicateMessageID)
		require.Zero(t, open)
	})
	t.Run("a row of the inbox, and what it asked a person", func(t *testing.T) {
		l := play(t, life+"retention inbox=8,7,3")
		require.Empty(t, l.mem.Inbox)
		require.Equal(t, "retention", l.mem.Exceptions["x8"].Resolution.Action)
		require.Equal(t, uint64(7), l.last().Record)
		l.play("accepted M2\nsent M2\nsubmit_resp M2 id=9")
		require.Equal(t, statemachine.Submitted, l.message("M2").State)
	})
	t.Run("an exception, and the message does not show it any more", func(t *testing.T) {
		l := play(t, life+"retention exceptions=x6,x99")
		require.NotContains(t, l.mem.Exceptions, "x6")
		require.Empty(t, l.message("M1").Exceptions)
		require.Equal(t, []string{"x6"}, l.effects[len(l.effects)-1].Drop.Exceptions)
	})
	t.Run("records: what is held and cannot be read again stays held", func(t *testing.T) {
		l := play(t, "rules alpha\naccepted M2\nsent M2\naccepted M1\nsent M1\nsubmit_resp M1 id=7\n"+`
			reception text="id:9 stat:DELIVRD"
			reception text="id:9 stat:DELIVRD"
			retention log=8
			submit_resp M2 id=9`)
		require.Equal(t, statemachine.Delivered, l.message("M2").State, "by the second reception of the row")
		row := l.mem.Inbox[l.row("7")]
		require.NotNil(t, row)
		require.Equal(t, []uint64{7}, row.Receptions)
		_, err := l.mem.Record(7)
		require.ErrorIs(t, err, statemachine.ErrGone)
		_, err = l.mem.Decision(statemachine.DecisionPos{Seq: 7})
		require.ErrorIs(t, err, statemachine.ErrGone)
	})
	t.Run("records: parts that share an id share what can be read again", func(t *testing.T) {
		l := play(t, `rules alpha
			accepted M1 parts=2
			sent M1/1
			sent M1/2
			submit_resp M1/1 id=7
			reception text="id:7 stat:DELIVRD"
			retention log=7
			submit_resp M1/2 id=7`)
		require.Equal(t, statemachine.Submitted, l.message("M1").Parts[1].State)
	})
	t.Run("nothing of it is there", func(t *testing.T) {
		l := play(t, "rules alpha\nretention exceptions=x6 inbox=5 close=M1")
		require.NotEmpty(t, l.effects[1].NoEffect)
	})
}

// TestRetention_randomHistories: whatever happened before and happens after, nothing that was dropped is
// needed, and nothing waits for it.
func TestRetention_randomHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, rt)
		for range rapid.IntRange(10, 60).Draw(rt, "records") {
			if !chance(rt, "drop", 6) {
				w.add(w.line())
				continue
			}
			before := pick(rt, "before", messages)
			close := "retention close=M0"
			for _, id := range messages {
				if id < before {
					close += "," + id
				}
			}
			w.add(close)
			w.add("retention messages=" + before)
			if chance(rt, "log", 2) {
				w.add(fmt.Sprintf("retention log=%d", rapid.IntRange(1, len(w.effects)).Draw(rt, "seq")))
			}
			requireNoTrace(rt, w, statemachine.ID(before))
		}
		requireReplays(rt, w)
	})
}

func requireNoTrace(rt *rapid.T, w *world, before statemachine.ID) {
	for entry := range w.mem.Queue {
		require.GreaterOrEqual(rt, entry.Message, before)
	}
	for window := range w.mem.Windows {
		require.GreaterOrEqual(rt, window.Ref.Message, before)
	}
	for _, account := range []string{"one", "gamma"} {
		for _, dest := range dests {
			refs, err := w.mem.Unanswered(account, dest)
			require.NoError(rt, err)
			require.False(rt, slices.ContainsFunc(refs, func(r statemachine.AttemptRef) bool { return r.Message < before }))
		}
	}
}
