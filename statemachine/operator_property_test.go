package statemachine_test

import (
	"cmp"
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

var actions = []statemachine.Action{
	statemachine.ActionAssign, statemachine.ActionDismiss, statemachine.ActionResend, statemachine.ActionAccepted,
	statemachine.ActionNotSent, statemachine.ActionTake,
}

// decided draws what a person decides: mostly what the kind of the exception asks for. "" when there is nothing
// to decide about.
func (w *world) decided() string {
	rt := w.rt
	if rows := w.undismissed(); len(rows) > 0 && chance(rt, "of row", 3) {
		key := rapid.SampledFrom(rows).Draw(rt, "row")
		action := pick(rt, "row action", []string{"assign", "assign", "dismiss"})
		return fmt.Sprintf("operator %s row=%d to=%s", action, w.mem.Inbox[key].Receptions[0], w.target())
	}
	var open []string
	for _, id := range slices.Sorted(maps.Keys(w.mem.Exceptions)) {
		if w.mem.Exceptions[id].Status == statemachine.StatusOpen {
			open = append(open, id)
		}
	}
	if len(open) == 0 {
		return ""
	}
	x := w.mem.Exceptions[pick(rt, "exception", open)]
	of := fitting(x.Kind)
	if chance(rt, "any action", 10) {
		of = actions
	}
	action := rapid.SampledFrom(of).Draw(rt, "action")
	return fmt.Sprintf("operator %s exception=%s to=%s id=%s reason=because", action, x.ID, w.target(), pick(rt, "id", ids))
}

func (w *world) undismissed() []statemachine.InboxKey {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w.mem.Inbox)), func(key statemachine.InboxKey) bool {
		return w.mem.Inbox[key].Dismissed != ""
	})
}

// fitting are the actions that an exception of the kind may end by.
func fitting(kind statemachine.ExceptionKind) []statemachine.Action {
	switch kind {
	case statemachine.KindInDoubt:
		return []statemachine.Action{statemachine.ActionResend, statemachine.ActionAccepted, statemachine.ActionNotSent, statemachine.ActionDismiss}
	case statemachine.KindNoMessageID:
		return []statemachine.Action{statemachine.ActionAccepted, statemachine.ActionDismiss}
	case statemachine.KindConflict:
		return []statemachine.Action{statemachine.ActionTake, statemachine.ActionTake, statemachine.ActionDismiss}
	case statemachine.KindAmbiguous, statemachine.KindAddressMismatch, statemachine.KindUnmatched:
		return []statemachine.Action{statemachine.ActionAssign, statemachine.ActionAssign, statemachine.ActionDismiss}
	}
	return []statemachine.Action{statemachine.ActionDismiss}
}

// target draws the owner of a row: a message that was sent, or any.
func (w *world) target() string {
	id := pick(w.rt, "target", messages)
	m := w.mem.Messages[statemachine.ID(id)]
	if m == nil || len(m.Parts) == 1 && chance(w.rt, "only part", 2) {
		return id
	}
	return fmt.Sprintf("%s/%d", id, rapid.IntRange(1, len(m.Parts)).Draw(w.rt, "target part"))
}

// undone draws what a person takes back; "" when nothing was decided.
func (w *world) undone() string {
	var ended []string
	for _, id := range slices.Sorted(maps.Keys(w.mem.Exceptions)) {
		if w.mem.Exceptions[id].Status != statemachine.StatusOpen {
			ended = append(ended, id)
		}
	}
	if len(ended) == 0 {
		return ""
	}
	return "operator undo exception=" + pick(w.rt, "undone", ended)
}

// reprocessed draws a page.
func (w *world) reprocessed() string {
	if chance(w.rt, "all", 2) {
		return "operator reprocess by=esmed"
	}
	line := "operator reprocess messages=" + pick(w.rt, "message", messages)
	for _, key := range slices.Sorted(maps.Keys(w.mem.Inbox)) {
		return line + fmt.Sprintf(" rows=%d", w.mem.Inbox[key].Receptions[0])
	}
	return line
}

// worldRulesNow draws other rules for the same SMSCs.
func (w *world) worldRulesNow() string {
	return strings.Replace(worldRules, "alpha", "alpha"+pick(w.rt, "rules", []string{
		"", " states=ODD:REJECTED", " state=tlv", " ids=fold_case", " ids=hex_to_dec", " address_check=off", " unknown=final",
	}), 1)
}

// withPersons draws the next record: what a person does, or anything else.
func (w *world) withPersons() string {
	line := ""
	switch rapid.IntRange(0, 11).Draw(w.rt, "person") {
	case 0, 1:
		line = w.decided()
	case 2:
		if line = w.undone(); chance(w.rt, "dismissed row", 3) {
			for _, key := range slices.Sorted(maps.Keys(w.mem.Inbox)) {
				line = fmt.Sprintf("operator assign row=%d to=%s", w.mem.Inbox[key].Receptions[0], w.target())
			}
		}
	case 3:
		line = w.reprocessed()
	case 4:
		if chance(w.rt, "new rules", 2) {
			line = w.worldRulesNow()
			break
		}
		part := w.part()
		line = fmt.Sprintf("in_doubt %s/%d smsc=%s cause=restored", part, w.made(part)+rapid.IntRange(0, 1).Draw(w.rt, "next"), w.smscOf(part))
	}
	if line == "" {
		return w.line()
	}
	return line
}

