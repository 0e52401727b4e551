package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"syscall"
	"time"

	"esmed/statemachine"
)

// Usage says what the store takes of the disk, and since when it has what it has. Sizes are octets.
type Usage struct {
	Log      int64 // on the disk, with what was dropped and is not given back yet
	Segments []SegmentUsage
	State    FileUsage // state.db
	Base     FileUsage // base.db; zero: there is none
	Keys     int64

	First, Last    uint64    // seqs of the oldest and the newest record; 0 = there is none
	Oldest, Newest time.Time // when these were made

	Messages                     int64
	States                       map[statemachine.State]int64 // how many messages are in each; none for those without
	OldestMessage, NewestMessage time.Time                    // when these were accepted; zero: there is none
}

// FileUsage is of a bbolt file.
type FileUsage struct {
	Bytes int64 // on the disk
	Free  int64 // of these, in pages that nothing is in: used before the file grows, given back by Compact
}

// SegmentUsage is of a file of the log.
type SegmentUsage struct {
	First, Last uint64 // Last < First: it holds none
	Bytes       int64  // in use
	Newest      time.Time
}

// Records is how many records the log holds.
func (u *Usage) Records() (n uint64) {
	for _, s := range u.Segments {
		n += s.Last + 1 - s.First
	}
	return n
}

// Usage measures. It does not wait for the applier.
func (s *Store) Usage(ctx context.Context) (Usage, error) {
	u := Usage{Last: s.end.Load(), Newest: s.Head().At, States: map[statemachine.State]int64{}}
	err := s.usageOfFiles(&u)
	if err == nil {
		err = s.usageOfLog(ctx, &u)
	}
	if err == nil {
		err = s.usageOfMessages(&u)
	}
	if err != nil {
		return u, fmt.Errorf("store: usage: %w", err)
	}
	return u, nil
}

func (s *Store) usageOfFiles(u *Usage) (err error) {
	if u.Log, err = onDisk(filepath.Join(s.cfg.Dir, logDir)); err != nil {
		return err
	}
	if u.Keys, err = onDisk(s.keys.dir); err != nil {
		return err
	}
	if u.State, err = usageOf(filepath.Join(s.cfg.Dir, stateFile)); err != nil {
		return err
	}
	u.Base, err = usageOf(s.basePath())
	return err
}

// usageOfLog reads the ends of the segments.
func (s *Store) usageOfLog(ctx context.Context, u *Usage) error {
	segments := s.log.from(0)
	for i, segment := range segments {
		one := SegmentUsage{First: segment.first, Last: u.Last, Bytes: segment.bytes.Load()}
		if i+1 < len(segments) {
			one.Last = segments[i+1].lastBefore()
		}
		if one.Last >= one.First {
			at, err := s.madeAt(one.Last)
			if errors.Is(err, ErrNotFound) {
				continue // dropped just now
			}
			if err != nil {
				return err
			}
			one.Newest = at
		} else {
			one.Last = one.First - 1
		}
		u.Segments = append(u.Segments, one)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if len(u.Segments) == 0 || u.Records() == 0 {
		return nil
	}
	u.First = u.Segments[0].First
	at, err := s.madeAt(u.First)
	if u.Oldest = at; errors.Is(err, ErrNotFound) {
		return nil // likewise
	}
	return err
}

// lastBefore is the last seq before a segment.
func (s *segment) lastBefore() uint64 {
	if s.backup != "" {
		return s.after
	}
	return s.first - 1
}

// madeAt is when the first record from seq on was made; ErrNotFound when there is none.
func (s *Store) madeAt(seq uint64) (at time.Time, err error) {
	err = s.journal.readFrom(seq, func(_ uint64, value []byte) (bool, error) {
		o, err := readOutline(value)
		at = o.at
		return false, err
	})
	if err == nil && at.IsZero() {
		err = ErrNotFound
	}
	return at, err
}

func (s *Store) usageOfMessages(u *Usage) error {
	return s.view(func(tx *stateTx) error {
		parts, err := readPartitions(tx)
		for _, p := range parts {
			if p.messages == 0 {
				continue
			}
			u.Messages += int64(p.messages)
			for state, n := range p.states {
				if n > 0 {
					u.States[statemachine.State(state)] += int64(n)
				}
			}
			if u.OldestMessage.IsZero() || p.firstAt.Before(u.OldestMessage) {
				u.OldestMessage = p.firstAt
			}
			if p.lastAt.After(u.NewestMessage) {
				u.NewestMessage = p.lastAt
			}
		}
		return err
	})
}

// Since says how many of the log's records, and about how many of its octets, are of since and later: those of
// a segment count in proportion to its records.
func (s *Store) Since(u *Usage, since time.Time) (records uint64, bytes int64, err error) {
	for _, one := range u.Segments {
		n := int(one.Last + 1 - one.First)
		if n == 0 || one.Newest.Before(since) {
			continue
		}
		older := sort.Search(n, func(i int) bool {
			at, failed := s.madeAt(one.First + uint64(i))
			if failed != nil && !errors.Is(failed, ErrNotFound) {
				err = failed
			}
			return !at.Before(since)
		})
		if err != nil {
			return 0, 0, fmt.Errorf("store: usage: %w", err)
		}
		records += uint64(n - older)
		bytes += int64(float64(one.Bytes) * float64(n-older) / float64(n))
	}
	return records, bytes, nil
}

// onDisk is what the files of a directory take; one that goes meanwhile takes nothing.
func onDisk(dir string) (sum int64, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		switch info, err := f.Info(); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return sum, err
		default:
			sum += blocks(info)
		}
	}
	return sum, nil
}

// blocks is what a file takes: bbolt's are longer, with holes at their end.
func blocks(info fs.FileInfo) int64 {
	const block = 512 // stat(2): whatever the file system's is
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * block
	}
	return info.Size()
}

// usageOf measures a bbolt file whose freelist is synced, which may be written meanwhile; zero when there is none.
func usageOf(path string) (u FileUsage, err error) {
	f, err := openFile(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return u, nil
	}
	if err != nil {
		return u, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return u, err
	}
	u.Bytes = blocks(info)
	for range freelistTries {
		m, _, err := readMetas(f)
		if err != nil {
			return u, &DamagedError{File: filepath.Base(path), Err: err}
		}
		if pages, ok := m.freePages(f); ok {
			u.Free = min(int64(pages)*int64(m.pageSize), u.Bytes)
			break
		}
	}
	return u, nil
}

// freelistTries is how often a freelist is looked for: what a meta page leads to is written over once two later
// transactions have been made.
const freelistTries = 3

// freePages reads how many pages the freelist has. It is false where the page is none, or not any more.
func (m boltMeta) freePages(f *os.File) (pages uint64, ok bool) {
	const noFreelist = ^uint64(0)
	if m.freelist == noFreelist {
		return 0, true
	}
	var b [pageHeader + 8]byte
	if _, err := f.ReadAt(b[:], int64(m.freelist)*int64(m.pageSize)); err != nil {
		return 0, false
	}
	if le.Uint64(b[:]) != m.freelist || le.Uint16(b[8:])&freelistPage == 0 {
		return 0, false
	}
	if pages = uint64(le.Uint16(b[10:])); pages == 0xFFFF { // then the first element says how many follow
		pages = le.Uint64(b[pageHeader:])
	}
	return pages, true
}
