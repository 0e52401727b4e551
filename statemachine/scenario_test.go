package statemachine_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

var update = flag.Bool("update", false, "write what the scenarios give into them")

// TestScenarios plays the whole lives of testdata/scenarios: records in, decisions and states out. A file
// has a text that says what it shows, and the sections records, decisions, messages, inbox and exceptions; what
// waits in queues, and which of them are held, where a person decided about queues.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../testdata/scenarios/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			require.Equal(t, "records", archive.Files[0].Name)
			l := play(t, string(archive.Files[0].Data))
			got := &txtar.Archive{Comment: archive.Comment, Files: append(archive.Files[:1:1], l.outcome()...)}
			if *update {
				require.NoError(t, os.WriteFile(file, txtar.Format(got), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), string(txtar.Format(got)))
		})
	}
}

// outcome prints what the records led to, for people.
func (l *lab) outcome() []txtar.File {
	files := []txtar.File{
		{Name: "decisions", Data: l.decisions()},
		{Name: "messages", Data: l.messages()},
		{Name: "inbox", Data: l.inbox()},
		{Name: "exceptions", Data: l.openAndEnded()},
	}
	if slices.ContainsFunc(l.records, func(rec statemachine.Record) bool {
		op, ok := rec.Fact.(*statemachine.Operator)
		return ok && op.SMSC != ""
	}) {
		files = append(files, txtar.File{Name: "queues", Data: l.queues()})
	}
	return files
}

// queues prints what waits, in its order, and the holds.
func (l *lab) queues() []byte {
	var b strings.Builder
	for _, e := range slices.SortedFunc(maps.Keys(l.mem.Queue), func(x, y statemachine.QueueEntry) int {
		return cmp.Or(cmp.Compare(x.SMSC, y.SMSC), cmp.Compare(y.Priority, x.Priority), cmp.Compare(x.Seq, y.Seq), cmp.Compare(x.Part, y.Part))
	}) {
		fmt.Fprintf(&b, "%s: %s/%d since record %d\n", e.SMSC, e.Message, e.Part, e.Seq)
	}
	for _, smsc := range slices.Sorted(maps.Keys(l.mem.Holds)) {
		h := l.mem.Holds[smsc]
		fmt.Fprintf(&b, "%s: held by %s since %s, record %d", smsc, h.By, h.At.Format(time.DateTime), h.Seq)
		if h.Reason != "" {
			fmt.Fprintf(&b, " (%s)", h.Reason)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

func (l *lab) decisions() []byte {
	var b strings.Builder
	for i, eff := range l.effects {
		if eff.NoEffect != "" {
			fmt.Fprintf(&b, "%d: no effect: %s\n", i+1, eff.NoEffect)
		}
		for _, d := range eff.Decisions {
			fmt.Fprintf(&b, "%d: %s\n", i+1, decision(d))
		}
	}
	return []byte(b.String())
}

// decision prints one as: record 5 M1/1/1 matched by text_id "77" applied SUBMITTED -> DELIVERED.
func decision(d statemachine.Decision) string {
	words := []string{}
	add := func(yes bool, format string, a ...any) {
		if yes {
			words = append(words, fmt.Sprintf(format, a...))
		}
	}
	add(d.Record != d.Pos.Seq, "record %d", d.Record)
	add(d.Message != "" && d.Attempt != 0, "%s/%d/%d", d.Message, d.Part, d.Attempt)
	add(d.Message != "" && d.Attempt == 0, "%s/%d", d.Message, d.Part)
	add(d.Correlation != "", "%s", d.Correlation)
	add(d.By != "", "by %s", d.By)
	add(d.ExternalID != "", "%q", d.ExternalID)
	add(len(d.Rule) > 0, "rule %s", strings.Join(d.Rule, ","))
	add(d.Candidates > 1, "of %d", d.Candidates)
	add(d.NarrowedBy != "", "narrowed by %s", d.NarrowedBy)
	add(d.Verdict != "", "%s", d.Verdict)
	add(d.RepeatOf != 0, "repeat of %d", d.RepeatOf)
	add(d.PossibleRepeatOf != 0, "possible repeat of %d", d.PossibleRepeatOf)
	add(d.From != d.To, "%s -> %s", d.From, d.To)
	add(d.Why != "", "(%s)", d.Why)
	return strings.Join(words, " ")
}

func (l *lab) messages() []byte {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(l.mem.Messages)) {
		m := l.mem.Messages[id]
		fmt.Fprintf(&b, "%s %s", id, m.State)
		for _, flag := range []struct {
			set  bool
			name string
		}{{m.Final(), "final"}, {m.Closed() && !m.Final(), "closed"}, {m.MaybeDoubled(), "maybe_doubled"}} {
			if flag.set {
				fmt.Fprintf(&b, " %s", flag.name)
			}
		}
		fmt.Fprintf(&b, ": %s\n", m.Reason(statusName))
		c := m.Counts
		fmt.Fprintf(&b, "  receipts %d: duplicate %d repeat %d late %d stale %d unordered %d noted %d conflict %d\n",
			c.Receipts, c.Duplicate, c.Repeat, c.Late, c.Stale, c.Unordered, c.Noted, c.Conflict)
		for _, p := range m.Parts {
			if len(m.Parts) > 1 {
				fmt.Fprintf(&b, "  part %d %s\n", p.Number, p.State)
			}
		}
	}
	return []byte(b.String())
}

func (l *lab) inbox() []byte {
	var b strings.Builder
	rows := slices.SortedFunc(maps.Values(l.mem.Inbox), func(x, y *statemachine.InboxRow) int {
		return cmp.Compare(x.Receptions[0], y.Receptions[0])
	})
	for _, row := range rows {
		fmt.Fprintf(&b, "tlv_id %q text_id %q %s: %s, receptions %v", row.TLVID, row.TextID, row.RawStat, row.Why, row.Receptions)
		if len(row.WaitsFor) > 0 {
			fmt.Fprintf(&b, ", waits for the answer of a submit to %s", strings.Join(row.WaitsFor, " and one to "))
		}
		if row.Dismissed != "" {
			fmt.Fprintf(&b, ", dismissed by %s", row.Dismissed)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

func (l *lab) openAndEnded() []byte {
	var b strings.Builder
	for _, x := range slices.SortedFunc(maps.Values(l.mem.Exceptions), func(x, y *statemachine.Exception) int {
		return cmp.Compare(x.ID, y.ID)
	}) {
		fmt.Fprintf(&b, "%s %s %s", x.ID, x.Kind, x.Status)
		if x.Message != "" {
			fmt.Fprintf(&b, " %s/%d", x.Message, x.Part)
		}
		fmt.Fprintf(&b, " records %v count %d: %s", x.Records, x.Count, x.Reason)
		for _, c := range x.Candidates {
			fmt.Fprintf(&b, "; candidate %s/%d/%d", c.Message, c.Part, c.Attempt)
		}
		if r := x.Resolution; r != nil {
			fmt.Fprintf(&b, "; ended by %s of %s, record %d", r.Action, r.By, r.Seq)
			if r.Reason != "" {
				fmt.Fprintf(&b, " (%s)", r.Reason)
			}
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}
