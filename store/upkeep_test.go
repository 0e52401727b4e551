package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRetire_killed copies the store behind each step, as a crash there would leave it: the copy is whole, and
// ends where the store itself does.
func TestRetire_killed(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords, cfg.PartitionMessages = 10, 4
	s := start(t, cfg)
	ctx := context.Background()
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	for i := range 12 {
		s.append(life(fmt.Sprint("M", i), fmt.Sprint("id", i), "a text")...)
	}
	keep := keepSince(s.Head().At.Add(1))
	var cut []Config
	for more := true; more; {
		step, err := s.Retire(ctx, keep)
		require.NoError(t, err)
		more = step.More
		at := cfg
		at.Dir = filepath.Join(t.TempDir(), fmt.Sprint(len(cut)))
		copyDir(t, cfg.Dir, at.Dir)
		cut = append(cut, at)
	}
	require.Greater(t, len(cut), 20)
	left := func(dir string) (names []string) {
		for name := range files(t, dir) {
			names = append(names, name)
		}
		return names
	}
	want := left(cfg.Dir)
	require.NoError(t, s.stop())
	retired := 0
	for _, at := range cut {
		r, err := OpenReadOnly(at)
		require.NoError(t, err)
		verifies(t, r)
		require.NoError(t, r.Close())
		for _, name := range left(at.Dir) {
			if strings.HasSuffix(name, retiredSuffix) {
				retired++
			}
		}
		s := start(t, at)
		s.retire(keep)
		verifies(t, s.Store)
		require.NoError(t, s.stop())
		require.ElementsMatch(t, want, left(at.Dir))
	}
	require.Positive(t, retired, "one of them was cut between a segment's renaming and its end")
}

func upkeepConfig(dir string) Config {
	cfg := testConfig(filepath.Join(dir, "data"))
	cfg.SegmentRecords, cfg.PartitionMessages = 50, 10
	return cfg
}

// keepUp retires and backs up while it appends, and says when.
func keepUp(dir string) {
	s := start(failing{}, upkeepConfig(dir))
	ctx := context.Background()
	first := s.end.Load()
	for n := 0; ; n++ {
		for i := range 10 {
			id := fmt.Sprintf("M%08d-%06d-%d", first, n, i)
			s.append(life(id, id, "a text")...)
		}
		for range 7 {
			_, err := s.Retire(ctx, keepSince(s.Head().At))
			require.NoError(s.t, err)
			fmt.Println("retired")
		}
		_, err := s.Backup(ctx, filepath.Join(dir, fmt.Sprintf("backup-%d-%d", first, n)), false, nil)
		require.NoError(s.t, err)
		fmt.Println("backup")
	}
}

// TestStore_killedInItsUpkeep kills a process that retires and makes backups.
func TestStore_killedInItsUpkeep(t *testing.T) {
	dir := t.TempDir()
	cfg := upkeepConfig(dir)
	unfinished := 0
	for round := range 4 {
		cmd := childCommand(t, dir, "keep up")
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == 20+round*7+round%2 {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait())
		r, err := OpenReadOnly(cfg)
		require.NoError(t, err)
		verifies(t, r)
		want := dump(t, r)
		require.NoError(t, r.Close())
		sameAgain(t, cfg, want, filepath.Join(t.TempDir(), "again"))
	}
	backups, err := filepath.Glob(filepath.Join(dir, "backup-*"))
	require.NoError(t, err)
	require.NotEmpty(t, backups)
	for _, dir := range backups {
		r, err := OpenReadOnly(testConfig(dir))
		if errors.Is(err, ErrPartialBackup) || errors.Is(err, ErrNoStore) {
			unfinished++
			continue
		}
		require.NoError(t, err)
		require.NotEmpty(t, r.RestoredFrom())
		verifies(t, r)
		require.NoError(t, r.Close())
	}
	require.Less(t, unfinished, len(backups))
}

// TestRetire_diskFull gives a process a file system of four megabytes.
func TestRetire_diskFull(t *testing.T) {
	cmd := childCommand(t, t.TempDir(), "retire on a full disk")
	cmd.SysProcAttr = ownFileSystem()
	out, err := cmd.Output()
	skipWithoutMount(t, out, err)
	require.NoError(t, err)
	require.Equal(t, "went on\n", string(out))
}

func ownFileSystem() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

func skipWithoutMount(t *testing.T, out []byte, err error) {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || strings.HasPrefix(string(out), "no mount") {
		t.Skip("this system gives no file system of its own to a process: ", err, string(out))
	}
}

