package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestFilters_openPartition: the filter of a partition is of the keys that it has when it is sealed, and what it has is
// found before, whatever became of its keys and of its filter till then.
func TestFilters_openPartition(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(*running)
	}{
		{"made as the keys came", func(*running) {}},
		{"forgotten, as after a start", func(s *running) { s.filters.reset() }},
		{"an id went", func(s *running) {
			doubt := s.append(&statemachine.Sent{Message: "M002", Part: 1, Attempt: 2, SMSC: "alpha", Session: "alpha/1"},
				&statemachine.AttemptInDoubt{Message: "M002", Part: 1, Attempt: 2, SMSC: "alpha", Cause: "timeout"})[1]
			s.append(&statemachine.Operator{
				Action: statemachine.ActionAccepted, By: "uid:0", Exception: fmt.Sprint("x", doubt.Seq), MessageID: "76",
			}, &statemachine.SubmitResp{Message: "M002", Part: 1, Attempt: 2, SMSC: "alpha", MessageID: "78"})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := context.Background()
			cfg := testConfig(t.TempDir())
			cfg.PartitionMessages = 3
			s := startIn(t, cfg)
			_, err := s.SetRules(ctx, rulesOf("1"))
			require.NoError(t, err)
			found := func(id string) int {
				messages, err := s.MessagesByExternalID(ctx, "alpha", id)
				require.NoError(t, err)
				return len(messages)
			}
			s.append(life("M001", "id1", "a text")...)
			s.append(life("M002", "id2", "a text")[:2]...)
			require.NoError(t, s.Sync(ctx))
			tt.then(s)
			s.append(life("M002", "id2", "a text")[2])
			s.append(life("M003", "id3", "a text")...)
			require.Equal(t, 1, found("id2"))
			require.Zero(t, found("76"))
			s.append(append(life("M004", "id4", "a text"), life("M005", "id5", "a text")...)...)
			require.NoError(t, s.Sync(ctx))
			filtersAreOfKeys(t, s.Store)
			for i := range 5 {
				require.Equal(t, 1, found(fmt.Sprint("id", i+1)))
			}
			require.Zero(t, found("76"))
		})
	}
}

// TestFilters_sealedWithinABatch: what comes to a partition in the batch that seals it is in its filter.
func TestFilters_sealedWithinABatch(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 1
	s := startIn(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	first, second, third := life("M001", "id1", "a text"), life("M002", "id2", "a text"), life("M003", "id3", "a text")
	s.append(first[0], first[1], second[0], first[2], second[1], third[0], first[3], second[2], third[1], second[3], third[2], third[3])
	require.NoError(t, s.Sync(context.Background()))
	filtersAreOfKeys(t, s.Store)
	for i := range 3 {
		m, err := s.Message(context.Background(), statemachine.ID(fmt.Sprintf("M%03d", i+1)))
		require.NoError(t, err)
		require.Equal(t, statemachine.Delivered, m.State)
	}
}

// TestFilters_rehearsal: a rehearsal finds the ids that came in it, and leaves the filters as they are.
func TestFilters_rehearsal(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 2
	s := startIn(t, cfg)
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	facts := life("M001", "id1", "a text")
	s.append(facts[:2]...)
	require.NoError(t, s.Rehearse(ctx, func(r *Rehearsal) error {
		for _, fact := range append(facts[2:], life("M002", "id2", "a text")...) {
			j, err := r.Apply(fact)
			require.NoError(t, err)
			if _, ok := fact.(*statemachine.Reception); ok {
				require.Equal(t, statemachine.Matched, j.Decisions[0].Correlation)
			}
		}
		return nil
	}))
	found, err := s.MessagesByExternalID(ctx, "alpha", "id1")
	require.NoError(t, err)
	require.Empty(t, found)
	for i := range 2 {
		s.append(life(fmt.Sprintf("M%03d", 3+i), fmt.Sprint("id", 3+i), "a text")...)
	}
	require.NoError(t, s.Sync(ctx))
	filtersAreOfKeys(t, s.Store)
}

// TestFilters_inAFile shows where they lie while a store is open, and that nothing of it is left.
func TestFilters_inAFile(t *testing.T) {
	cfg := testConfig(t.TempDir())
	s := fillWith(t, cfg, 1)
	require.NoError(t, s.Sync(context.Background()))
	g := s.filters.groupOf(0)
	require.NotNil(t, g)
	require.Equal(t, cfg.Dir, g.dir)
	require.Len(t, g.words[0], g.blocks[0]*blockWords)
	require.Nil(t, spill("/proc", 1<<10), "no file can be made there")
	require.Nil(t, spill(t.TempDir(), 1<<50), "no disk has as much")
	require.NoError(t, s.stop())
}

// TestFilters_readBeforeWritten: who reads state.db as it is on the disk, behind what was folded, has nobody else miss an
// id that came late.
func TestFilters_readBeforeWritten(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 2
	s := startIn(t, cfg)
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	first := life("M001", "id1", "a text")
	s.append(first[:2]...)
	for i := range 3 {
		s.append(life(fmt.Sprintf("M%03d", 2+i), fmt.Sprint("id", 2+i), "a text")...)
	}
	require.NoError(t, s.Sync(ctx))
	require.NoError(t, s.settle(ctx))
	require.NoError(t, s.viewWritten(func(tx *stateTx) error {
		s.append(first[2]) // folded, and not in tx
		require.NoError(t, s.Sync(ctx))
		s.filters.reset()  // as when a batch fails
		tx.filters.since++ // and tx as if it began only now, before anything is written
		parts, err := tx.heads()
		require.NoError(t, err)
		_, err = tx.holding(parts, tableIDs, pairKey("alpha", "any"))
		return err
	}))
	s.append(first[3])
	m, err := s.Message(ctx, "M001")
	require.NoError(t, err)
	require.Equal(t, statemachine.Delivered, m.State)
}
