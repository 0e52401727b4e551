package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

func backedUp(t *testing.T) (cfg Config, id string) {
	s := livingStore(t)
	cfg = s.cfg
	cfg.Dir = filepath.Join(t.TempDir(), "backup")
	result, err := s.Backup(context.Background(), cfg.Dir, false, nil)
	require.NoError(t, err)
	require.NoError(t, s.stop())
	return cfg, result.ID
}

func TestRestore(t *testing.T) {
	for _, tt := range []struct {
		name           string
		send           bool
		queued, asleep statemachine.State
		want           RestoreResult
	}{
		{"what may have been sent since is in doubt", false, statemachine.InDoubt, statemachine.InDoubt, RestoreResult{Unanswered: 1, Queued: 2}},
		{"or is sent all the same", true, statemachine.Queued, statemachine.Queued, RestoreResult{Send: true, Unanswered: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, id := backedUp(t)
			ctx := context.Background()
			s := start(t, cfg)
			last := s.end.Load()
			require.Equal(t, id, s.RestoredFrom())
			got, err := s.Restore(ctx, tt.send)
			require.NoError(t, err)
			tt.want.Backup = id
			require.Equal(t, tt.want, got)
			require.Empty(t, s.RestoredFrom())
			for id, want := range map[statemachine.ID]statemachine.State{
				"Q1": tt.queued, "Q2": statemachine.InDoubt, "Q3": tt.asleep, "N1": statemachine.Delivered,
			} {
				m, err := s.Message(ctx, id)
				require.NoError(t, err)
				require.Equal(t, want, m.State, id)
			}
			first, err := s.Events(ctx, last, 1)
			require.NoError(t, err)
			require.Equal(t, last+1+restoreGap, first[0].Record.Seq)
			require.Equal(t, &statemachine.Restored{Backup: id, Send: tt.send}, first[0].Record.Fact)
			verifies(t, s.Store)
			again, err := s.Restore(ctx, false)
			require.NoError(t, err)
			require.Zero(t, again)
			require.NoError(t, s.stop())

			s = start(t, cfg)
			require.Empty(t, s.RestoredFrom())
			s.append(life("R1", "after", "a text")...)
			require.Equal(t, s.end.Load()-4, s.Head().Seq-4)
			verifies(t, s.Store)
			hold, err := s.Hold(ctx, "alpha")
			require.NoError(t, err)
			require.Equal(t, "uid:0", hold.By, "a hold outlives its record, and the store")
			want := dump(t, s.Store)
			require.NoError(t, s.stop())
			sameAgain(t, cfg, want, filepath.Join(t.TempDir(), "again"))
		})
	}
}

// TestRestore_killed ends a restore at every record, as a crash would, and lets the next start go on.
func TestRestore_killed(t *testing.T) {
	cfg, id := backedUp(t)
	ctx := context.Background()
	marked, err := os.ReadFile(filepath.Join(cfg.Dir, markerFile))
	require.NoError(t, err)
	facts := []statemachine.Fact{
		&statemachine.Restored{Backup: id},
		doubt(statemachine.AttemptRef{Message: "Q2", Part: 1, Attempt: 1}, "alpha", "alpha/1"),
		doubt(statemachine.AttemptRef{Message: "Q1", Part: 1, Attempt: 1}, "alpha", ""),
		doubt(statemachine.AttemptRef{Message: "Q3", Part: 1, Attempt: 2}, "alpha", ""),
		&statemachine.Restored{Backup: id, Done: true},
	}
	for n := range len(facts) + 1 {
		cut := cfg
		cut.Dir = filepath.Join(t.TempDir(), "cut")
		copyDir(t, cfg.Dir, cut.Dir)
		s := start(t, cut)
		last := s.end.Load()
		for _, fact := range facts[:n] {
			s.append(fact)
		}
		require.NoError(t, s.stop())
		require.Equal(t, marked, files(t, cut.Dir)[markerFile])

		s = start(t, cut)
		got, err := s.Restore(ctx, true)
		require.NoError(t, err)
		require.Equal(t, n == 0, got.Send, "the first start was told")
		m, err := s.Message(ctx, "Q1")
		require.NoError(t, err)
		require.Equal(t, n == 0, m.State == statemachine.Queued)
		first, err := s.Events(ctx, last, 1)
		require.NoError(t, err)
		require.Equal(t, last+1+restoreGap, first[0].Record.Seq)
		require.Less(t, s.end.Load(), last+restoreGap+20, "one gap only")
		verifies(t, s.Store)
		require.NoError(t, s.stop())
	}
}
