package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// guard runs fn, which calls bbolt, and turns what bbolt does on a damaged file (it panics, or reads
// where its memory map has nothing behind it) into a DamagedError. Other panics go on.
func guard(file string, fn func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			if !causedByDamage(p) {
				panic(p)
			}
			err = &DamagedError{File: file, Err: fmt.Errorf("%v", p)}
		}
	}()
	return fn()
}

// causedByDamage tells a fault in mapped memory, or a panic of bbolt's own, from a mistake of ours. It
// must be called by the deferred function that recovered p.
func causedByDamage(p any) bool {
	if _, ok := p.(interface{ Addr() uintptr }); ok {
		return true
	}
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return strings.HasPrefix(frame.Function, "go.etcd.io/bbolt")
		}
		if !more {
			return false
		}
	}
}

// openBolt opens a bbolt file that exists. It says ErrLocked at once when another process has it.
func openBolt(path, file string, options bbolt.Options) (*bbolt.DB, error) {
	if _, err := checkHeader(path, file); err != nil {
		return nil, err
	}
	return openBoltBy(os.OpenFile, path, file, options)
}

// openBoltBy is openBolt by what opens the file, whose header was looked at.
func openBoltBy(open func(string, int, os.FileMode) (*os.File, error), path, file string, options bbolt.Options) (db *bbolt.DB, err error) {
	options.FreelistType = bbolt.FreelistMapType
	options.NoStatistics = true
	options.Timeout = 1 // at once
	var opened *os.File
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := open(name, flag&^os.O_CREATE, mode)
		opened = f
		return f, err
	}
	err = guard(file, func() (err error) {
		db, err = bbolt.Open(path, 0o600, &options)
		return err
	})
	if err == nil {
		return db, nil
	}
	if opened != nil {
		opened.Close() // also after a panic, which leaves it open and locked
	}
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, ErrLocked
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return nil, &DamagedError{File: file, Err: err}
	}
	return nil, err
}

// createBolt makes a bbolt file whole or not at all: fill writes its first content under another name.
func createBolt(path, file string, options bbolt.Options, fill func(*bbolt.Tx) error) (*bbolt.DB, error) {
	tmp := path + tmpSuffix
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	db, err := bbolt.Open(tmp, 0o600, &bbolt.Options{NoFreelistSync: options.NoFreelistSync, PageSize: options.PageSize, NoStatistics: true})
	if err == nil {
		err = errors.Join(db.Update(fill), db.Close())
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(tmp)
		return nil, err
	}
	return openBolt(path, file, options)
}

// diskFull marks an error that says only that there was no room, on the disk or for another open file:
// nothing was made durable, and bbolt has put itself back to the last commit. What a failed fsync or
// anything else leaves is not known.
func diskFull(err error) error {
	var path *os.PathError
	var link *os.LinkError
	if errors.As(err, &path) && path.Op == "sync" || path == nil && !errors.As(err, &link) {
		return err
	}
	switch {
	case errors.Is(err, ErrDiskFull):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: %w", ErrNoFiles, err)
	}
	return err
}
