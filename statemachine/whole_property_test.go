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

// whole draws histories of all kinds of records there are, and holds what a Memory has against what follows from
// its messages and from all decisions.
type whole struct {
	*world
	stale   bool            // rules changed, and not all was brought up to them since
	dropped statemachine.ID // messages with lesser ids are no more
	gone    map[statemachine.TallyKey]statemachine.Tally
	begins  uint64
	pending []string        // lines that come next
	lost    map[string]bool // exceptions that retention dropped
}

// next draws a record of any kind.
func (w *whole) next() {
	line := ""
	switch rapid.IntRange(0, 15).Draw(w.rt, "whole") {
	case 0:
		if len(w.pending) > 0 {
			break
		}
		line = w.dropping()
	case 1:
		line = pick(w.rt, "other", []string{"session", "restored b1", "restored b1 done"})
	default:
		if len(w.pending) == 0 {
			line = w.withPersons()
		}
	}
	if len(w.pending) > 0 {
		line, w.pending = w.pending[0], w.pending[1:]
	}
	name, rest, _ := strings.Cut(line, " ")
	if name == "accepted" && statemachine.ID(rest[:2]) < w.dropped || strings.Contains(line, " ref=") && !w.refers(line) {
		line = "session" // ids are never given again, nor does a receipt refer to what was not sent yet
	}
	w.add(line)
	w.follow()
}

// refers reports whether the reference of a receipt is to a part that was sent.
func (w *whole) refers(line string) bool {
	_, ref, _ := strings.Cut(line, " ref=")
	ref, _, _ = strings.Cut(ref, " ")
	if !strings.Contains(ref, "/") {
		ref += "/1"
	}
	return w.made(ref) > 0
}

// dropping draws what retention drops. Messages are closed before.
func (w *whole) dropping() string {
	switch rapid.IntRange(0, 3).Draw(w.rt, "dropping") {
	case 0:
		if chance(w.rt, "few", 4) {
			id := pick(w.rt, "before", messages[1:3])
			for _, m := range slices.Sorted(maps.Keys(w.mem.Messages)) {
				if m < statemachine.ID(id) {
					w.pending = append(w.pending, "retention close="+string(m))
				}
			}
			w.pending = append(w.pending, "retention messages="+id)
			return ""
		}
	case 1:
		return fmt.Sprintf("retention log=%d", len(w.records)/3)
	}
	return w.retained()
}

// follow takes from the last record what cannot be told from the messages afterwards.
func (w *whole) follow() {
	rec := w.records[len(w.records)-1]
	switch f := rec.Fact.(type) {
	case *statemachine.Rules:
		w.stale = true
	case *statemachine.Operator:
		if f.Reprocess != nil && f.Reprocess.Progress.Finished {
			w.stale = w.begins != 0 // what is gone is not judged under other rules
		}
	case *statemachine.Retention:
		w.begins = max(w.begins, f.Log)
		for _, id := range f.Exceptions {
			w.lost[id] = true
		}
		w.dropped = max(w.dropped, f.Messages)
	}
}

// TestFold_wholeHistories: whatever records of all kinds come, every reception ends in one place, what is counted,
// queued, indexed and open follows from the messages, and nothing is matched but by an id or a reference.
func TestFold_wholeHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &whole{
			world: newWorld(t, rt), gone: map[statemachine.TallyKey]statemachine.Tally{},
			lost: map[string]bool{},
		}
		for _, id := range messages[:2] {
			w.add(w.accept(id))
		}
		for range rapid.IntRange(10, 60).Draw(rt, "records") {
			before := maps.Clone(w.mem.Messages)
			w.next()
			for id, m := range before {
				is, kept := w.mem.Messages[id]
				switch {
				case !kept:
					key := statemachine.TallyKey{Hour: m.Hour(), SMSC: m.SMSC}
					w.gone[key] = w.gone[key].Add(m.Tally())
					require.False(rt, m.Loose(), "a message was dropped that something waits for")
				case !unlocks(w.records[len(w.records)-1]):
					requireAbsorbed(rt, m, is)
				}
			}
			w.requireExceptions()
			w.requireRows()
			w.requireTallies()
			w.requireCounts()
			w.requireMatches()
			if !w.stale {
				w.requireIndex()
				w.requireNothingOverlooked()
			}
		}
	})
}

