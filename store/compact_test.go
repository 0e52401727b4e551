package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCompact(t *testing.T) {
	ctx := context.Background()
	s := livingStore(t)
	require.NoError(t, s.settle(ctx))
	_, err := Compact(ctx, s.cfg, 0, nil)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, s.stop())
	u, err := usageOf(filepath.Join(s.cfg.Dir, stateFile))
	require.NoError(t, err)
	require.Positive(t, u.Free)

	done, err := Compact(ctx, s.cfg, 0, nil)
	require.NoError(t, err)
	require.Len(t, done, 2)
	require.Equal(t, stateFile, done[0].File)
	require.Equal(t, baseFile, done[1].File)
	require.Less(t, done[0].After, done[0].Before)
	require.LessOrEqual(t, done[1].After, done[1].Before)
	require.NoFileExists(t, filepath.Join(s.cfg.Dir, stateFile+tmpSuffix))
	opened := start(t, s.cfg)
	verifies(t, opened.Store)
	opened.append(life("after", "after", "a text")...)
	require.NoError(t, opened.settle(ctx))
	verifies(t, opened.Store)
	require.NoError(t, opened.stop())

	_, err = Compact(ctx, testConfig(t.TempDir()), 0, nil)
	require.ErrorIs(t, err, ErrNoStore)
}

func TestCompact_leavesAllAsItWas(t *testing.T) {
	s := livingStore(t)
	require.NoError(t, s.stop())
	before := files(t, s.cfg.Dir)
	_, err := Compact(context.Background(), s.cfg, 1<<62, nil)
	require.ErrorIs(t, err, ErrDiskFull, "there is less room than is to be left")
	require.Equal(t, before, files(t, s.cfg.Dir))
	damaged := filepath.Join(s.cfg.Dir, baseFile)
	require.NoError(t, os.WriteFile(damaged, []byte("something else, which is long enough to be looked at"), 0o600))
	_, err = Compact(context.Background(), s.cfg, 0, nil)
	var d *DamagedError
	require.ErrorAs(t, err, &d)
}

func TestStore_CompactBase(t *testing.T) {
	ctx := context.Background()
	s := livingStore(t)
	done, err := s.CompactBase(ctx, 0, nil)
	require.NoError(t, err)
	require.Equal(t, baseFile, done.File)
	require.LessOrEqual(t, done.After, done.Before)
	verifies(t, s.Store)
	for i := range 10 {
		s.append(life(fmt.Sprint("Z", i), fmt.Sprint("z", i), "a text")...)
	}
	s.retire(keepSince(s.Head().At.Add(1)))
	verifies(t, s.Store)
	require.NoError(t, s.stop())

	r, err := OpenReadOnly(s.cfg)
	require.NoError(t, err)
	_, err = r.CompactBase(ctx, 0, nil)
	require.ErrorIs(t, err, ErrReadOnly)
	require.NoError(t, r.Close())
	fresh := startIn(t, testConfig(t.TempDir()))
	none, err := fresh.CompactBase(ctx, 0, nil)
	require.NoError(t, err)
	require.Nil(t, none)
}

func compactUntilKilled(dir string) {
	for {
		_, err := Compact(context.Background(), testConfig(dir), 0, nil)
		require.NoError(failing{}, err)
		fmt.Println("compacted")
	}
}

// TestCompact_killed kills a process that compacts, at any point: the store is whole each time.
func TestCompact_killed(t *testing.T) {
	s := livingStore(t)
	require.NoError(t, s.stop())
	for range 8 {
		cmd := childCommand(t, s.cfg.Dir, "compact")
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		require.True(t, lines.Scan())
		time.AfterFunc(time.Duration(rand.N(20_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for lines.Scan() {
		}
		require.Error(t, cmd.Wait())
		r, err := OpenReadOnly(s.cfg)
		require.NoError(t, err)
		verifies(t, r)
		require.NoError(t, r.Close())
	}
	_, err := Compact(context.Background(), s.cfg, 0, nil)
	require.NoError(t, err, "what the last one left is in nobody's way")
	require.NoFileExists(t, filepath.Join(s.cfg.Dir, stateFile+tmpSuffix))
}

// TestOpen_removesUnfinished: a compaction, or a rebuild, that was killed leaves nothing that takes room for ever.
func TestOpen_removesUnfinished(t *testing.T) {
	s := livingStore(t)
	require.NoError(t, s.stop())
	var left []string
	for _, file := range []string{stateFile, baseFile} {
		path := filepath.Join(s.cfg.Dir, file+tmpSuffix)
		require.NoError(t, os.WriteFile(path, []byte("the beginning"), 0o600))
		left = append(left, path)
	}
	reader, err := OpenReadOnly(s.cfg)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	for _, path := range left {
		require.FileExists(t, path, "who only reads removes nothing")
	}
	opened := start(t, s.cfg)
	for _, path := range left {
		require.NoFileExists(t, path)
	}
	verifies(t, opened.Store)
	require.NoError(t, opened.stop())
}