// unlocks reports whether the record may move what is final: only a person's decision does.
func unlocks(rec statemachine.Record) bool {
	o, ok := rec.Fact.(*statemachine.Operator)
	return ok && (o.Action == statemachine.ActionTake || o.Action == statemachine.ActionUndo)
}

// TestFold_randomDecisions: whatever persons decide and take back between all else, what a Memory holds tells one
// story, and only take and undo move what is final.
func TestFold_randomDecisions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, rt)
		for _, id := range messages[:2] {
			w.add(w.accept(id))
		}
		for range rapid.IntRange(10, 60).Draw(rt, "records") {
			before := maps.Clone(w.mem.Messages)
			printed := w.printed()
			w.add(w.withPersons())
			rec := w.mem.Records[uint64(len(w.effects))]
			for id, m := range before {
				require.Equal(rt, printed[id], fmt.Sprintf("%+v", *m), "a step modified a value it was given")
				if !unlocks(rec) {
					requireAbsorbed(rt, m, w.mem.Messages[id])
				}
			}
			requireConsistent(rt, w.lab)
		}
		for _, m := range w.mem.Messages {
			requireChain(rt, w.lab, m)
		}
		requireReplays(rt, w)
	})
}

func (w *world) printed() map[statemachine.ID]string {
	printed := map[statemachine.ID]string{}
	for id, m := range w.mem.Messages {
		printed[id] = fmt.Sprintf("%+v", *m)
	}
	return printed
}

// TestOperator_undoRestores: an action that is taken back at once leaves all as it was, but for history.
func TestOperator_undoRestores(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, rt)
		for _, id := range messages[:2] {
			w.add(w.accept(id))
		}
		for range rapid.IntRange(10, 50).Draw(rt, "records") {
			w.add(w.withPersons())
		}
		for range 3 {
			w.add("operator reprocess by=esmed") // nothing is to change but by what is taken back
			line := w.decided()
			if line == "" || len(w.undismissed()) < len(w.mem.Inbox) {
				continue // a dismissed row that found an owner and lost it again is one to decide about
			}
			before := w.standing()
			if eff := w.add(line); eff.NoEffect != "" {
				continue
			}
			seq := uint64(len(w.effects))
			for _, id := range slices.Sorted(maps.Keys(w.mem.Exceptions)) {
				if r := w.mem.Exceptions[id].Resolution; r != nil && r.Seq == seq && slices.Contains(actions, statemachine.Action(r.Action)) {
					require.Empty(rt, w.add("operator undo exception="+id).NoEffect)
				}
			}
			require.Equal(rt, before, w.standing())
			requireConsistent(rt, w.lab)
		}
	})
}

// standing prints all that follows from the records but history: what each message is and by which records, who
// is found by what, what waits, what is open, and what is counted.
func (w *world) standing() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(w.mem.Messages)) {
		m := *w.mem.Messages[id]
		m.UpdatedAt, m.LastDecision, m.Exceptions = began, statemachine.DecisionPos{}, nil
		fmt.Fprintf(&b, "%+v\n", m)
	}
	for _, account := range []string{"one", "gamma"} {
		for _, key := range w.keys() {
			refs, _ := w.mem.Attempts(account, key)
			refs = slices.SortedFunc(slices.Values(refs), func(x, y statemachine.AttemptRef) int { return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
			if len(refs) > 0 {
				fmt.Fprintf(&b, "%s %q: %v\n", account, key, refs)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.mem.Inbox)) {
		fmt.Fprintf(&b, "%+v\n", *w.mem.Inbox[key])
	}
	var open []string
	for _, id := range slices.Sorted(maps.Keys(w.mem.Exceptions)) {
		// The exception by which a row that nobody owned was decided is open afterwards, and a word that no rule maps
		// stays one.
		x := w.mem.Exceptions[id]
		if x.Status == statemachine.StatusOpen && x.Kind != statemachine.KindUnmatched && x.Kind != statemachine.KindUnmappedState {
			open = append(open, fmt.Sprintf("%s %s %v %v %d %s\n", x.Kind, x.Message, x.Records, x.Candidates, x.Count, x.Reason))
		}
	}
	slices.Sort(open)
	fmt.Fprint(&b, open)
	fmt.Fprintf(&b, "%v\n%v\n%v\n%v\nunanswered %d", w.mem.Queue, w.mem.Tallies, w.mem.Windows, w.mem.Overdue, w.unanswered())
	return b.String()
}

// keys are the forms of all ids that there are.
func (w *world) keys() []receipt.Key {
	_, rules := w.mem.Rules()
	var keys []receipt.Key
	for _, smsc := range rules.SMSCs {
		for _, id := range ids {
			keys = append(keys, smsc.Receipt.ResponseKeys(id)...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
