package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// A version's transaction changed no records but the last of the version before: it wrote the leaf that these
// are in anew, those behind it, and the branches that lead there. What bbolt puts into a leaf beyond a few
// elements fits a page, so that leaf begins less than so many records before.
func leafMost(pageSize int) uint64 { return uint64(pageSize / elementSize) }

// proofReach is how many records more are looked at, for a commit to end among them: a few groups' worth.
const proofReach = 2 * maxGroupRecords

// prove finds out whether a version holds all that its tip says: every page that its transaction can have
// written, and those that lead there; its head; its records from the first to the last one without a gap, where
// of those left of what the transaction wrote only the bounds are read; and the hashes of its last commits, from
// one on that an earlier transaction made.
func (v *version) prove() error {
	if v.first == 0 || v.tip.before+1 < v.first || v.tip.before > v.tip.last {
		return errors.New("its tip does not fit its head")
	}
	reach := back(v.tip.before, leafMost(v.meta.pageSize), v.first)
	begun := slices.Clone(v.seen)
	for _, from := range []uint64{back(reach, proofReach, v.first), v.first} {
		copy(v.seen, begun)
		p := versionProof{version: v, from: from, next: v.first, hash: v.chain.head, number: v.chain.skips.last()}
		if err := p.run(); err != nil {
			return err
		}
		if !p.skipped || p.anchor > 0 && p.anchor <= reach {
			return nil
		}
	}
	return nil
}

// back is n records before seq, but no less than first.
func back(seq, n, first uint64) uint64 {
	if seq < first+n {
		return first
	}
	return seq - n
}

// versionProof is a walk through the last records of a version.
type versionProof struct {
	*version
	from uint64 // the least record that must be looked at
	next uint64 // that must come

	skipped bool   // records were passed over: the proof begins with the first end of a commit behind them
	anchor  uint64 // that one; 0 = there is none

	hash    hash // of the last commit
	number  uint64
	records []byte // hashes of the records behind it
}

func (p *versionProof) run() error {
	b, root, err := inline(p.version.records)
	switch {
	case err != nil:
		return err
	case root == 0:
		err = p.leaf(b, nil, nil)
	default:
		err = p.page(root, nil, nil, 0)
	}
	switch {
	case err != nil:
		return err
	case p.next != p.tip.last+1:
		return p.wrong(errRecordMissing)
	case p.skipped && p.anchor == 0:
		return nil // proves nothing
	case len(p.records) > 0:
		return p.wrong(errors.New("ends within a commit"))
	case p.hash != p.tip.hash:
		return p.wrong(errors.New("its last commit is not the tip's"))
	}
	return nil
}

func (p *versionProof) wrong(err error) error { return &recordError{p.next, err} }

// recordError says at which record a version is wrong.
type recordError struct {
	seq uint64
	err error
}

func (e *recordError) Error() string { return fmt.Sprintf("seq %d: %v", e.seq, e.err) }

func (e *recordError) Unwrap() error { return e.err }

func (p *versionProof) page(id uint64, low, high []byte, depth int) error {
	if depth > maxDepth {
		return &pageError{id, low, errTooDeep}
	}
	b, err := p.read(id)
	if err != nil {
		return &pageError{id, low, err}
	}
	if le.Uint16(b[8:]) != branchPage {
		return p.leaf(b, low, high)
	}
	children, err := readElements(b, low, high)
	if err != nil {
		return &pageError{id, low, err}
	}
	for i, c := range children {
		next := high
		if i+1 < len(children) {
			next = children[i+1].key
		}
		if i == 0 && low != nil && !bytes.Equal(c.key, low) {
			return &pageError{id, low, errors.New("does not begin with its key")}
		}
		if end, ok := seqOf(next); ok && end <= p.from {
			err = p.pass(c, end)
		} else {
			err = p.page(c.child, c.key, next, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pass goes by what an earlier transaction wrote, once its bounds are right.
func (p *versionProof) pass(c below, end uint64) error {
	first, last, err := p.ends(c.child)
	if err != nil {
		return err
	}
	begins, _ := seqOf(first)
	ends, _ := seqOf(last)
	if !bytes.Equal(first, c.key) || begins != p.next || ends+1 != end {
		return p.wrong(errRecordMissing)
	}
	p.next, p.skipped = end, true
	return nil
}

func (p *versionProof) leaf(b, low, high []byte) error {
	if low != nil && !bytes.Equal(low, seqKey(p.next)) {
		return p.wrong(errRecordMissing)
	}
	return eachElement(b, low, high, func(e element) error {
		seq, ok := seqOf(e.key)
		if !ok || seq != p.next || e.branch || e.bucket {
			return p.wrong(errRecordMissing)
		}
		if err := p.record(seq, e.value); err != nil {
			return p.wrong(err)
		}
		p.next++
		return nil
	})
}

func (p *versionProof) record(seq uint64, value []byte) error {
	o, err := readOutline(value)
	if err != nil {
		return err
	}
	if p.skipped && p.anchor == 0 {
		if o.ends {
			p.anchor, p.hash, p.number = seq, o.commit.hash, o.commit.number
		}
		return nil
	}
	made := hashRecord(seq, o.body)
	p.records = append(p.records, made[:]...)
	if !o.ends {
		return nil
	}
	if o.commit.number != p.number+1 || o.commit.sum(p.hash, seq, p.records) != o.commit.hash {
		return errors.New("hash of the commit that ends here is not the one stored")
	}
	p.hash, p.number, p.records = o.commit.hash, o.commit.number, p.records[:0]
	return nil
}
