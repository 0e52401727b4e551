package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Names in data_dir.
const (
	logDir    = "log"
	keysDir   = "keys"
	stateFile = "state.db"
	tmpSuffix = ".tmp" // what was being made when the process ended; never read
)

// A daemon that starts waits so long for another that is ending, and for commands that read the directory at that
// moment, and looks so often. Reading may be long where much has to be folded, or verified; a start that gave up
// on it would fail as often as it is tried, until the service manager gives up too.
const (
	lockPatience   = time.Second
	readerPatience = 30 * time.Second
	lockEvery      = 10 * time.Millisecond
)

// lockDir takes data_dir itself as the lock, so that there is no file that could be missing or foreign.
// It lasts until the file is closed.
func lockDir(path string, shared bool) (*os.File, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for began := time.Now(); ; time.Sleep(lockEvery) {
		err := syscall.Flock(int(d.Fd()), how|syscall.LOCK_NB)
		switch waited := time.Since(began); {
		case err == nil:
			return d, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(fmt.Errorf("lock: %w", err), d.Close())
		case shared, waited >= readerPatience, waited >= lockPatience && !onlyRead(d):
			return nil, errors.Join(ErrLocked, d.Close())
		}
	}
}

// onlyRead says whether nobody has the directory but for reading.
func onlyRead(d *os.File) bool {
	if syscall.Flock(int(d.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		return false
	}
	return syscall.Flock(int(d.Fd()), syscall.LOCK_UN) == nil
}

// openFile opens a file of the store. What stands in its place that is none is damage: a pipe would be waited for.
func openFile(path string, flag int) (*os.File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if link, _ := exists(path); !link {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil, &DamagedError{File: filepath.Base(path), Err: errors.New("is not a regular file")}
	}
	return os.OpenFile(path, flag, 0)
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeSynced writes a file anew and makes it durable.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// writeOver writes over the beginning of a file where it stands on the disk, and makes that durable.
func writeOver(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Sync(), f.Close())
}

// makeDir makes a directory that survives a crash; it may exist.
func makeDir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return syncDir(filepath.Dir(path))
}

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