// requireExceptions: one is open of a kind and group, a message lists its open ones, and what is open about a row
// is about one that waits for that.
func (w *whole) requireExceptions() {
	rt := w.rt
	open := map[string]string{}
	listed, may := map[statemachine.ID][]string{}, map[statemachine.ID][]string{}
	for _, id := range slices.Sorted(maps.Keys(w.mem.Exceptions)) {
		x := w.mem.Exceptions[id]
		require.Equal(rt, id, x.ID)
		require.Equal(rt, x.Status == statemachine.StatusOpen, x.Resolution == nil, id)
		if x.Status != statemachine.StatusOpen {
			continue
		}
		key := string(x.Kind) + "\x00" + x.Group
		require.Empty(rt, open[key], "%s and %s are open about the same", open[key], id)
		open[key] = id
		if x.Message != "" && x.Message >= w.dropped {
			listed[x.Message] = append(listed[x.Message], id)
		}
		may[x.Message] = append(may[x.Message], id)
		for _, ref := range x.Candidates {
			if x.Kind == statemachine.KindDuplicateMessageID {
				may[ref.Message] = append(may[ref.Message], id)
			}
		}
		require.NotZero(rt, x.Count, id)
		if ofRow(x) {
			row := w.mem.Inbox[statemachine.InboxKey(x.Group)]
			require.NotNil(rt, row, "%s is open about a row that is no more", id)
			require.Empty(rt, row.Dismissed, "%s is open about a row that was dismissed", id)
			require.Equal(rt, string(row.Why), string(x.Kind))
		}
	}
	for _, m := range w.mem.Messages {
		require.Subset(rt, m.Exceptions, listed[m.ID], "%s does not list what is open about it", m.ID)
		require.Subset(rt, may[m.ID], m.Exceptions, "%s lists what is not open about it", m.ID)
	}
}

func ofRow(x *statemachine.Exception) bool {
	return x.Kind == statemachine.KindUnmatched || x.Kind == statemachine.KindAmbiguous ||
		x.Kind == statemachine.KindAddressMismatch && x.Group != x.Account
}

// requireRows: a row is held for something that is open, or was dismissed, and each of its receptions only there.
func (w *whole) requireRows() {
	rt := w.rt
	standing := map[uint64]statemachine.Decision{}
	for i := range w.effects {
		for _, d := range w.effects[i].Decisions {
			if d.Correlation != "" && d.By != statemachine.ByRequest {
				standing[d.Record] = d
			}
		}
	}
	held := map[uint64]int{}
	for key, row := range w.mem.Inbox {
		require.Equal(rt, key, row.Key)
		require.NotEmpty(rt, row.Receptions)
		for _, seq := range row.Receptions {
			held[seq]++
		}
		open := ""
		for id, x := range w.mem.Exceptions {
			if ofRow(x) && x.Group == string(key) && x.Status == statemachine.StatusOpen {
				open = id
			}
		}
		if row.Dismissed != "" {
			x := w.mem.Exceptions[row.Dismissed]
			require.True(rt, w.lost[row.Dismissed] || x != nil && x.Status == statemachine.StatusDismissed && x.Group == string(key), "dismissed by nobody")
			require.Empty(rt, open)
		} else if row.Why != statemachine.Unmatched {
			require.True(rt, open != "" || len(w.lost) > 0, "a row is %s, and nothing is open about it", row.Why)
		}
	}
	for _, rec := range w.records {
		if rec.Fact.Type() != statemachine.TypeReception {
			continue
		}
		d, ok := standing[rec.Seq]
		require.True(rt, ok, "no decision about reception %d", rec.Seq)
		want := 1
		switch d.Correlation {
		case statemachine.Matched, statemachine.NotAReceipt, statemachine.Undecodable:
			want = 0
		default:
			if w.records[d.Pos.Seq-1].Fact.Type() == statemachine.TypeRetention {
				want = 0
			}
		}
		require.Equal(rt, want, held[rec.Seq], "reception %d is %s and in %d rows", rec.Seq, d.Correlation, held[rec.Seq])
	}
}

