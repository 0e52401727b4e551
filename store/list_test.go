package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

// TestMessages_by_state_look_only_where_there_are_some counts the transactions that a list takes: one a partition
// that holds something for it, and one that finds no more.
func TestMessages_by_state_look_only_where_there_are_some(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 10
	s := startIn(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	const messages = 300
	for n := range messages {
		facts := life(fmt.Sprintf("M%04d", n), fmt.Sprintf("X%04d", n), "a text")
		if n%100 == 50 {
			facts = facts[:1] // waits
		}
		s.append(facts...)
	}
	require.NoError(t, s.Sync(context.Background()))
	for _, tt := range []struct {
		name   string
		filter Filter
		items  int
		steps  int
	}{
		{"newest first", Filter{States: []statemachine.State{statemachine.Queued}}, 3, 4},
		{"oldest first", Filter{States: []statemachine.State{statemachine.Queued}, OldestFirst: true}, 3, 4},
		{"of no other SMSC", Filter{States: []statemachine.State{statemachine.Queued}, SMSC: "beta"}, 0, 4},
		{"in no partition", Filter{States: []statemachine.State{statemachine.Failed}}, 0, 1},
		{"of a number that nobody has", Filter{To: "4915112345678"}, 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := messageWalk{filter: &tt.filter, limit: messages}
			steps := 0
			for ; !w.done; steps++ {
				require.NoError(t, s.view(w.step))
			}
			require.Len(t, w.items, tt.items)
			require.LessOrEqual(t, steps, tt.steps)
		})
	}
}

// TestMessages_selects_what_is_asked_for compares lists of messages of any states, some with ids that come late or are
// none of ours, with all messages looked at one by one.
func TestMessages_selects_what_is_asked_for(t *testing.T) {
	base, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		cfg := testConfig(filepath.Join(base, fmt.Sprint(n)))
		cfg.PartitionMessages = rapid.IntRange(2, 20).Draw(t, "partition")
		now := began
		cfg.Now = func() time.Time { return now }
		s := start(t, cfg)
		ctx := context.Background()
		_, err := s.SetRules(ctx, rulesOf("1"))
		require.NoError(t, err)
		strangers := rapid.Bool().Draw(t, "strangers")
		for i := range rapid.IntRange(1, 60).Draw(t, "messages") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "milliseconds")) * time.Millisecond)
			late := time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 20_000}).Draw(t, "late")) * time.Millisecond
			id := fmt.Sprintf("%s%016d", idsFrom(now.Add(-late).UnixMilli()), i)
			if strangers && rapid.IntRange(0, 9).Draw(t, "stranger") == 0 {
				id = fmt.Sprint("x", i)
			}
			external := fmt.Sprint("X", i)
			facts := life(id, external, "a text")
			stat := rapid.SampledFrom([]string{"DELIVRD", "DELIVRD", "UNDELIV", "ENROUTE"}).Draw(t, "stat")
			facts[3].(*statemachine.Reception).PDU = receiptPDU(external, stat, someDest, "a text", 4)
			s.append(facts[:rapid.IntRange(1, 4).Draw(t, "steps")]...)
		}
		var all []*statemachine.Message
		all, _, err = s.Messages(ctx, Filter{Limit: 1000})
		require.NoError(t, err)
		states := statemachine.States()
		some := rapid.Map(rapid.IntRange(-30_000, 60_000), func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) })
		for range 10 {
			f := Filter{OldestFirst: rapid.Bool().Draw(t, "oldest first"), Limit: rapid.IntRange(1, 5).Draw(t, "limit")}
			f.States = rapid.SliceOfN(rapid.SampledFrom(states), 0, 3).Draw(t, "states")
			if rapid.Bool().Draw(t, "from") {
				f.Since = some.Draw(t, "since")
			}
			if rapid.Bool().Draw(t, "to") {
				f.Until = some.Draw(t, "until")
			}
			var want, got []statemachine.ID
			for _, m := range all {
				if f.matches(&glance{acceptedAt: m.AcceptedAt, state: m.State}) {
					want = append(want, m.ID)
				}
			}
			if f.OldestFirst {
				slices.Reverse(want)
			}
			for _, m := range pages(t, func(after string) ([]*statemachine.Message, string, error) {
				f.After = statemachine.ID(after)
				items, next, err := s.Messages(ctx, f)
				return items, string(next), err
			}) {
				got = append(got, m.ID)
			}
			require.Equal(t, want, got)
		}
		verifies(t, s.Store)
		want := dump(t, s.Store)
		require.NoError(t, s.stop())
		sameAgain(t, cfg, want, filepath.Join(base, fmt.Sprint(n, "again")))
	})
}

