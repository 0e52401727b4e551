package store

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"esmed/receipt"
	"esmed/statemachine"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir))
	}
	// A check makes files and fsyncs them, so that there are fewer than rapid's hundred; -rapid.checks=N has more.
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// began is when the clock of the tests begins.
var began = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func testConfig(dir string) Config {
	return Config{Dir: dir, Decode: decodePDU, TextSpans: textSpans}
}

// tb is what a *testing.T, a *testing.B and a *rapid.T have.
type tb interface {
	require.TestingT
	Helper()
}

// running is a store whose Run runs.
type running struct {
	*Store
	t    tb
	stop func() error
}

func start(t tb, cfg Config) *running {
	t.Helper()
	s, err := Open(cfg)
	require.NoError(t, err)
	return run(t, s)
}

// run runs a store that was opened.
func run(t tb, s *Store) *running {
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return s.Run(ctx) })
	return &running{s, t, func() error {
		cancel()
		return errors.Join(g.Wait(), s.Close())
	}}
}

// startIn starts a store that is checked and stopped when the test ends.
func startIn(t testing.TB, cfg Config) *running {
	r := start(t, cfg)
	t.Cleanup(func() { r.check() })
	return r
}

// check ends a store: the log folded in memory must give the projection, and verify must agree.
func (r *running) check() {
	r.t.Helper()
	agrees(r.t, r.Store)
	v, err := r.Verify(context.Background(), nil)
	require.NoError(r.t, err)
	require.Nil(r.t, v.Difference)
	require.Equal(r.t, r.end.Load(), v.Records)
	require.NoError(r.t, r.stop())
	clean(r.t, r.cfg)
}

// clean opens a store that nobody has for reading, and verifies it.
func clean(t tb, cfg Config) {
	t.Helper()
	s, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	agrees(t, s)
	v, err := s.Verify(context.Background(), nil)
	require.NoError(t, err)
	require.Nil(t, v.Difference)
	require.NoError(t, s.Close())
}

// folded folds the log in memory.
func folded(t tb, s *Store) *statemachine.Memory {
	t.Helper()
	mem := statemachine.NewMemory(statemachine.Fold{Decode: s.cfg.Decode})
	var eff statemachine.Effects
	require.NoError(t, s.entries(1, func(e entry) (bool, error) {
		return true, mem.Apply(e.Record, &eff)
	}))
	return mem
}

// agrees compares what can be read with the log folded in memory.
func agrees(t tb, s *Store) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, s.Sync(ctx))
	mem := folded(t, s)
	for id, want := range mem.Messages {
		got, err := s.Message(ctx, id)
		require.NoError(t, err)
		require.Equal(t, appendMessage(nil, want), appendMessage(nil, got), id)
	}
	agreeOnLists(t, s, mem)
	var decisions []statemachine.Decision
	for after := uint64(0); ; {
		events, err := s.Events(ctx, after, 100)
		require.NoError(t, err)
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			decisions = append(decisions, e.Decisions...)
			after = e.Record.Seq
		}
	}
	require.Equal(t, len(mem.Decisions), len(decisions))
	for i := range decisions {
		require.Equal(t, appendDecision(decisionKey(mem.Decisions[i].Pos), &mem.Decisions[i]), appendDecision(decisionKey(decisions[i].Pos), &decisions[i]))
	}
	agreeOnCounters(t, s, mem)
	agreeOnWindows(t, s, mem)
}

// pages reads a list to its end, two rows at a time.
func pages[T any](t tb, read func(after string) ([]T, string, error)) (all []T) {
	t.Helper()
	for after, more := "", true; more; more = after != "" {
		items, next, err := read(after)
		require.NoError(t, err)
		all, after = append(all, items...), next
	}
	return all
}

func agreeOnLists(t tb, s *Store, mem *statemachine.Memory) {
	t.Helper()
	ctx := context.Background()
	for _, oldest := range []bool{false, true} {
		var want, got []statemachine.ID
		for id := range mem.Messages {
			want = append(want, id)
		}
		slices.Sort(want)
		if !oldest {
			slices.Reverse(want)
		}
		for _, m := range pages(t, func(after string) ([]*statemachine.Message, string, error) {
			items, next, err := s.Messages(ctx, Filter{After: statemachine.ID(after), Limit: 2, OldestFirst: oldest})
			return items, string(next), err
		}) {
			got = append(got, m.ID)
		}
		require.Equal(t, want, got)
	}
	rows := pages(t, func(after string) ([]*statemachine.InboxRow, string, error) { return s.Inbox(ctx, "", after, 2) })
	require.Len(t, rows, len(mem.Inbox))
	for _, row := range rows {
		require.Equal(t, appendRow(nil, mem.Inbox[row.Key]), appendRow(nil, row))
	}
	var keyed []*statemachine.InboxRow
	for after := statemachine.InboxKey(""); ; {
		some, err := s.RowsAfter(ctx, after, 2)
		require.NoError(t, err)
		if len(some) == 0 {
			break
		}
		keyed, after = append(keyed, some...), some[len(some)-1].Key
	}
	require.ElementsMatch(t, rows, keyed)
	for _, want := range rows {
		row, err := s.InboxRowBySeq(ctx, want.Receptions[0])
		require.NoError(t, err)
		require.Equal(t, want, row)
	}
	for _, status := range []string{"", statemachine.StatusOpen} {
		want := 0
		for _, x := range mem.Exceptions {
			if status == "" || x.Status == status {
				want++
			}
		}
		all := pages(t, func(after string) ([]*statemachine.Exception, string, error) {
			return s.Exceptions(ctx, ExceptionFilter{Status: status, After: after, Limit: 2})
		})
		require.Len(t, all, want)
		for _, x := range all {
			require.Equal(t, appendException(nil, mem.Exceptions[x.ID]), appendException(nil, x))
		}
	}
}

