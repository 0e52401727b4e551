package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// VerifyProgress tells how far Verify is.
type VerifyProgress struct {
	Phase       string // chain | fold | compare
	Done, Total uint64 // records; while comparing, tables
}

// VerifyResult is what Verify found.
type VerifyResult struct {
	Records  uint64
	Commits  uint64
	Segments int
	// TakenStored counts receptions whose text's key was destroyed. What was decided of them cannot be
	// decided again where it rested on the text, and is taken as stored.
	TakenStored uint64
	Difference  *DamagedError // the first one; nil when all agrees
}

// Verify reads everything: the keys' checks, the pages of closed files, the hash chain, the heads and
// file hashes of the segments; then it folds the log anew into a scratch file (in the system's directory
// for temporary files, as large as state.db) and compares every table with it. A running store goes on
// meanwhile: the applier stands still only while a few hundred rows are compared. progress may be nil.
func (s *Store) Verify(ctx context.Context, progress func(VerifyProgress)) (VerifyResult, error) {
	v := verifier{s: s, progress: progress, end: s.end.Load()}
	if v.progress == nil {
		v.progress = func(VerifyProgress) {}
	}
	err := s.Sync(ctx)
	for _, step := range []func(context.Context) error{v.keys, v.chain, v.projection} {
		if err == nil {
			err = step(ctx)
		}
	}
	if errors.As(err, &v.result.Difference) {
		return v.result, nil
	}
	if err != nil {
		return v.result, fmt.Errorf("store: verify: %w", err)
	}
	return v.result, nil
}

type verifier struct {
	s        *Store
	progress func(VerifyProgress)
	end      uint64 // of the log when it began
	result   VerifyResult
}

func (v *verifier) keys(context.Context) error { return v.s.keys.check(math.MaxInt) }

// chain checks the log by itself.
func (v *verifier) chain(ctx context.Context) error {
	segments := v.s.log.from(0)
	w := chainWalk{v: v}
	for i, segment := range segments {
		if segment.db.IsReadOnly() {
			if err := checkPages(segment.path, segment.name, true); err != nil {
				return err
			}
		}
		var before *segmentState
		if i > 0 {
			before = &segmentState{segments[i-1].path, segments[i-1].name, segments[i-1].first}
		}
		if err := w.segment(ctx, segment, before, i == len(segments)-1); err != nil {
			return segment.damaged(w.next, err)
		}
		v.result.Segments++
	}
	if v.end > 0 && w.next <= v.end {
		return segments[len(segments)-1].damaged(w.next, errors.New("record is missing"))
	}
	return nil
}

type segmentState struct {
	path, name string
	first      uint64
}

// chainWalk is where a walk through the log stands.
type chainWalk struct {
	v      *verifier
	next   uint64 // seq that must come
	chain  *chain
	head   hash // of the last commit
	within bool // a commit that is not over
	last   entry
	rules  []byte // in force, as heads keep them
}

func (w *chainWalk) segment(ctx context.Context, segment *segment, before *segmentState, active bool) error {
	var head segmentHead
	err := segment.view(func(tx *bbolt.Tx) (err error) {
		head, err = readHead(tx)
		return err
	})
	if err != nil {
		return err
	}
	if before == nil {
		w.next, w.head, w.rules, w.chain = segment.first, head.chain, head.rules, newChain(head.chain)
		if head.previous == 0 && head.chain != (hash{}) {
			return errors.New("the first chain head is not zero")
		}
	} else if err := w.follows(head, before); err != nil {
		return err
	}
	if head.first != segment.first {
		return errors.New("head names another first record")
	}
	if err := w.records(ctx, segment); err != nil {
		return err
	}
	if active && !w.v.s.readOnly() {
		return nil // its head may be newer than where the walk ends
	}
	if !bytes.Equal(head.rulesNow, w.rules) {
		return errors.New("newest rules in the head are not those of the records")
	}
	return nil
}

// follows checks a head against the segment before.
func (w *chainWalk) follows(head segmentHead, before *segmentState) error {
	switch {
	case head.previous != before.first:
		return errors.New("head names another segment before it")
	case head.first != w.next:
		return errors.New("records are missing before it")
	case head.chain != w.head:
		return errors.New("chain head is not the last commit's hash")
	case !bytes.Equal(head.rules, w.rules):
		return errors.New("rules in the head are not those in force")
	}
	if head.sum == nil {
		return nil // the process ended before it was computed
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

func (w *chainWalk) records(ctx context.Context, segment *segment) error {
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := 0
		err := segment.read(w.next, func(seq uint64, value []byte) (bool, error) {
			if seq > w.v.end {
				return false, nil
			}
			n++
			return n < readChunk, w.record(seq, value)
		})
		if err != nil {
			return err
		}
		w.v.progress(VerifyProgress{"chain", w.v.result.Records, w.v.end})
		done = n < readChunk
	}
	if w.within {
		return errors.New("ends within a commit")
	}
	return nil
}

func (w *chainWalk) record(seq uint64, value []byte) error {
	e, err := decodeRecord(seq, value)
	switch {
	case seq != w.next:
		return fmt.Errorf("record is missing: %d comes next", seq)
	case err != nil:
		return err
	case e.At.Before(w.last.At):
		return errors.New("time goes back")
	}
	w.chain.add(e.hash)
	w.within = e.commit == nil
	if e.commit != nil {
		w.head = w.chain.end()
		if w.head != *e.commit {
			return errors.New("hash of the commit that ends here is not the one stored")
		}
		w.v.result.Commits++
	}
	if _, ok := e.Fact.(*statemachine.Rules); ok {
		w.rules = rulesHead(seq, value[:e.size])
	}
	w.last, w.next = e, seq+1
	w.v.result.Records++
	return nil
}
