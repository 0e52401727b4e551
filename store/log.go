package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// journal is all that the store asks of its log, so that a replicated one can take the place of the
// segment files.
type journal interface {
	// append makes records durable as one commit, with its hash behind the last one; their seqs follow the
	// last one's. rules is the newest rules record among them behind its seq, nil when there is none.
	// After ErrDiskFull nothing has changed; after any other error nothing is known.
	append(at time.Time, values [][]byte, rules []byte) error
	// readFrom hands out records in order from seq on, until there are no more or fn says so. value is only
	// good until fn returns. No transaction is held for long, so fn may be slow.
	readFrom(seq uint64, fn func(seq uint64, value []byte) (more bool, err error)) error
	// dropBefore gives up some of the records before seq, as far as whole files hold nothing else. It says
	// whether it did anything: then there may be more to do. shrink gives back some of their room.
	dropBefore(seq uint64) (did bool, err error)
	shrink() (did bool, err error)
}

// readChunk is how many records one transaction hands out: a long one would keep bbolt from growing
// its memory map, and so the writer from committing.
const readChunk = 512

// segmentLog is the journal in files. One goroutine appends, any read.
type segmentLog struct {
	dir        string
	maxRecords uint64

	chain    chain
	lastAt   time.Time // of the last record when the log was opened
	rulesNow []byte    // value of the newest rules record, behind its seq; nil = none
	rolled   chan struct{}

	unsynced bool // segments are made durable by who closes the log
	cutShort bool // a commit that a power cut left in part was set aside when the log was opened

	durable atomic.Uint64 // seq of the last record; a segment shows the next commit before it is

	restored string // backup behind which the next record begins anew; "" = none

	mu       sync.RWMutex
	segments []*segment // ascending; the last is appended to

	stay sync.RWMutex // held for reading by who needs all files to stay as they are named
	sums sync.Mutex   // held while a segment's hash is noted in the one behind it
}

