package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

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
