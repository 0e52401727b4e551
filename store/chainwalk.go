package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"
)

// chain checks the log by itself: the files of a segment, its pages first, while the records of the one
// before are hashed.
func (v *verifier) chain(ctx context.Context) error {
	w := chainWalk{v: v, segments: v.s.log.from(0)}
	sound := make(chan int, len(w.segments))
	var files, records error
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(sound)
		files = w.files(ctx, sound)
		return nil // the records of the segments before are checked all the same
	})
	g.Go(func() error {
		records = w.allRecords(ctx, sound)
		return records
	})
	_ = g.Wait()
	if records != nil {
		return records
	}
	if files == nil && v.end > 0 && w.next <= v.end {
		return w.segments[len(w.segments)-1].damaged(w.next, errors.New("record is missing"))
	}
	return files
}

// chainWalk is where a walk through the log stands.
type chainWalk struct {
	v        *verifier
	segments []*segment

	next   uint64 // seq that must come
	chain  chain
	within bool      // a commit that is not over
	at     time.Time // of the last record
	rules  []byte    // in force, as heads keep them
}

// files checks pages and SHA-256 of the segments, and hands on those whose records can be read.
func (w *chainWalk) files(ctx context.Context, sound chan<- int) error {
	for i, s := range w.segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.db.IsReadOnly() {
			if err := checkPages(s.path, s.name, true); err != nil {
				return err
			}
		}
		if i > 0 {
			if err := checkSum(w.segments[i-1], s); err != nil {
				return s.damaged(s.first, errors.Join(w.spoilt(i), err))
			}
		}
		sound <- i
	}
	return nil
}

// spoilt says when it is segment i itself that is not what the one behind it noted: then what i noted of the one
// before may be what was changed.
func (w *chainWalk) spoilt(i int) error {
	if i+1 == len(w.segments) {
		return nil
	}
	return checkSum(w.segments[i], w.segments[i+1])
}

// checkSum compares the file of a segment with what the one behind it noted.
func checkSum(before, s *segment) error {
	head, err := s.head()
	if err != nil || head.sum == nil {
		return err // without a sum the process ended before it was computed
	}
	sum, err := fileSum(before.path)
	if err != nil {
		return err
	}
	if !bytes.Equal(sum, head.sum) {
		return &DamagedError{File: before.name, Seq: before.first, Err: errors.New("SHA-256 of the file is not the one that was noted")}
	}
	return nil
}

func (w *chainWalk) allRecords(ctx context.Context, sound <-chan int) error {
	for i := range sound {
		s := w.segments[i]
		if err := w.segment(ctx, i, s); err != nil {
			return s.damaged(w.next, err)
		}
		w.v.result.Segments++
	}
	return nil
}

func (w *chainWalk) segment(ctx context.Context, i int, s *segment) error {
	head, err := s.head()
	if err != nil {
		return err
	}
	if i == 0 {
		err = w.begin(head)
	} else {
		err = w.follows(head, w.segments[i-1])
	}
	switch {
	case err != nil:
		return err
	case head.first != s.first:
		return errors.New("head names another first record")
	}
	if err := w.records(ctx, s); err != nil {
		return err
	}
	if i == len(w.segments)-1 && !w.v.s.readOnly() {
		return nil // its head may be newer than where the walk ends
	}
	if !bytes.Equal(head.rulesNow, w.rules) {
		return errors.New("newest rules in the head are not those of the records")
	}
	return nil
}

// begin takes what the log's first segment says of the records before it, which are no more.
func (w *chainWalk) begin(head segmentHead) error {
	w.next, w.chain, w.rules = head.first, head.chain, head.rules
	if head.previous == 0 && (head.chain.head != (hash{}) || len(head.chain.skips) > 0) {
		return errors.New("the first chain head is not zero")
	}
	return nil
}

// follows checks a head against the segment before.
func (w *chainWalk) follows(head segmentHead, before *segment) error {
	if head.backup != "" && head.after+1 == w.next {
		w.next += restoreGap
	}
	switch {
	case head.previous != before.first:
		return errors.New("head names another segment before it")
	case head.first != w.next:
		return errors.New("records are missing before it")
	case head.chain.head != w.chain.head:
		return errors.New("chain head is not the last commit's hash")
	case head.format > 1 && !bytes.Equal(head.chain.skips.append(nil), w.chain.skips.append(nil)):
		return errors.New("skips in the head are not those of the commits")
	case !bytes.Equal(head.rules, w.rules):
		return errors.New("rules in the head are not those in force")
	}
	return nil
}

func (w *chainWalk) records(ctx context.Context, s *segment) error {
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := 0
		err := s.read(w.next, func(seq uint64, value []byte) (bool, error) {
			if seq > w.v.end {
				return false, nil
			}
			n++
			return n < readChunk, w.record(s, seq, value)
		})
		if err != nil {
			return err
		}
		w.v.progress(VerifyProgress{"chain", w.v.result.Records, w.v.end})
		done = n < readChunk
	}
	if w.within {
		return s.damaged(w.next-1, errors.New("ends within a commit"))
	}
	return nil
}

func (w *chainWalk) record(s *segment, seq uint64, value []byte) error {
	o, err := readOutline(value)
	switch {
	case seq != w.next:
		return fmt.Errorf("record is missing: %d comes next", seq)
	case err != nil:
		return err
	case o.at.Before(w.at):
		return errors.New("time goes back")
	}
	w.chain.add(hashRecord(seq, o.body))
	if w.within = !o.ends; o.ends {
		if err := w.commit(s.format, seq, o.commit); err != nil {
			return err
		}
		w.v.result.Commits++
	}
	if o.fact == factRules {
		w.rules = rulesHead(seq, o.body)
	}
	w.at, w.next = o.at, seq+1
	w.v.result.Records++
	return nil
}

// commit checks what a commit ends with. Those of a format 1 segment have neither number nor skip.
func (w *chainWalk) commit(format, seq uint64, stored commit) error {
	want := w.chain.next(seq)
	if format == 1 {
		want = commit{}
		want.hash = want.sum(w.chain.head, seq, w.chain.records)
	}
	switch {
	case stored.number != want.number:
		return errors.New("number of the commit that ends here is not the next one")
	case stored.skip != want.skip:
		return errors.New("the commit that ends here skips to another than it should")
	case stored.hash != want.hash:
		return errors.New("hash of the commit that ends here is not the one stored")
	}
	w.chain.follow(stored, seq)
	return nil
}

// head reads what a segment begins with.
func (s *segment) head() (head segmentHead, err error) {
	err = s.view(func(tx *bbolt.Tx) (err error) {
		head, err = readHead(tx)
		return err
	})
	return head, err
}
