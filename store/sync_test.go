package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// obstructed runs a store whose applier cannot read a text's key, as it needs to since state.db is to be
// made anew.
func obstructed(t *testing.T, test func(s *Store, mend func(), told *[]error, stop func() error)) {
	cfg, key := queuedDir(t)
	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, os.Remove(filepath.Join(cfg.Dir, stateFile)))
		data, err := os.ReadFile(key)
		require.NoError(t, err)
		var told []error
		cfg.OnObstacle = func(err error) { told = append(told, err) }
		s, err := Open(cfg)
		require.NoError(t, err)
		spoilKey(t, key, "flipped")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var g errgroup.Group
		g.Go(func() error { return s.Run(ctx) })
		mend := func() { require.NoError(t, os.WriteFile(key, data, 0o600)) }
		test(s, mend, &told, func() error {
			cancel()
			return g.Wait()
		})
		mend()
		require.NoError(t, s.Close())
	})
	clean(t, cfg)
}

func TestSync_whileTheApplierCannotGoOn(t *testing.T) {
	ctx := context.Background()
	t.Run("is told so, and goes on afterwards", func(t *testing.T) {
		obstructed(t, func(s *Store, mend func(), told *[]error, stop func() error) {
			for _, patience := range []time.Duration{obstaclePatience, 0, 0} {
				began := time.Now()
				_, err := s.Message(ctx, "M1")
				require.ErrorIs(t, err, ErrObstructed)
				require.ErrorIs(t, err, ErrKey)
				require.ErrorContains(t, err, "1 records behind")
				require.Equal(t, patience, time.Since(began))
			}
			synctest.Wait()
			require.Len(t, *told, 1)
			require.ErrorIs(t, (*told)[0], ErrKey)
			_, err := s.Append(ctx, message("M2", "", "more"))
			require.NoError(t, err, "the log goes on")
			changed := s.Changed()
			mend()
			<-changed
			_, err = s.Message(ctx, "M2")
			require.NoError(t, err)
			require.NoError(t, stop())
			require.Len(t, *told, 2)
			require.NoError(t, (*told)[1])
		})
	})
	t.Run("ends with the store, which has not failed", func(t *testing.T) {
		obstructed(t, func(s *Store, _ func(), _ *[]error, stop func() error) {
			var g errgroup.Group
			g.Go(func() error { return s.Sync(ctx) })
			synctest.Wait()
			require.NoError(t, stop())
			require.ErrorIs(t, g.Wait(), ErrClosed)
		})
	})
	t.Run("holds back accepts no longer either", func(t *testing.T) {
		obstructed(t, func(s *Store, _ func(), _ *[]error, stop func() error) {
			s.end.Add(maxLag) // as if so much had come
			_, err := s.Accept(ctx, message("M2", "", "more"))
			require.ErrorIs(t, err, ErrObstructed)
			s.end.Store(1)
			require.NoError(t, stop())
		})
	})
}
