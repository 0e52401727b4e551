package statemachine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestOperator_undoFoldsWithout: a decision that is taken back after more was heard leaves what there would be
// without it. What a receipt that goes back into the inbox finds there at once is judged last: no answer gives its id.
func TestOperator_undoFoldsWithout(t *testing.T) {
	decisions := []struct{ life, action string }{
		{lifeConflict, "take exception=x6"},
		{lifeConflict, "dismiss exception=x6"},
		{lifeInDoubt, "accepted exception=x4 id=7"},
		{lifeInDoubt, "not_sent exception=x4"},
		{lifeInDoubt, "dismiss exception=x4"},
		{lifeNoID, "accepted exception=x4 id=7"},
		{lifeNoID, "dismiss exception=x4"},
		{lifeTwoFit, "assign exception=x8 to=M1"},
		{lifeTwoFit, "dismiss exception=x8"},
		{lifeMismatch, "assign exception=x5 to=M1"},
		{lifeNobodys, "assign exception=x6 to=M1"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.SampledFrom(decisions).Draw(rt, "decision")
		var later []string
		sent := 1
		for range rapid.IntRange(0, 8).Draw(rt, "later") {
			line := heardLater(rt, &sent)
			if strings.HasPrefix(line, "sent") && (d.life != lifeInDoubt || movesReceipts(d.action)) {
				continue // receipts for closed parts would wait for the answer, and be judged in another order
			}
			later = append(later, line)
		}
		fold := func(action, undo string) *world {
			w := newWorldOf(t, rt, d.life)
			w.play(action)
			for _, line := range later {
				w.play(line)
			}
			w.play(undo)
			return w
		}
		with := fold("operator "+d.action, "operator undo "+exceptionOf(d.action))
		if why := with.effects[len(with.effects)-1].NoEffect; why != "" {
			rt.Skip(why) // the row has another owner by now, or nothing is left to decide
		}
		without := fold("operator dismiss", "operator dismiss")
		requireConsistent(rt, with.lab)
		require.Equal(rt, without.afterPass(), with.afterPass())
	})
}

// movesReceipts reports whether the action gives receipts to a message.
func movesReceipts(action string) bool {
	return strings.HasPrefix(action, "assign") || strings.HasPrefix(action, "accepted")
}

func exceptionOf(action string) string {
	var name, exception string
	_, _ = fmt.Sscan(action, &name, &exception)
	return exception
}

// heardLater draws a record about M1 that persons do not decide.
func heardLater(rt *rapid.T, sent *int) string {
	switch rapid.IntRange(0, 7).Draw(rt, "what") {
	case 0:
		*sent++
		return fmt.Sprintf("sent M1/1/%d", *sent)
	case 1:
		return fmt.Sprintf("submit_resp M1/1/%d %s", rapid.IntRange(1, *sent).Draw(rt, "attempt"),
			pick(rt, "answer", []string{"id=9", "id=10", "status=0x0B", "status=0x58 temporary"}))
	case 2:
		return fmt.Sprintf("in_doubt M1/1/%d", *sent)
	case 3:
		return fmt.Sprintf("query_resp M1/1/1 state=%d", rapid.IntRange(0, 9).Draw(rt, "state"))
	}
	return fmt.Sprintf(`reception src=%s text="id:%s done date:%s stat:%s err:000"`, pick(rt, "src", []string{"393331234567", "393331234567", "447700900123"}),
		pick(rt, "id", []string{"7", "7", "8"}), pick(rt, "date", dates), pick(rt, "stat", stats))
}