func retireOnFullDisk(dir string) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		fmt.Println("no mount:", err)
		return
	}
	t := failing{}
	ballast := dir + "/ballast"
	require.NoError(t, os.WriteFile(ballast, make([]byte, 20<<20), 0o600))
	cfg := testConfig(dir)
	cfg.SegmentRecords, cfg.PartitionMessages = 200, 50
	s := start(t, cfg)
	ctx := context.Background()
	for n, failed := 0, 0; failed < 5; n++ {
		if _, err := s.Append(ctx, life(fmt.Sprintf("M%08d", n), fmt.Sprint(n), "a text")...); err != nil {
			require.ErrorIs(t, err, ErrDiskFull)
			failed++
		}
	}
	keep := keepSince(s.Head().At.Add(1))
	full := 0
	for range 20 {
		if _, err := s.Retire(ctx, keep); err != nil {
			if !errors.Is(err, ErrDiskFull) && !errors.Is(err, ErrObstructed) {
				require.NoError(t, err)
			}
			if full++; full == 3 {
				break
			}
		}
	}
	require.NoError(t, os.Remove(ballast))
	for err := ErrObstructed; errors.Is(err, ErrObstructed); {
		changed := s.Changed()
		if err = s.settle(ctx); err != nil {
			<-changed
		}
	}
	done := s.retire(keep)
	require.Positive(t, done.Messages)
	s.append(life("after", "after", "a text")...)
	verifies(t, s.Store)
	require.NoError(t, s.stop())
	fmt.Println("went on")
}

// TestRebuild makes state.db anew, also over one that is damaged, and leaves the old one when it is cut short.
func TestRebuild(t *testing.T) {
	s := livingStore(t)
	ctx := context.Background()
	cfg, path := s.cfg, filepath.Join(s.cfg.Dir, stateFile)
	_, err := Rebuild(ctx, cfg, nil)
	require.ErrorIs(t, err, ErrLocked)
	want := dump(t, s.Store)
	last := s.end.Load()
	require.NoError(t, s.stop())
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	cancelled, cancel := context.WithCancel(ctx)
	_, err = Rebuild(cancelled, cfg, func(done, total uint64) {
		require.Equal(t, last, total)
		cancel()
	})
	require.ErrorIs(t, err, context.Canceled)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)

	require.NoError(t, os.WriteFile(path, []byte("garbage"), 0o600))
	result, err := Rebuild(ctx, cfg, nil)
	require.NoError(t, err)
	require.Positive(t, result.Records)
	require.Empty(t, result.Older)
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	same(t, want, dump(t, r))
	verifies(t, r)
	require.NoError(t, r.Close())
	_, err = Rebuild(ctx, testConfig(t.TempDir()), nil)
	require.ErrorIs(t, err, ErrNoStore)
}

// TestRebuild_powerCut makes state.db anew where Open cannot, behind a power cut that left the last commit in part.
func TestRebuild_powerCut(t *testing.T) {
	cfg := testConfig(t.TempDir())
	s := startIn(t, cfg)
	ctx := context.Background()
	for i := range 3 {
		s.append(life(fmt.Sprint("M", i), fmt.Sprint("id", i), "a text")...)
		require.NoError(t, s.Sync(ctx))
		require.NoError(t, s.settle(ctx))
	}
	end, before := s.end.Load(), t.TempDir()
	copyDir(t, cfg.Dir, before)
	s.append(message("M3", "", "nobody was answered"))
	require.NoError(t, s.Sync(ctx))
	require.NoError(t, s.settle(ctx))
	for _, tt := range []struct {
		name  string
		state []byte // nil = as it is
		lost  bool   // state.db has seen what is not whole
	}{
		{"which state.db has not seen", nil, false},
		{"and state.db is damaged", []byte("garbage"), false},
		{"which state.db has seen", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cut := cfg
			cut.Dir = t.TempDir()
			from := before
			if tt.lost {
				from = cfg.Dir
			}
			copyDir(t, from, cut.Dir)
			data, err := os.ReadFile(s.log.active().path)
			require.NoError(t, err)
			head := s.Head()
			data[bytes.LastIndex(data, head.Hash[:])] ^= 1
			require.NoError(t, os.WriteFile(filepath.Join(cut.Dir, s.log.active().name), data, 0o600))
			if tt.state != nil {
				require.NoError(t, os.WriteFile(filepath.Join(cut.Dir, stateFile), tt.state, 0o600))
			}
			result, err := Rebuild(ctx, cut, nil)
			if tt.lost {
				var damaged *DamagedError
				require.ErrorAs(t, err, &damaged)
				return
			}
			require.NoError(t, err)
			require.Equal(t, end, result.Records)
			clean(t, cut)
		})
	}
}

// TestRebuild_older names what an earlier parser decided.
func TestRebuild_older(t *testing.T) {
	cfg := testConfig(t.TempDir())
	s := start(t, cfg)
	ctx := context.Background()
	for i, parser := range []string{"0", "1"} {
		_, err := s.SetRules(ctx, rulesOf(parser))
		require.NoError(t, err)
		s.append(life(fmt.Sprint("M", i), fmt.Sprint("id", i), "a text")...)
	}
	require.NoError(t, s.stop())
	result, err := Rebuild(ctx, cfg, nil)
	require.NoError(t, err)
	require.Len(t, result.Older, 1)
	require.EqualValues(t, "M0", result.Older[0])
	clean(t, cfg)
}
