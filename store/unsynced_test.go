package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnsynced_leaves_a_store_like_any_other(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.Unsynced = true
	cfg.SegmentRecords = 10 // several files
	s := fillWith(t, cfg, 20)
	require.NoError(t, s.stop())
	require.NoFileExists(t, filepath.Join(cfg.Dir, unsyncedFile))

	cfg.Unsynced = false
	s = startIn(t, cfg)
	stat, err := s.Stat(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 20, stat.Messages)
	require.False(t, s.state.NoSync)
	s.append(life("M1", "5A3C99F1", "a text")...)
}

func TestUnsynced_is_refused_until_it_was_closed(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.Unsynced = true
	s := fillWith(t, cfg, 20)
	copied := testConfig(t.TempDir())
	copyDir(t, cfg.Dir, copied.Dir)
	for name, open := range map[string]func(Config) (*Store, error){"for the daemon": Open, "for reading": OpenReadOnly} {
		_, err := open(copied)
		var damaged *DamagedError
		require.True(t, errors.As(err, &damaged), "%s: %v", name, err)
		require.Equal(t, unsyncedFile, damaged.File)
	}
	require.NoError(t, s.stop())
}

func TestUnsynced_takes_only_an_empty_directory(t *testing.T) {
	cfg := testConfig(t.TempDir())
	require.NoError(t, start(t, cfg).stop())
	before := files(t, cfg.Dir)
	cfg.Unsynced = true
	_, err := Open(cfg)
	require.ErrorContains(t, err, "not empty")
	require.Equal(t, before, files(t, cfg.Dir))
}