// requireTallies: what is counted and queued, and who waits, follows from the messages.
func (w *whole) requireTallies() {
	rt := w.rt
	tallies, queue := maps.Clone(w.gone), map[statemachine.QueueEntry]bool{}
	windows := map[statemachine.WindowChange]bool{}
	unanswered := map[string]int{}
	for _, m := range w.mem.Messages {
		key := statemachine.TallyKey{Hour: m.Hour(), SMSC: m.SMSC}
		tallies[key] = tallies[key].Add(m.Tally())
		for i := range m.Parts {
			p := &m.Parts[i]
			if p.Queued() {
				queue[statemachine.QueueEntry{SMSC: m.SMSC, Priority: m.Priority, NotBefore: p.NotBefore, Seq: p.QueuedSeq, Message: m.ID, Part: p.Number}] = true
			}
			for _, a := range p.Attempts {
				if a.Outcome == statemachine.Unanswered {
					unanswered[m.Account+" "+m.To]++
				}
			}
			doubt := p.State == statemachine.InDoubt
			if doubt || !p.Closed() && (p.State == statemachine.Submitted || p.State.Reported()) {
				windows[statemachine.WindowChange{SMSC: m.SMSC, At: p.WindowEnd, Doubt: doubt, Ref: statemachine.AttemptRef{Message: m.ID, Part: p.Number}}] = true
			}
			requireFailedOnly(rt, p)
		}
	}
	require.Equal(rt, tallies, w.mem.Tallies)
	require.Equal(rt, queue, w.mem.Queue)
	require.Equal(rt, windows, w.mem.Windows)
	for _, account := range []string{"one", "gamma"} {
		for _, dest := range dests {
			refs, _ := w.mem.Unanswered(account, dest)
			require.Len(rt, refs, unanswered[account+" "+dest])
		}
	}
}

// requireCounts: a message counts the receptions that are its own, each once, for what it was judged as.
func (w *whole) requireCounts() {
	rt := w.rt
	type about struct {
		message statemachine.ID
		record  uint64
	}
	verdicts := map[about]map[int]statemachine.Verdict{}
	for i := range w.effects {
		for _, d := range w.effects[i].Decisions {
			if d.Message == "" || d.Verdict == "" || w.records[d.Record-1].Fact.Type() != statemachine.TypeReception {
				continue
			}
			if o, ok := w.records[i].Fact.(*statemachine.Operator); ok && o.Action == statemachine.ActionTake && d.By == statemachine.ByOperator {
				continue // what it counted for stays counted
			}
			key := about{d.Message, d.Record}
			if verdicts[key] == nil {
				verdicts[key] = map[int]statemachine.Verdict{}
			}
			if verdicts[key][d.Part] = d.Verdict; d.Verdict == statemachine.VerdictHeld {
				delete(verdicts[key], d.Part)
			}
		}
	}
	receipts, least, most := map[statemachine.ID]int{}, map[string]int{}, map[string]int{}
	for key, parts := range verdicts {
		if len(parts) == 0 {
			continue
		}
		receipts[key.message]++
		kinds := map[statemachine.Verdict]bool{}
		for _, v := range parts {
			kinds[v] = true
		}
		for v := range kinds {
			name := fmt.Sprint(key.message, v)
			if most[name]++; len(kinds) == 1 {
				least[name]++
			}
		}
	}
	for id, m := range w.mem.Messages {
		c := m.Counts
		require.EqualValues(rt, receipts[id], c.Receipts, "%s counts other receptions than are its own", id)
		for v, n := range map[statemachine.Verdict]uint32{
			statemachine.VerdictDuplicate: c.Duplicate, statemachine.VerdictRepeat: c.Repeat, statemachine.VerdictLate: c.Late,
			statemachine.VerdictStale: c.Stale, statemachine.VerdictUnordered: c.Unordered, statemachine.VerdictNoted: c.Noted,
			statemachine.VerdictConflict: c.Conflict,
		} {
			name := fmt.Sprint(id, v)
			require.True(rt, least[name] <= int(n) && int(n) <= most[name], "%s counts %d as %s, and %d to %d are", id, n, v, least[name], most[name])
		}
	}
}

