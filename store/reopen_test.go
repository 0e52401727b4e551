package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	require.Eventually(t, func() bool { // nobody reads now
		s.append(message("later"+fmt.Sprint(s.Head().Seq), "", "a text"))
		require.NoError(t, s.settle(ctx))
		s.applyMu.Lock()
		defer s.applyMu.Unlock()
		s.applier.layers.mu.RLock()
		defer s.applier.layers.mu.RUnlock()
		return s.state != first
	}, time.Minute, time.Millisecond)
	verifies(t, s.Store)
	s.retire(keepSince(s.Head().At.Add(1))) // base.db too
	verifies(t, s.Store)
	require.NoError(t, s.stop())
	s = start(t, cfg)
	verifies(t, s.Store)
	require.NoError(t, s.stop())
}
