package store

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

func TestAccept_repeats(t *testing.T) {
	ctx := context.Background()
	keyed := func(id, ref, key, text string) *statemachine.MessageAccepted {
		a := message(id, ref, text)
		a.IdempotencyKey = key
		return a
	}
	tests := []struct {
		name     string
		again    *statemachine.MessageAccepted
		existing bool
		err      error
	}{
		{"same ref, same body", keyed("M2", "r1", "", "a"), true, nil},
		{"same ref, other body", keyed("M2", "r1", "", "b"), false, ErrRefConflict},
		{"same key, same body", keyed("M2", "", "k1", "a"), true, nil},
		{"same key, other body", keyed("M2", "", "k1", "b"), false, ErrRefConflict},
		{"same key, new ref", keyed("M2", "r2", "k1", "a"), true, nil},
		{"a key is no ref", keyed("M2", "k1", "", "a"), false, nil},
		{"a ref that begins like another", keyed("M2", "r", "", "a"), false, nil},
		{"neither ref nor key", keyed("M2", "", "", "a"), false, nil},
	}
	for _, when := range []string{"at once", "when it is applied", "after a restart", "over two segments"} {
		for _, tt := range tests {
			t.Run(tt.name+" "+when, func(t *testing.T) {
				cfg := testConfig(t.TempDir())
				if when == "over two segments" {
					cfg.SegmentRecords = 1
				}
				s := start(t, cfg)
				first, err := s.Accept(ctx, keyed("M1", "r1", "k1", "a"))
				require.NoError(t, err)
				require.False(t, first.Existing)
				switch when {
				case "when it is applied":
					require.NoError(t, s.Sync(ctx))
				case "after a restart":
					require.NoError(t, s.stop())
					s = start(t, cfg)
				}
				got, err := s.Accept(ctx, tt.again)
				require.ErrorIs(t, err, tt.err)
				if tt.existing {
					require.Equal(t, Acceptance{Message: "M1", Seq: first.Seq, At: first.At, Existing: true}, got)
				} else if tt.err == nil {
					require.Equal(t, statemachine.ID("M2"), got.Message)
				}
				s.check()
			})
		}
	}
	t.Run("another owner's ref is another ref", func(t *testing.T) {
		s := startIn(t, testConfig(t.TempDir()))
		other := message("M2", "r1", "b")
		other.Owner = "uid:1"
		for _, a := range []*statemachine.MessageAccepted{message("M1", "r1", "a"), other} {
			got, err := s.Accept(ctx, a)
			require.NoError(t, err)
			require.Equal(t, a.Message, got.Message)
		}
		for owner, n := range map[string]int{"": 2, "uid:1": 1, "uid": 0} {
			found, err := s.MessageByRef(ctx, owner, "r1")
			require.NoError(t, err)
			require.Len(t, found, n, owner)
		}
	})
	t.Run("a ref longer than a key may be", func(t *testing.T) {
		s := startIn(t, testConfig(t.TempDir()))
		long := string(make([]byte, 40_000))
		_, err := s.Accept(ctx, message("M1", long, "a"))
		require.NoError(t, err)
		got, err := s.Accept(ctx, message("M2", long, "a"))
		require.NoError(t, err)
		require.True(t, got.Existing)
		_, err = s.Accept(ctx, message("M3", long+"x", "a"))
		require.NoError(t, err)
	})
}

func TestAccept_race(t *testing.T) {
	s := startIn(t, testConfig(t.TempDir()))
	const refs, callers = 50, 8
	var fresh atomic.Int64
	var g errgroup.Group
	for caller := range callers {
		g.Go(func() error {
			for ref := range refs {
				a, err := s.Accept(context.Background(), message(fmt.Sprintf("M%d-%d", ref, caller), fmt.Sprint("r", ref), "a"))
				if err != nil {
					return err
				}
				if !a.Existing {
					fresh.Add(1)
				}
				if m, err := s.Message(context.Background(), a.Message); err != nil || m.Ref != fmt.Sprint("r", ref) {
					return fmt.Errorf("who was answered can query it: %v", err)
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	require.EqualValues(t, refs, fresh.Load())
}

func TestAppend_allOrNone(t *testing.T) {
	s := startIn(t, testConfig(t.TempDir()))
	ctx := context.Background()
	s.append(message("M1", "r1", "a"))
	_, err := s.Append(ctx, message("M2", "r2", "a"), message("M3", "r1", "a"))
	require.ErrorIs(t, err, ErrRefConflict)
	_, err = s.Append(ctx, message("M4", "r4", "a"), &statemachine.Other{Name: "nothing known"})
	require.ErrorIs(t, err, errNoEncoding)
	require.EqualValues(t, 1, s.end.Load())
	for _, a := range []*statemachine.MessageAccepted{message("M5", "r2", "a"), message("M6", "r4", "a")} {
		got, err := s.Accept(ctx, a)
		require.NoError(t, err)
		require.False(t, got.Existing, "a request that failed holds no ref")
	}
}