// openLog opens what is there. Records up to least are known to have been durable.
func openLog(dir string, write bool, maxRecords int, least uint64) (*segmentLog, error) {
	l := &segmentLog{dir: dir, maxRecords: uint64(maxRecords), rolled: make(chan struct{}, 1)}
	firsts, dropped, err := listSegments(dir)
	if err != nil {
		return nil, err
	}
	if l.cutShort, err = lookAtLast(dir, write, least); err != nil {
		return nil, err
	}
	for i, first := range firsts {
		if err := l.openNext(first, write && i == len(firsts)-1, dropped); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	l.durable.Store(l.last())
	return l, nil
}

// begin makes the first segment of a log that has none.
func (l *segmentLog) begin() error {
	if len(l.segments) > 0 {
		return nil
	}
	s, err := l.create(segmentHead{first: 1})
	if err == nil {
		l.segments = append(l.segments, s)
	}
	return err
}

// openNext opens the segment after those that are open, which it must follow without a gap.
func (l *segmentLog) openNext(first uint64, write bool, dropped bool) error {
	s, head, err := openSegment(l.dir, first, write, l.maxRecords)
	if err != nil {
		return err
	}
	l.segments = append(l.segments, s)
	var previous, next uint64 = 0, 1
	if n := len(l.segments); n > 1 {
		previous, next = l.segments[n-2].first, l.segments[n-2].last+1
		if s.backup != "" && s.after == l.segments[n-2].last {
			next += restoreGap
		}
	} else if dropped {
		previous, next = head.previous, first
	}
	switch {
	case head.previous != previous:
		return &DamagedError{File: segmentName(head.previous), Seq: head.previous, Err: errors.New("segment is missing")}
	case first != next:
		return s.damaged(next, fmt.Errorf("records %d to %d are missing before it", next, first-1))
	}
	l.chain, l.rulesNow = head.chain, head.rulesNow
	s.summed = head.sum != nil || len(l.segments) == 1
	return l.readTip(s)
}

// readTip brings the chain to the last record of a segment: to its commit, and to those that later ones
// will skip to, which are found by going the same way.
func (l *segmentLog) readTip(s *segment) error {
	if s.last < s.first {
		return nil
	}
	last, err := s.commitAt(s.last)
	if err != nil {
		return err
	}
	l.lastAt = last.at
	tip := link{last.number, skip{s.last, last.hash}}
	ways := skips{tip}
	for at := last.commit; at.number > 0 && skipTarget(at.number) > 0; at = last.commit {
		to := link{skipTarget(at.number), at.skip}
		if to.seq < s.first {
			break
		}
		if last, err = s.commitAt(to.seq); err != nil {
			return err
		}
		if last.number != to.number || last.hash != to.hash {
			return s.damaged(to.seq, errors.New("is not the commit that a later one skips to"))
		}
		ways = append(ways, to)
	}
	l.chain.head = tip.hash
	if tip.number == 0 {
		return nil
	}
	slices.Reverse(ways)
	l.chain.skips = append(l.chain.skips.below(skipTarget(ways[0].number)), ways...)
	return nil
}

// droppedMark in the log directory says that segments before the first were dropped on purpose.
const droppedMark = "dropped"

func listSegments(dir string) (firsts []uint64, dropped bool, err error) {
	files, err := os.ReadDir(filepath.Join(dir, logDir))
	if err != nil {
		return nil, false, err
	}
	for _, f := range files {
		first, ok := parseSegmentName(f.Name())
		switch {
		case ok:
			firsts = append(firsts, first)
		case f.Name() == droppedMark:
			dropped = true
		case filepath.Ext(f.Name()) != tmpSuffix && filepath.Ext(f.Name()) != retiredSuffix:
			return nil, false, &DamagedError{File: filepath.Join(logDir, f.Name()), Err: errors.New("not a log segment")}
		}
	}
	slices.Sort(firsts)
	return firsts, dropped, nil
}

// last is the seq of the last record; 0 when there is none. For who appends, and at open.
func (l *segmentLog) last() uint64 {
	if len(l.segments) == 0 {
		return 0
	}
	a := l.active()
	if a.last < a.first && a.backup != "" {
		return a.after
	}
	return a.last
}

// restoreGap is how much higher seqs go on from a backup: records that were made after it have others.
const restoreGap = 1 << 32

// next is the seq that the next record gets. For who appends.
func (l *segmentLog) next() uint64 {
	if l.restored != "" {
		return l.last() + 1 + restoreGap
	}
	return l.active().last + 1
}

func (l *segmentLog) active() *segment { return l.segments[len(l.segments)-1] }

// append commits records that were made at the given time.
func (l *segmentLog) append(at time.Time, values [][]byte, rules []byte) error {
	if a := l.active(); l.restored != "" || !a.appendable() || a.full(l.maxRecords, at) {
		if err := l.roll(); err != nil {
			return diskFull(err)
		}
	}
	first, n := l.next(), len(values)
	for i, value := range values {
		l.chain.add(hashRecord(first+uint64(i), value))
	}
	last := first + uint64(n) - 1
	made := l.chain.next(last)
	values[n-1] = appendCommit(values[n-1], made)
	if err := l.active().append(first, values, rules, made.hash); err != nil {
		l.chain.abandon()
		return err
	}
	if a := l.active(); a.firstAt.IsZero() {
		a.firstAt = at
	}
	l.chain.follow(made, last)
	l.durable.Store(last)
	if rules != nil {
		l.rulesNow = rules
	}
	return nil
}

// roll begins a new segment. The one before stays open for readers.
func (l *segmentLog) roll() error {
	head := segmentHead{first: l.next(), previous: l.active().first, chain: l.chain, rules: l.rulesNow, rulesNow: l.rulesNow}
	if l.restored != "" {
		head.backup, head.after = l.restored, l.last()
	}
	s, err := l.create(head)
	if err != nil {
		return err
	}
	l.restored = ""
	l.mu.Lock()
	l.segments = append(l.segments, s)
	l.mu.Unlock()
	select {
	case l.rolled <- struct{}{}:
	default:
	}
	return nil
}

func (l *segmentLog) create(head segmentHead) (*segment, error) {
	s, err := createSegment(l.dir, head, l.maxRecords)
	if err == nil {
		s.unsynced, s.db.NoGrowSync = l.unsynced, l.unsynced
	}
	return s, err
}

// hashSegments puts the SHA-256 of each closed segment into the one behind it, oldest first, so that no
// commit waits for it; until done is closed.
func (l *segmentLog) hashSegments(done <-chan struct{}) error {
	for {
		segments := l.from(0)
		for i, later := 1, false; i < len(segments) && !later; i++ {
			var err error
			if later, err = l.putSum(segments[i], segments[i-1]); err != nil {
				return err
			}
		}
		select {
		case <-l.rolled:
		case <-done:
			return nil
		}
	}
}

// putSum notes the hash of a segment in the one behind it, while both stay. later says that there was no room: until
// there is, that file is not as it will be, and the one behind it must wait.
func (l *segmentLog) putSum(s, before *segment) (later bool, err error) {
	l.sums.Lock()
	defer l.sums.Unlock()
	if s.summed || before.retired || s.retired || s.db.IsReadOnly() {
		return false, nil
	}
	err = s.putSum(before.path)
	return err == nil && !s.summed, err
}

// from gives the segments that may hold records from seq on.
func (l *segmentLog) from(seq uint64) []*segment {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, found := slices.BinarySearchFunc(l.segments, seq, func(s *segment, seq uint64) int {
		switch {
		case s.first < seq:
			return -1
		case s.first > seq:
			return 1
		}
		return 0
	})
	if !found && i > 0 {
		i--
	}
	return l.segments[i:len(l.segments):len(l.segments)]
}

// fileOf names the segment that holds a record.
func (l *segmentLog) fileOf(seq uint64) string {
	if segments := l.from(seq); len(segments) > 0 {
		return segments[0].name
	}
	return logDir
}

func (l *segmentLog) readFrom(seq uint64, fn func(uint64, []byte) (bool, error)) error {
	end := l.durable.Load()
	for _, s := range l.from(seq) {
		for done := false; !done; {
			n := 0
			stopped := false
			err := s.read(seq, func(at uint64, value []byte) (bool, error) {
				if at > end {
					stopped = true
					return false, nil
				}
				more, err := fn(at, value)
				seq, n, stopped = at+1, n+1, !more
				return more && n < readChunk, err
			})
			if errors.Is(err, errRetired) {
				break // goes on with what is left
			}
			if err != nil || stopped {
				return err
			}
			done = n < readChunk
		}
	}
	return nil
}

func (l *segmentLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	for i, s := range l.segments {
		closed := s.db.Close()
		if closed == nil && i == len(l.segments)-1 && s.appendable() && s.single {
			closed = settleClosed(s.path)
		}
		err = errors.Join(err, closed)
	}
	l.segments = nil
	return err
}
