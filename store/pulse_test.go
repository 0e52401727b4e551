package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// heldJournal appends when it is let.
type heldJournal struct {
	journal
	held chan struct{}
}

func (h *heldJournal) append(at time.Time, values [][]byte, rules []byte) error {
	<-h.held
	return h.journal.append(at, values, rules)
}

// heldWitness lets a batch go on when it is let.
type heldWitness struct{ held chan struct{} }

func (h heldWitness) Folded(statemachine.Record, *statemachine.Effects) {}

func (h heldWitness) Committed() { <-h.held }

// over is what stands still while a minute passes.
func over(s *Store) string {
	synctest.Wait()
	before := s.Pulse()
	time.Sleep(time.Minute)
	synctest.Wait()
	return s.Pulse().Stuck(before)
}

// pulsing runs a store under a fake clock.
func pulsing(t *testing.T, cfg Config, test func(t *testing.T, s *running)) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, cfg)
		test(t, s)
		require.Empty(t, over(s.Store))
		require.NoError(t, s.stop())
	})
	clean(t, cfg)
}

func TestPulse_whoHasNothingToDoIsNotStuck(t *testing.T) {
	pulsing(t, testConfig(t.TempDir()), func(t *testing.T, s *running) {
		require.Empty(t, over(s.Store), "nothing ever came")
		s.append(message("M1", "", "a"))
		require.Empty(t, over(s.Store), "it was applied, and written two seconds later")
	})
}

func TestPulse_aCommitThatDoesNotEnd(t *testing.T) {
	pulsing(t, testConfig(t.TempDir()), func(t *testing.T, s *running) {
		h := &heldJournal{s.journal, make(chan struct{})}
		s.journal = h
		require.NoError(t, s.Post(t.Context(), message("M1", "", "a"), func(statemachine.Record, error) {}))
		require.Equal(t, "log", over(s.Store))
		close(h.held)
	})
}

func TestPulse_aBatchThatDoesNotEnd(t *testing.T) {
	w := heldWitness{make(chan struct{})}
	cfg := testConfig(t.TempDir())
	cfg.Witness = func() Witness { return w }
	synctest.Test(t, func(t *testing.T) {
		w.held = make(chan struct{}) // of this bubble
		s := start(t, cfg)
		s.append(message("M1", "", "a"))
		require.Equal(t, "projection", over(s.Store))
		s.append(message("M2", "", "a"))
		require.Equal(t, "projection", over(s.Store), "the log goes on")
		close(w.held)
		require.Empty(t, over(s.Store))
		require.NoError(t, s.stop())
	})
	clean(t, cfg)
}

func TestPulse_aWriteThatDoesNotEnd(t *testing.T) {
	s := startIn(t, testConfig(t.TempDir()))
	tx, err := s.state.Begin(true)
	require.NoError(t, err)
	s.append(message("M1", "", "a"))
	require.NoError(t, s.Sync(t.Context()), "what is folded is seen meanwhile")
	settled := make(chan error, 1)
	go func() { settled <- s.settle(context.Background()) }()
	require.Eventually(t, func() bool { return underWay(s.Pulse().writes) }, time.Minute, time.Millisecond)
	before := s.Pulse()
	require.Equal(t, "state.db", s.Pulse().Stuck(before))
	s.copying.Add(1)
	require.Empty(t, s.Pulse().Stuck(before), "a backup may be what it waits for")
	s.copying.Add(-1)
	require.NoError(t, tx.Rollback())
	require.NoError(t, <-settled)
	require.Empty(t, s.Pulse().Stuck(before))
}

func TestPulse_whatIsLeftLying(t *testing.T) {
	for name, tt := range map[string]struct {
		before, now Pulse
		want        string
	}{
		"requests that the writer does not take":             {Pulse{commits: 2, asked: true}, Pulse{commits: 2, asked: true}, "log"},
		"others came when those had been taken":              {Pulse{commits: 2, asked: true}, Pulse{commits: 3, asked: true}, ""},
		"records that nobody folds":                          {Pulse{end: 5, applied: 4}, Pulse{end: 5, applied: 4}, "projection"},
		"records that came since":                            {Pulse{end: 4, applied: 4}, Pulse{end: 5, applied: 4}, ""},
		"records that wait for a write, which goes on":       {Pulse{end: 5, writes: 3}, Pulse{end: 5, writes: 5}, ""},
		"records for which there is no room":                 {Pulse{end: 5, obstructed: true}, Pulse{end: 5, obstructed: true}, ""},
		"a batch that hangs where there was no room":         {Pulse{folds: 3, obstructed: true}, Pulse{folds: 3, obstructed: true}, "projection"},
		"a log that is as slow as the projection is, but is": {Pulse{commits: 1, folds: 1}, Pulse{commits: 3, folds: 3}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.now.Stuck(tt.before))
		})
	}
}

func TestPulse_whoWaitsForRoomIsNotStuck(t *testing.T) {
	cfg := testConfig(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		s := start(t, cfg)
		for i := range 3 { // the file has room before the disk is full
			s.append(life(fmt.Sprint("A", i), fmt.Sprint("X", i), "a text")...)
			require.NoError(t, s.Sync(t.Context()))
			require.NoError(t, s.settle(t.Context()))
		}
		mend := withoutRoomFor(t, filepath.Join(cfg.Dir, stateFile))
		s.append(message("B", "", "a text"))
		require.NoError(t, s.Sync(t.Context()))
		require.ErrorIs(t, s.settle(t.Context()), ErrObstructed)
		require.Empty(t, over(s.Store))
		mend()
		require.NoError(t, s.stop())
	})
	clean(t, cfg)
	obstructed(t, func(s *Store, _ func(), _ *[]error, stop func() error) {
		require.ErrorIs(t, s.Sync(context.Background()), ErrKey)
		require.Empty(t, over(s))
		require.NoError(t, stop())
	})
}
