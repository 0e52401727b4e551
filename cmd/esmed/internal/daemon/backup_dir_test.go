package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

func TestWithin_followsLinks(t *testing.T) {
	base := t.TempDir()
	dir, link := filepath.Join(base, "dir"), filepath.Join(base, "link")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Symlink("dir", link))
	for _, tt := range []struct {
		path, dir string
		want      bool
	}{
		{dir, link, true}, {filepath.Join(link, "copy"), dir, true}, {filepath.Join(dir, "a", "copy"), link, true},
		{filepath.Join(base, "copy"), link, false}, {base, dir, false}, {filepath.Join(dir, "..", "copy"), dir, false},
	} {
		require.Equal(t, tt.want, within(tt.path, tt.dir), "%s in %s", tt.path, tt.dir)
	}
}

// A copy that found no room says what of: the disk, or open files.
func TestBackupError(t *testing.T) {
	require.ErrorIs(t, backupError("/copy", fmt.Errorf("x: %w", store.ErrDiskFull)), control.ErrDirectory)
	err := backupError("/copy", fmt.Errorf("x: %w", store.ErrNoFiles))
	require.NotErrorIs(t, err, control.ErrDirectory)
	require.ErrorIs(t, err, control.ErrUnavailable)
}

// TestBackup_wantsRoom first: beside data_dir it leaves what the daemon needs to go on.
func TestBackup_wantsRoom(t *testing.T) {
	dir := t.TempDir()
	b := &backend{store: heldStore(t, 10), dataDir: dir}
	require.NoError(t, b.roomFor(t.Context(), dir))
	now := time.Now()
	disk, size := store.Disk{Size: 1 << 62, Free: 1 << 61, FilesUnlimited: true}, int64(0)
	b.room = roomOf(&disk, &size)
	b.room.growth.steps = []growthStep{{now, 1 << 60}}
	b.room.measure(now)
	err := b.roomFor(t.Context(), dir)
	require.ErrorContains(t, err, "of which some are for what data_dir there still grows by")
	if _, err := os.Stat("/dev/shm"); err != nil || sameDisk("/dev/shm", dir) {
		t.Skip("no other file system is at hand")
	}
	require.NoError(t, b.roomFor(t.Context(), "/dev/shm"), "another disk is none of the daemon's")
}
