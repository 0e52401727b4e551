package statemachine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
)

// TestOperator_reprocessPages: in whatever pages a pass comes, the end is the same.
func TestOperator_reprocessPages(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var script []string
		add := func(format string, a ...any) { script = append(script, fmt.Sprintf(format, a...)) }
		add("rules alpha%s", pick(rt, "rules before", []string{"", " client_ref", " state=tlv"}))
		messages := rapid.IntRange(1, 4).Draw(rt, "messages")
		for i := range messages {
			add("accepted M%d parts=%d asks=%s", i+1, rapid.IntRange(1, 2).Draw(rt, "parts"), pick(rt, "asks", asks))
			add("sent M%d", i+1)
			add(pick(rt, "outcome", []string{"submit_resp M%d id=1%[1]d", "submit_resp M%d id=1%[1]d", "submit_resp M%d id=A%[1]d", "in_doubt M%d"}), i+1)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "receipts") {
			m := rapid.IntRange(1, messages).Draw(rt, "of")
			line := "reception"
			if chance(rt, "state", 4) {
				line += fmt.Sprintf(" state=%d", rapid.IntRange(1, 9).Draw(rt, "state"))
			}
			if chance(rt, "stranger", 4) {
				line += " src=447700900123"
			}
			id := pick(rt, "id", []string{"1%d", "a%d", "A%d"})
			switch {
			case chance(rt, "hex", 3):
				id = fmt.Sprint(0xA0 + m) // what hex_to_dec makes of A1, A2 …
			default:
				id = fmt.Sprintf(id, m)
			}
			add(`%s ref=M%d text="id:%s done date:%s stat:%s err:000"`, line, m, id, pick(rt, "date", dates), pick(rt, "stat", stats))
		}
		add("rules alpha%s", pick(rt, "rules after", []string{
			" states=ODD:REJECTED", " ids=hex_to_dec", " ids=fold_case", " address_check=off", " state=text", " state=text states=ODD:DELIVERED",
		}))
		before := strings.Join(script, "\n")
		one := newWorldOf(t, rt, before)
		one.play("operator reprocess by=esmed")
		several := newWorldOf(t, rt, before)
		several.pages(rapid.Permutation(several.pageOfEach()).Draw(rt, "order"))
		require.Equal(rt, one.afterPass(), several.afterPass())
		requireConsistent(rt, several.lab)
	})
}

func newWorldOf(t *testing.T, rt *rapid.T, script string) *world {
	return &world{lab: play(t, script), rt: rt}
}

// pageOfEach names all rows and messages that there are.
func (w *world) pageOfEach() []string {
	var each []string
	for _, key := range slices.Sorted(maps.Keys(w.mem.Inbox)) {
		each = append(each, fmt.Sprintf("rows=%d", w.mem.Inbox[key].Receptions[0]))
	}
	for _, id := range slices.Sorted(maps.Keys(w.mem.Messages)) {
		each = append(each, "messages="+string(id))
	}
	return each
}

// pages makes a page of each, rows first.
func (w *world) pages(each []string) {
	slices.SortStableFunc(each, func(a, b string) int {
		return strings.Compare(b[:1], a[:1]) // r before m
	})
	for _, one := range each {
		w.play("operator reprocess by=esmed " + one)
	}
}

// afterPass prints what a pass led to, but for when.
func (w *world) afterPass() string {
	for id, m := range w.mem.Messages {
		own := *m
		if !own.FinalisedAt.IsZero() {
			own.FinalisedAt = began
		}
		w.mem.Messages[id] = &own
	}
	return w.standing()
}

// TestOperator_reprocessRow: a row is kept under what today's rules make of its receipts, and under nothing else.
func TestOperator_reprocessRow(t *testing.T) {
	keys := func(l *lab) [][]receipt.Key {
		var all [][]receipt.Key
		for _, key := range slices.Sorted(maps.Keys(l.mem.Inbox)) {
			all = append(all, l.mem.Inbox[key].Keys)
		}
		return all
	}
	const waits = "rules alpha ids=fold_case\nreception text=\"id:00AB stat:DELIVRD\""
	l := play(t, waits)
	require.Len(t, keys(l)[0], 2, "as received and folded")
	l.play("rules alpha ids=strip_zeros\noperator reprocess by=esmed")
	fresh := play(t, "rules alpha ids=strip_zeros\nreception text=\"id:00AB stat:DELIVRD\"")
	require.Equal(t, keys(fresh), keys(l))

	t.Run("rows that read the same by now become one", func(t *testing.T) {
		l := play(t, "rules alpha\nreception tlv=7 text=\"id:8 stat:DELIVRD\"\nreception tlv=7 text=\"id:8 stat:DELIVRD err:001\"")
		require.Len(t, l.mem.Inbox, 1)
		l.play("rules alpha text=ignore tlv=ignore\noperator reprocess by=esmed")
		require.Len(t, l.mem.Inbox, 1, "without an id they are told apart by nothing but their first one")
	})
	t.Run("a row that is no evidence any more leaves", func(t *testing.T) {
		l := play(t, "rules alpha detect=text\nreception class=0 text=\"id:7 stat:DELIVRD\"\nrules alpha\noperator reprocess by=esmed")
		require.Empty(t, l.mem.Inbox)
		require.Equal(t, statemachine.NotAReceipt, l.last().Correlation)
	})
	t.Run("a dismissed row stays so under its new key", func(t *testing.T) {
		l := play(t, waits+"\noperator dismiss row=2\nrules alpha ids=strip_zeros\noperator reprocess by=esmed")
		for _, row := range l.mem.Inbox {
			require.Equal(t, "x3", row.Dismissed)
		}
	})
	t.Run("nothing changes under the same rules", func(t *testing.T) {
		l := play(t, waits+"\noperator reprocess by=esmed")
		last := l.effects[len(l.effects)-1]
		require.NotNil(t, last.Reprocess)
		last.Reprocess = nil
		require.Equal(t, statemachine.Effects{}, last)
	})
}

// TestOperator_reprocessProgress: how far a pass came is kept as its page says.
func TestOperator_reprocessProgress(t *testing.T) {
	l := play(t, "rules alpha\naccepted M1\noperator reprocess by=esmed")
	require.Equal(t, statemachine.ReprocessProgress{Rules: 1, Rows: true, Finished: true}, l.mem.Reprocess)
}