func agreeOnCounters(t tb, s *Store, mem *statemachine.Memory) {
	t.Helper()
	ctx := context.Background()
	rows, err := s.Report(ctx, time.Time{}, time.Time{})
	require.NoError(t, err)
	got := make(map[statemachine.TallyKey]statemachine.Tally)
	for _, row := range rows {
		got[statemachine.TallyKey{Hour: row.Hour, SMSC: row.SMSC}] = row.Tally
	}
	require.Equal(t, mem.Tallies, got)
	stat, err := s.Stat(ctx)
	require.NoError(t, err)
	require.EqualValues(t, len(mem.Messages), stat.Messages)
	agreeOnQueues(t, s, mem)
	open := make(map[statemachine.ExceptionKind]int64)
	for _, x := range mem.Exceptions {
		if x.Status == statemachine.StatusOpen {
			open[x.Kind]++
		}
	}
	for kind, n := range stat.Open {
		require.Equal(t, open[kind], n, kind)
	}
	inbox, counted := make(map[string]int64), make(map[string]int64)
	for _, row := range mem.Inbox {
		inbox[row.SMSC]++
		if row.Dismissed == "" {
			counted[row.SMSC]++
		}
	}
	stats, err := s.InboxStats(ctx)
	require.NoError(t, err)
	for _, st := range stats {
		require.Equal(t, inbox[st.SMSC], st.Rows)
		require.Equal(t, counted[st.SMSC], st.Waiting)
		require.Equal(t, st.Waiting > 0, !st.Oldest.IsZero())
	}
}

// agreeOnQueues compares counters, pages and holds.
func agreeOnQueues(t tb, s *Store, mem *statemachine.Memory) {
	t.Helper()
	ctx := context.Background()
	want := make(map[string]*QueueStat)
	of := func(smsc string) *QueueStat {
		if want[smsc] == nil {
			want[smsc] = &QueueStat{SMSC: smsc}
		}
		return want[smsc]
	}
	for smsc, h := range mem.Holds {
		of(smsc).Hold = h
	}
	messages := make(map[string]map[statemachine.ID]bool)
	for e := range mem.Queue {
		st := of(e.SMSC)
		if st.ByPriority[e.Priority]++; e.NotBefore.IsZero() {
			st.Waiting++
		} else {
			st.Delayed++
		}
		if messages[e.SMSC] == nil {
			messages[e.SMSC] = make(map[statemachine.ID]bool)
		}
		messages[e.SMSC][e.Message] = true
	}
	stats, err := s.QueueStats(ctx)
	require.NoError(t, err)
	waiting := make(map[statemachine.QueueEntry]bool)
	for _, got := range stats {
		require.Equal(t, got.Waiting+got.Delayed > 0, !got.Oldest.IsZero())
		got.Oldest = time.Time{}
		require.Equal(t, *of(got.SMSC), got)
		delete(want, got.SMSC)
		h, err := s.Hold(ctx, got.SMSC)
		require.NoError(t, err)
		require.Equal(t, mem.Holds[got.SMSC], h)
		ids := make(map[statemachine.ID]bool)
		for _, id := range pages(t, func(after string) ([]statemachine.ID, string, error) {
			return s.QueuedMessages(ctx, got.SMSC, after, 2)
		}) {
			ids[id] = true
		}
		require.Equal(t, len(messages[got.SMSC]), len(ids))
		for id := range ids {
			require.True(t, messages[got.SMSC][id])
		}
		parts, err := s.NextQueued(ctx, got.SMSC, began.AddDate(100, 0, 0), nil, nil, 1e6)
		require.NoError(t, err)
		for _, q := range parts {
			waiting[q.Entry] = true
		}
	}
	require.Empty(t, want)
	require.Equal(t, mem.Queue, waiting)
}

