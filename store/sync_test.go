package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
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

// withoutRoomFor has a file that is open refuse whatever is written to it, until mended.
func withoutRoomFor(t *testing.T, path string) (mend func()) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this system has no device that is always full: ", err)
	}
	const descriptors = "/proc/self/fd"
	open, err := os.ReadDir(descriptors)
	require.NoError(t, err)
	for _, fd := range open {
		if at, err := os.Readlink(filepath.Join(descriptors, fd.Name())); err != nil || at != path {
			continue
		}
		n, err := strconv.Atoi(fd.Name())
		require.NoError(t, err)
		kept, err := syscall.Dup(n)
		require.NoError(t, err)
		require.NoError(t, syscall.Dup3(int(full.Fd()), n, syscall.O_CLOEXEC))
		return func() {
			require.NoError(t, syscall.Dup3(kept, n, syscall.O_CLOEXEC))
			require.NoError(t, errors.Join(syscall.Close(kept), full.Close()))
		}
	}
	require.Fail(t, "nobody has it open", path)
	return nil
}

// TestSync_whileStateCannotBeWritten has queries answered as long as there is room in memory for what they see.
func TestSync_whileStateCannotBeWritten(t *testing.T) {
	cfg := testConfig(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		s := start(t, cfg)
		ctx := t.Context()
		for i := range 3 { // the file has room before the disk is full
			s.append(life(fmt.Sprint("A", i), fmt.Sprint("X", i), "a text")...)
			require.NoError(t, s.Sync(ctx))
			require.NoError(t, s.settle(ctx))
		}
		mend := withoutRoomFor(t, filepath.Join(cfg.Dir, stateFile))
		s.append(message("B", "", "a text"))
		require.NoError(t, s.Sync(ctx))
		require.ErrorIs(t, s.settle(ctx), ErrObstructed)
		time.Sleep(time.Minute)
		s.append(message("C", "", "a text"))
		_, err := s.Message(ctx, "C")
		require.NoError(t, err, "it is seen all the same")
		require.ErrorIs(t, s.settle(ctx), ErrDiskFull)

		var filling []statemachine.Fact
		for range 1000 {
			filling = append(filling, &statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "bound"})
		}
		for range applyBatch/len(filling) + 1 {
			s.append(filling...)
		}
		for err = nil; err == nil; err = s.Sync(ctx) {
			s.append(filling...)
		}
		require.ErrorIs(t, err, ErrObstructed)
		_, err = s.Accept(ctx, message("D", "", "a text"))
		require.NoError(t, err, "the log goes on")
		mend()
		time.Sleep(2 * obstaclePause)
		require.NoError(t, s.settle(ctx))
		_, err = s.Message(ctx, "D")
		require.NoError(t, err)
		require.NoError(t, s.stop())
	})
	clean(t, cfg)
}
