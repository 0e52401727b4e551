package store

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOpen_whatIsNoFile finds a pipe, a directory or a link to nothing in place of a file, and waits for none of them.
func TestOpen_whatIsNoFile(t *testing.T) {
	filled := filledDir(t)
	segments, err := filepath.Glob(filepath.Join(filled.Dir, logDir, "*"))
	require.NoError(t, err)
	open := func(cfg Config) error {
		s, err := Open(cfg)
		if err == nil {
			require.NoError(t, s.Close())
		}
		return err
	}
	read := func(cfg Config) error {
		s, err := OpenReadOnly(cfg)
		if err == nil {
			require.NoError(t, s.Close())
		}
		return err
	}
	compact := func(cfg Config) error {
		_, err := Compact(context.Background(), cfg, 0, nil)
		return err
	}
	rebuild := func(cfg Config) error {
		_, err := Rebuild(context.Background(), cfg, nil)
		return err
	}
	for _, tt := range []struct {
		file   string // in data_dir
		refuse map[string]func(Config) error
	}{
		{stateFile, map[string]func(Config) error{"open": open, "read": read, "compact": compact}},
		{filepath.Join(logDir, filepath.Base(segments[len(segments)-1])),
			map[string]func(Config) error{"open": open, "read": read, "compact": compact, "rebuild": rebuild}},
	} {
		for what, put := range map[string]func(path string) error{
			"pipe":            func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"directory":       func(path string) error { return os.Mkdir(path, 0o700) },
			"link to nothing": func(path string) error { return os.Symlink("nowhere", path) },
		} {
			dir := t.TempDir()
			copyDir(t, filled.Dir, dir)
			path := filepath.Join(dir, tt.file)
			require.NoError(t, os.Remove(path))
			require.NoError(t, put(path))
			for name, refuse := range tt.refuse {
				var damaged *DamagedError
				require.ErrorAs(t, refuse(testConfig(dir)), &damaged, "%s: a %s for %s", name, what, tt.file)
				require.Equal(t, filepath.Base(tt.file), damaged.File)
			}
		}
	}
}

// TestCompact_leavesWhatIsNotWhole refuses a store that has lost its keys or its log: state.db may be all there is.
func TestCompact_leavesWhatIsNotWhole(t *testing.T) {
	filled := filledDir(t)
	for _, lost := range []string{keysDir, filepath.Join(logDir, "*")} {
		dir := t.TempDir()
		copyDir(t, filled.Dir, dir)
		found, err := filepath.Glob(filepath.Join(dir, lost))
		require.NoError(t, err)
		for _, path := range found {
			require.NoError(t, os.RemoveAll(path))
		}
		state, err := os.ReadFile(filepath.Join(dir, stateFile))
		require.NoError(t, err)
		var damaged *DamagedError
		_, err = Compact(context.Background(), testConfig(dir), 0, nil)
		require.ErrorAs(t, err, &damaged, "compact without %s", lost)
		_, err = Rebuild(context.Background(), testConfig(dir), nil)
		require.ErrorAs(t, err, &damaged, "rebuild without %s", lost)
		now, err := os.ReadFile(filepath.Join(dir, stateFile))
		require.NoError(t, err)
		require.Equal(t, state, now)
	}
}
