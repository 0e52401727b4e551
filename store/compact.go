package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// CompactProgress tells how far a compaction is.
type CompactProgress struct {
	File        string // that is being written anew, relative to data_dir
	Done, Total int64  // octets of its rows, about
}

// Compacted says what became of a file.
type Compacted struct {
	File          string
	Before, After int64 // octets on the disk
}

// Compact writes state.db and base.db anew without the pages that nothing is in, each beside the one that is there
// and then in its place. The log has no such pages. No daemon may run (ErrLocked). Each file needs room for a second one
// of what is in it, and leave octets more; ErrDiskFull when there is less. Whatever ends it before, the old file
// stays. progress may be nil.
func Compact(ctx context.Context, cfg Config, leave uint64, progress func(CompactProgress)) ([]Compacted, error) {
	s := newStore(cfg.withDefaults())
	err := s.openLogOnly()
	if err == nil {
		err = s.checkLogHolds()
	}
	var done []Compacted
	for _, file := range []string{stateFile, baseFile} {
		if err == nil {
			var one *Compacted
			if one, err = compactFile(ctx, cfg.Dir, file, leave, progress); one != nil {
				done = append(done, *one)
			}
		}
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return done, fmt.Errorf("store: compact: %w", diskFull(err))
	}
	return done, nil
}

// checkLogHolds refuses a state.db that has seen more than the log holds: there is something else to be done about it.
func (s *Store) checkLogHolds() error {
	m, err := s.metaBefore()
	if err == nil && m.cursor > s.log.last() {
		err = s.endsBefore(m.cursor)
	}
	return err
}

// CompactBase does for base.db what Compact does, while the store is in use: only retention and who begins a fold use
// that file, and they wait. It gives nil where there is none. state.db is read and written all the time, and stays.
func (s *Store) CompactBase(ctx context.Context, leave uint64, progress func(CompactProgress)) (*Compacted, error) {
	if s.readOnly() {
		return nil, fmt.Errorf("store: compact: %w", ErrReadOnly)
	}
	s.baseMu.Lock()
	defer s.baseMu.Unlock()
	if s.base.db != nil {
		err := s.base.db.Close()
		if s.base = (base{}); err != nil { // opened again by who needs it next
			return nil, fmt.Errorf("store: compact: %w", err)
		}
	}
	done, err := compactFile(ctx, s.cfg.Dir, baseFile, leave, progress)
	if err != nil {
		return nil, fmt.Errorf("store: compact: %w", diskFull(err))
	}
	return done, nil
}

// compactFile writes a file that nobody has open anew, and puts it in its place. nil: there is none.
func compactFile(ctx context.Context, dir, file string, leave uint64, progress func(CompactProgress)) (*Compacted, error) {
	path := filepath.Join(dir, file)
	before, err := usageOf(path)
	if err != nil || before.Bytes == 0 {
		return nil, err
	}
	used := before.Bytes - before.Free
	disk, err := DiskOf(dir)
	if err != nil {
		return nil, err
	}
	if need := uint64(used) + leave; disk.Free < need {
		return nil, fmt.Errorf("%w: %s needs %d octets to be written anew, %d are free", ErrDiskFull, file, need, disk.Free)
	}
	tmp := path + tmpSuffix
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	defer os.Remove(tmp) // of no effect once it was renamed
	from, err := openStateFile(path, file, bbolt.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	c := compaction{ctx: ctx, file: file, total: used, progress: progress}
	if err := errors.Join(c.copyTo(tmp, from), from.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp, path); err != nil {
		return nil, err
	}
	if err := syncDir(dir); err != nil {
		return nil, err
	}
	after, err := usageOf(path)
	return &Compacted{file, before.Bytes, after.Bytes}, err
}

// compactTx is how many octets of rows a transaction of the new file takes.
const compactTx = 16 << 20

// compaction is a file that is written anew.
type compaction struct {
	ctx      context.Context // of the one call that it serves
	file     string
	total    int64
	progress func(CompactProgress) // may be nil

	to      *bbolt.DB
	tx      *bbolt.Tx
	written int64 // octets of rows so far
	inTx    int64 // of these, in the transaction
}

// copyTo makes the new file durable under its temporary name.
func (c *compaction) copyTo(tmp string, from *bbolt.DB) (err error) {
	// Transactions are not made durable one by one: the file counts for nothing before all of it is.
	if c.to, err = bbolt.Open(tmp, 0o600, &bbolt.Options{NoSync: true, NoGrowSync: true, NoStatistics: true}); err != nil {
		return err
	}
	if err = c.fill(from); err == nil {
		err = c.to.Sync()
	}
	return errors.Join(err, c.to.Close())
}

func (c *compaction) fill(from *bbolt.DB) (err error) {
	if c.tx, err = c.to.Begin(true); err != nil {
		return err
	}
	err = guard(c.file, func() error {
		return from.View(func(tx *bbolt.Tx) error {
			return tx.ForEach(func(name []byte, b *bbolt.Bucket) error { return c.bucket([][]byte{name}, b) })
		})
	})
	if err != nil {
		_ = c.tx.Rollback() // of no effect where it was a commit that failed
		return err
	}
	return c.tx.Commit()
}

// bucket copies a bucket and those in it; path is its name behind those that it is in.
func (c *compaction) bucket(path [][]byte, from *bbolt.Bucket) error {
	to, err := c.open(path)
	if err != nil {
		return err
	}
	return from.ForEach(func(key, value []byte) error {
		if value == nil {
			return c.bucket(append(path[:len(path):len(path)], key), from.Bucket(key))
		}
		if c.inTx >= compactTx {
			if err := c.next(); err != nil {
				return err
			}
			if to, err = c.open(path); err != nil {
				return err
			}
		}
		size := int64(len(key) + len(value))
		c.written, c.inTx = c.written+size, c.inTx+size
		return to.Put(key, value)
	})
}

// open makes a bucket, or finds it in the transaction that is under way.
func (c *compaction) open(path [][]byte) (b *bbolt.Bucket, err error) {
	if b, err = c.tx.CreateBucketIfNotExists(path[0]); err != nil {
		return nil, err
	}
	for _, name := range path[1:] {
		if b, err = b.CreateBucketIfNotExists(name); err != nil {
			return nil, err
		}
	}
	b.FillPercent = sequentialFill
	return b, nil
}

// next begins another transaction.
func (c *compaction) next() (err error) {
	if err = c.ctx.Err(); err != nil {
		return err
	}
	if c.progress != nil {
		c.progress(CompactProgress{c.file, min(c.written, c.total), c.total})
	}
	if err = c.tx.Commit(); err != nil {
		return err
	}
	tx, err := c.to.Begin(true)
	if err == nil {
		c.tx, c.inTx = tx, 0
	}
	return err
}