// TestMessages_look_at_few counts the rows that are looked at in a partition of many.
func TestMessages_look_at_few(t *testing.T) {
	cfg := testConfig(t.TempDir())
	const messages = 400
	cfg.PartitionMessages = messages / 2
	now := began
	cfg.Now = func() time.Time { return now }
	s := startIn(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	var facts []statemachine.Fact
	for n := range messages {
		now = now.Add(time.Second)
		id := fmt.Sprintf("%s%016d", idsFrom(now.UnixMilli()), n)
		facts = life(id, fmt.Sprintf("X%04d", n), "a text")
		switch n % 50 {
		case 20:
			facts = facts[:1]
		case 40:
			facts[3].(*statemachine.Reception).PDU = receiptPDU(fmt.Sprintf("X%04d", n), "UNDELIV", someDest, "a text", 4)
		}
		s.append(facts...)
	}
	require.NoError(t, s.Sync(context.Background()))
	for _, tt := range []struct {
		name   string
		filter Filter
		items  int
		looks  int
	}{
		{"those in a rare state", Filter{States: []statemachine.State{statemachine.Undeliverable, statemachine.Failed}}, 8, 8},
		{"those under way in a sealed partition", Filter{States: []statemachine.State{statemachine.Queued}, Until: began.Add(messages / 2 * time.Second)}, 4, 4},
		{"those under way in the last partition", Filter{States: []statemachine.State{statemachine.Queued}}, 8, messages/2 + 4},
		{"those of a time", Filter{Since: began.Add(30 * time.Second), Until: began.Add(40 * time.Second)}, 10, 11},
		{"those of a time, oldest first", Filter{Since: began.Add(30 * time.Second), Until: began.Add(40 * time.Second), OldestFirst: true}, 10, 11},
		{"those in a state of a time", Filter{States: []statemachine.State{statemachine.Undeliverable}, Until: began.Add(60 * time.Second)}, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := messageWalk{filter: &tt.filter, limit: messages}
			for !w.done {
				require.NoError(t, s.view(w.step))
			}
			require.Len(t, w.items, tt.items)
			require.LessOrEqual(t, w.looks, tt.looks)
		})
	}
}

// TestMessages_whose_states_change has messages change their states between two looks of a list: one that is in a state
// that is asked for all the while, and that the list comes to last, is found.
func TestMessages_whose_states_change(t *testing.T) {
	const messages = 2*visitRows + 10
	id := func(n int) statemachine.ID { return statemachine.ID(fmt.Sprintf("M%04d", n)) }
	had := func(n, facts int) []statemachine.Fact {
		return life(string(id(n)), fmt.Sprint("X", n), "a text")[:facts]
	}
	doubted := func(n int) []statemachine.Fact {
		return append(had(n, 2), &statemachine.AttemptInDoubt{Message: id(n), Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", Cause: "cut"})
	}
	refused := func(n int, status uint32, temporary bool) statemachine.Fact {
		return &statemachine.SubmitResp{Message: id(n), Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", SequenceNumber: 7, CommandStatus: status, Temporary: temporary}
	}
	for _, tt := range []struct {
		name    string
		states  []statemachine.State
		last    func(n int) []statemachine.Fact // that the one had, and that the others had
		others  func(n int) []statemachine.Fact
		between func(last int) statemachine.Fact // the two looks
	}{
		{
			"it goes to a state that none was in", []statemachine.State{statemachine.InDoubt, statemachine.Failed}, doubted, doubted,
			func(last int) statemachine.Fact { return refused(last, 0x0B, false) },
		},
		{
			"another one comes to its state before", []statemachine.State{statemachine.Queued},
			func(n int) []statemachine.Fact { return had(n, 1) },
			func(n int) []statemachine.Fact { return had(n, 2) },
			func(int) statemachine.Fact { return refused(messages/2, 0x58, true) },
		},
	} {
		for _, oldestFirst := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, ", oldest first ", oldestFirst), func(t *testing.T) {
				s := startIn(t, testConfig(t.TempDir()))
				ctx := context.Background()
				_, err := s.SetRules(ctx, rulesOf("1"))
				require.NoError(t, err)
				last := 0
				if oldestFirst {
					last = messages - 1
				}
				var all []statemachine.Fact
				for n := range messages {
					if n == last {
						all = append(all, tt.last(n)...)
					} else {
						all = append(all, tt.others(n)...)
					}
				}
				s.append(all...)
				require.NoError(t, s.Sync(ctx))
				w := messageWalk{filter: &Filter{States: tt.states, OldestFirst: oldestFirst}, limit: messages}
				require.NoError(t, s.view(w.step))
				require.False(t, w.done)
				s.append(tt.between(last))
				require.NoError(t, s.Sync(ctx))
				for !w.done {
					require.NoError(t, s.view(w.step))
				}
				require.NotEmpty(t, w.items)
				require.Equal(t, id(last), w.items[len(w.items)-1].ID)
			})
		}
	}
}

func TestIDTime(t *testing.T) {
	for _, id := range []statemachine.ID{"", "M1", "01KB9A0000", "01kb9a00000000000000000000", "01KBIA00000000000000000000", "01KB9A-0000000000000000000"} {
		_, ok := idTime(id)
		require.False(t, ok, id)
	}
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(0, 1<<(5*timeDigits)-1)
		a, b := ms.Draw(t, "a"), ms.Draw(t, "b")
		id := idsFrom(a) + "0"
		got, ok := idTime(id)
		require.True(t, ok)
		require.Equal(t, a, got)
		require.Equal(t, a >= b, id > idsFrom(b))
	})
}

func TestMessages_pass_rows_over_without_an_allocation(t *testing.T) {
	m := &statemachine.Message{ID: "M1", SMSC: "alpha", Account: "alpha", State: statemachine.Delivered, AcceptedAt: began, Parts: make([]statemachine.Part, 1)}
	row := appendMessage(nil, m)
	f := Filter{States: []statemachine.State{statemachine.Failed, statemachine.Expired}, SMSC: "alpha", Since: began}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		g, err := glanceAt(row)
		if err != nil || f.matches(&g) {
			t.Error("should be passed over")
		}
	}))
	f.States = append(f.States, statemachine.Delivered)
	g, err := glanceAt(row)
	require.NoError(t, err)
	require.True(t, f.matches(&g))
	_, err = glanceAt(row[:5])
	require.ErrorIs(t, err, errMalformed)
}
