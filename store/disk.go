package store

import (
	"fmt"
	"syscall"
)

// Disk says how much room a file system has, in octets.
type Disk struct {
	Free  uint64 // for a process without privileges
	Size  uint64
	Files uint64 // that can still be made; 0 with FilesUnlimited
	// FilesUnlimited says that the file system sets no number of files (btrfs, for one).
	FilesUnlimited bool
}

// DiskOf asks the file system that a path is on, which must be there.
func DiskOf(path string) (Disk, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return Disk{}, fmt.Errorf("store: disk: %s: %w", path, err)
	}
	size := uint64(fs.Bsize)
	return Disk{Free: fs.Bavail * size, Size: fs.Blocks * size, Files: fs.Ffree, FilesUnlimited: fs.Files == 0}, nil
}