// requireMatches: what the last record matched, an id or a reference of ours matched, within the account.
func (w *whole) requireMatches() {
	rt := w.rt
	last := w.records[len(w.records)-1]
	o, person := last.Fact.(*statemachine.Operator)
	for _, d := range w.effects[len(w.effects)-1].Decisions {
		if d.Correlation != statemachine.Matched || person && (o.Action == statemachine.ActionUndo || o.Action == statemachine.ActionTake) {
			continue
		}
		if d.By == statemachine.ByRequest || d.By == statemachine.ByOperator {
			continue
		}
		m := w.mem.Messages[d.Message]
		r := w.records[d.Record-1].Fact.(*statemachine.Reception)
		require.Equal(rt, m.Account, r.Account)
		a := parseArgs(nil, string(r.PDU))
		if d.By == statemachine.ByClientRef {
			require.Equal(rt, string(m.ID), a.value["ref"][:2])
			continue
		}
		require.Contains(rt, []string{a.value["tlv"], strings.Fields(strings.TrimPrefix(a.value["text"], "id:") + " ")[0]}, d.ExternalID)
		if w.stale {
			continue
		}
		found := false
		rules := w.rulesOf(r.SMSC)
		for _, form := range rules.Receipt.ReceiptKeys(d.ExternalID, d.By == statemachine.ByTLVID) {
			for _, entry := range m.Reindex(w.rulesOf(m.SMSC)) {
				found = found || entry.Key == form.Key && entry.Ref.Part == d.Part
			}
		}
		require.True(rt, found, "%s was matched by an id that it was not given", m.ID)
	}
}

func (w *whole) rulesOf(smsc string) *statemachine.SMSCRules {
	_, rules := w.mem.Rules()
	for i := range rules.SMSCs {
		if rules.SMSCs[i].SMSC == smsc {
			return &rules.SMSCs[i]
		}
	}
	return nil
}

// requireIndex: each attempt is found by its id, and by no other.
func (w *whole) requireIndex() {
	rt := w.rt
	want := map[string][]statemachine.AttemptRef{}
	for _, m := range w.mem.Messages {
		for _, entry := range m.Reindex(w.rulesOf(m.SMSC)) {
			key := entry.Account + " " + string(entry.Key)
			want[key] = append(want[key], entry.Ref)
		}
	}
	var keys []receipt.Key
	_, rules := w.mem.Rules()
	for i := range rules.SMSCs {
		for _, id := range ids {
			keys = append(keys, rules.SMSCs[i].Receipt.ResponseKeys(id)...)
			for _, form := range rules.SMSCs[i].Receipt.ReceiptKeys(id, true) {
				keys = append(keys, form.Key)
			}
		}
	}
	referred := map[statemachine.ID]bool{} // a receipt that names our reference may have two ids
	for i := range w.effects {
		for _, d := range w.effects[i].Decisions {
			referred[d.Message] = referred[d.Message] || d.By == statemachine.ByClientRef
		}
	}
	changed := 0
	for _, rec := range w.records {
		if rec.Fact.Type() == statemachine.TypeRules {
			changed++
		}
	}
	for _, account := range []string{"one", "gamma"} {
		for _, key := range keys {
			refs, _ := w.mem.Attempts(account, key)
			refs = slices.DeleteFunc(slices.Clone(refs), func(ref statemachine.AttemptRef) bool { return ref.Message < w.dropped })
			expected := want[account+" "+string(key)]
			require.Subset(rt, refs, expected, "%s %q", account, key)
			if changed == 1 {
				refs = slices.DeleteFunc(refs, func(ref statemachine.AttemptRef) bool { return referred[ref.Message] })
				require.Subset(rt, expected, refs, "%s %q", account, key)
			}
		}
	}
}

// requireNothingOverlooked: what waits would not be matched if it were looked at again.
func (w *whole) requireNothingOverlooked() {
	if w.dropped != "" {
		return // what fitted several messages may fit one now
	}
	var eff statemachine.Effects
	for _, key := range slices.Sorted(maps.Keys(w.mem.Inbox)) {
		err := w.mem.Fold.Step(w.mem, statemachine.Record{
			Seq: uint64(len(w.records)) + 1, At: w.now, Fact: &statemachine.Retry{Row: key},
		}, &eff)
		require.NoError(w.rt, err)
		for _, d := range eff.Decisions {
			require.NotEqual(w.rt, statemachine.Matched, d.Correlation, "reception %d has an owner and was not given to it", d.Record)
		}
	}
}