// agreeOnWindows compares what ends when, and what of it is overdue at some instants around.
func agreeOnWindows(t tb, s *Store, mem *statemachine.Memory) {
	t.Helper()
	ctx := context.Background()
	want := make(map[Due]bool)
	instants := []time.Time{began}
	for w := range mem.Windows {
		instants = append(instants, w.At)
		if !w.Doubt {
			want[Due{w.At, w.SMSC, w.Ref.Message, w.Ref.Part}] = true
		}
	}
	got := make(map[Due]bool)
	for after := (Due{}); ; {
		due, err := s.Due(ctx, began.AddDate(100, 0, 0), after, 2)
		require.NoError(t, err)
		if len(due) == 0 {
			break
		}
		for _, d := range due {
			require.False(t, d.At.Before(after.At), "oldest first")
			got[d], after = true, d
		}
	}
	require.Equal(t, want, got)
	for _, smsc := range []string{"alpha", "beta"} {
		for _, now := range instants[:min(len(instants), 3)] {
			to := now.Truncate(time.Minute).Add(time.Minute)
			var want int64
			for k, n := range mem.Overdue {
				if k.SMSC == smsc && k.Minute.Before(to) {
					want += n
				}
			}
			for w := range mem.Windows {
				if w.Doubt && w.SMSC == smsc && w.At.Before(to) {
					want++
				}
			}
			n, err := s.Overdue(ctx, smsc, time.Time{}, to)
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
	}
	progress, err := s.Reprocessing(ctx)
	require.NoError(t, err)
	require.Equal(t, mem.Reprocess, progress)
	restored, err := s.Restored(ctx)
	require.NoError(t, err)
	require.Equal(t, mem.Restored, restored)
}

// rulesOf are the rules of the tests' SMSCs.
func rulesOf(parser string) statemachine.Rules {
	r := statemachine.Rules{Parser: parser}
	for _, smsc := range []string{"alpha", "beta"} {
		r.SMSCs = append(r.SMSCs, statemachine.SMSCRules{
			SMSC: smsc, Account: smsc, Receipt: receipt.DefaultRules(), DeliveryWindow: time.Hour,
		})
	}
	return r
}

const someDest = "393331234567"

func message(id, ref, text string) *statemachine.MessageAccepted {
	return messageTo(someDest, id, ref, text)
}

func messageTo(dest, id, ref, text string) *statemachine.MessageAccepted {
	return &statemachine.MessageAccepted{
		Message: statemachine.ID(id), SMSC: "alpha", Account: "alpha", Owner: "uid:0", Ref: ref, RequestHash: []byte(text),
		To: "+" + dest, E164: "+" + dest, Dest: receipt.Address{Addr: dest, TON: 1, NPI: 1},
		RegisteredDelivery: 1, ValidUntil: began.Add(time.Hour), ValidityAsked: true,
		Parts: []statemachine.PartContent{{ShortMessage: []byte(text)}},
	}
}

// life is a message from accept to receipt.
func life(id, external, text string) []statemachine.Fact {
	return lifeTo(someDest, id, external, text)
}

func lifeTo(dest, id, external, text string) []statemachine.Fact {
	return []statemachine.Fact{
		messageTo(dest, id, "", text),
		&statemachine.Sent{Message: statemachine.ID(id), Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", SequenceNumber: 7, PDU: requestPDU(submitSM, 0, "ACME", dest, text)},
		&statemachine.SubmitResp{Message: statemachine.ID(id), Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", SequenceNumber: 7, MessageID: external},
		&statemachine.Reception{SMSC: "alpha", Account: "alpha", Session: "alpha/1", PDU: receiptPDU(external, "DELIVRD", dest, text, 4)},
	}
}

func (r *running) append(facts ...statemachine.Fact) []statemachine.Record {
	r.t.Helper()
	records, err := r.Append(context.Background(), facts...)
	require.NoError(r.t, err)
	return records
}

// files gives the content of all files of a directory.
func files(t tb, dir string) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = data
		return err
	}))
	return all
}

// copyDir copies a store as it stands on disk, as a crash would leave it.
func copyDir(t tb, from, to string) {
	t.Helper()
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
}

func TestLife(t *testing.T) {
	s := startIn(t, testConfig(t.TempDir()))
	ctx := context.Background()
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	const text = "Your code is 4711"
	records := s.append(life("M1", "5A3C99F1", text)...)
	require.Len(t, records, 4)

	m, err := s.Message(ctx, "M1")
	require.NoError(t, err)
	require.Equal(t, statemachine.Delivered, m.State)
	found, err := s.MessagesByExternalID(ctx, "", "5A3C99F1")
	require.NoError(t, err)
	require.Len(t, found, 1)
	events, err := s.History(ctx, "M1")
	require.NoError(t, err)
	require.Len(t, events, 4)
	last := events[3].Decisions
	require.Equal(t, statemachine.VerdictApplied, last[len(last)-1].Verdict)
	require.Equal(t, records[3], events[3].Record)
	list, _, err := s.Messages(ctx, Filter{To: "00393331234567", States: []statemachine.State{statemachine.Delivered}})
	require.NoError(t, err)
	require.Len(t, list, 1)
	none, _, err := s.Messages(ctx, Filter{States: []statemachine.State{statemachine.Queued}})
	require.NoError(t, err)
	require.Empty(t, none)

	for name, data := range files(t, s.cfg.Dir) {
		require.False(t, bytes.Contains(data, []byte("4711")), "a text stands readable in %s", name)
	}
}
