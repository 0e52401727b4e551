package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

// TestReopen opens state.db again behind each write: who reads meanwhile finds all that was there before.
func TestReopen(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 5
	opened, err := Open(cfg)
	require.NoError(t, err)
	opened.reopenAfter = 1
	s := run(t, opened)
	_, err = s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	first := s.state

	var done sync.WaitGroup
	var g errgroup.Group
	stop := make(chan struct{})
	upTo := func(n int, read func(i int) error) {
		done.Add(1)
		g.Go(func() error {
			defer done.Done()
			for i := 0; ; i = (i + 1) % n {
				select {
				case <-stop:
					return nil
				default:
				}
				if err := read(i); err != nil {
					return err
				}
			}
		})
	}
	const lives = 60
	for i := range lives {
		s.append(life(fmt.Sprintf("M%03d", i), fmt.Sprint("id", i), "a text")...)
		if i == 10 {
			upTo(10, func(i int) error {
				m, err := s.Message(ctx, statemachine.ID(fmt.Sprintf("M%03d", i)))
				if err == nil && m.State != statemachine.Delivered {
					err = fmt.Errorf("%s is %s", m.ID, m.State)
				}
				return err
			})
			upTo(10, func(i int) error {
				found, err := s.MessagesByExternalID(ctx, "alpha", fmt.Sprint("id", i))
				if err == nil && len(found) != 1 {
					err = fmt.Errorf("%d have id%d", len(found), i)
				}
				return err
			})
			upTo(1, func(int) error {
				return s.Rehearse(ctx, func(r *Rehearsal) error {
					_, err := r.MessagesBefore(ctx, "", 5)
					return err
				})
			})
		}
		require.NoError(t, s.settle(ctx))
	}
	close(stop)
	done.Wait()
	require.NoError(t, g.Wait())
	s.awaitReopened(first) // nobody reads now
	verifies(t, s.Store)
	s.retire(keepSince(s.Head().At.Add(1))) // base.db too
	verifies(t, s.Store)
	require.NoError(t, s.stop())
	s = start(t, cfg)
	verifies(t, s.Store)
	require.NoError(t, s.stop())
}

// awaitReopened writes until state.db is not the one that it was.
func (s *running) awaitReopened(was *bbolt.DB) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		s.append(message("later"+fmt.Sprint(s.Head().Seq), "", "a text"))
		require.NoError(s.t, s.settle(context.Background()))
		return s.stateNow() != was
	}, time.Minute, time.Millisecond)
}

// stateNow is state.db as it is open.
func (s *running) stateNow() *bbolt.DB {
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	s.applier.layers.mu.RLock()
	defer s.applier.layers.mu.RUnlock()
	return s.state
}

// TestReopen_isPutOff while the file cannot be opened: the one that is open goes on.
func TestReopen_isPutOff(t *testing.T) {
	ctx := context.Background()
	opened, err := Open(testConfig(t.TempDir()))
	require.NoError(t, err)
	opened.reopenAfter = 1
	s := run(t, opened)
	path := filepath.Join(s.cfg.Dir, stateFile)
	require.NoError(t, os.Rename(path, path+".away"))
	first := s.stateNow()
	for i := range 3 {
		s.append(life(fmt.Sprint("M", i), fmt.Sprint("id", i), "a text")...)
		require.NoError(t, s.settle(ctx))
	}
	require.Same(t, first, s.stateNow())
	m, err := s.Message(ctx, "M2")
	require.NoError(t, err)
	require.Equal(t, statemachine.Delivered, m.State)
	require.NoError(t, os.Rename(path+".away", path))
	s.awaitReopened(first)
	verifies(t, s.Store)
	require.NoError(t, s.stop())
}
