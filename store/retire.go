package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A segment that is dropped is renamed first: from then on no start of a store opens it. Then it is closed,
// once nobody reads it, and only then made shorter, some at a time: cutting a file that is mapped into memory
// is a SIGBUS for who reads it, and giving back a gigabyte at once makes every fsync of the disk wait.
const (
	retiredSuffix = ".retired"
	retireStep    = 16 << 20
)

// errRetired says that a segment was dropped while its reader was between two transactions.
var errRetired = errors.New("segment was dropped")

// dropBefore retires the oldest segment that ends before seq. The active one stays. It does nothing while
// somebody needs all files.
func (l *segmentLog) dropBefore(seq uint64) (did bool, err error) {
	if !l.stay.TryLock() {
		return false, nil
	}
	defer l.stay.Unlock()
	l.sums.Lock()
	defer l.sums.Unlock()
	segments := l.from(0)
	if len(segments) < 2 || segments[1].first > seq {
		return false, nil
	}
	if err := l.mark(); err != nil {
		return false, err
	}
	return l.retire(segments[0])
}

// mark says that what is missing before the first segment is missing on purpose.
func (l *segmentLog) mark() error {
	path := filepath.Join(l.dir, logDir, droppedMark)
	if there, err := exists(path); there || err != nil {
		return err
	}
	if err := writeSynced(path, nil); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// retire takes the oldest segment away, unless somebody reads it just now.
func (l *segmentLog) retire(s *segment) (did bool, err error) {
	if !s.mu.TryLock() {
		return false, nil
	}
	defer s.mu.Unlock()
	if err := os.Rename(s.path, s.path+retiredSuffix); err != nil {
		return false, err
	}
	s.retired = true
	l.mu.Lock()
	l.segments = l.segments[1:]
	l.mu.Unlock()
	return true, errors.Join(s.db.Close(), syncDir(filepath.Dir(s.path)))
}

// shrink cuts a piece off a retired segment, and removes it when nothing is left.
func (l *segmentLog) shrink() (did bool, err error) {
	dir := filepath.Join(l.dir, logDir)
	left, err := filepath.Glob(filepath.Join(dir, "*"+retiredSuffix))
	if len(left) == 0 || err != nil {
		return false, err
	}
	info, err := os.Stat(left[0])
	if err != nil {
		return false, err
	}
	if info.Size() > retireStep {
		return true, os.Truncate(left[0], info.Size()-retireStep)
	}
	if err := os.Remove(left[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, syncDir(dir)
}
