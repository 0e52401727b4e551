package store

import (
	"os"
	"syscall"
)

// tmpfile opens a file that has no name: it is gone with the process, however that ends (open(2), O_TMPFILE).
const tmpfile = 0x400000 | syscall.O_DIRECTORY

// spill gives octets that are zero and lie in a file without a name in a directory, so that they are page cache, which
// the system can write out when it needs the memory, and not the process's own. All of the file's blocks are taken
// before: a disk that fills up later cannot end the process. nil where that cannot be had: on a full disk, in a
// directory that cannot be written, in a file system that has no such files. They are given back with syscall.Munmap.
func spill(dir string, size int) []byte {
	f, err := os.OpenFile(dir, os.O_RDWR|tmpfile, 0o600)
	if err != nil {
		return nil
	}
	defer f.Close() // what is mapped stays
	fd := int(f.Fd())
	if err := syscall.Fallocate(fd, 0, 0, int64(size)); err != nil {
		return nil
	}
	b, err := syscall.Mmap(fd, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}
