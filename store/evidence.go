package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// Evidence is what shows what happened to a message, for somebody who has no store: its records as the log
// holds them, the rules they were judged by, what was decided, and the commits that lead from them to a
// head of the hash chain. VerifyEvidence checks it.
//
// The chain covers texts sealed (doc.go): it shows that a text was there and how long it was. Texts are
// given beside, as they read with their key, and are not proven; who has the key can show them.
type Evidence struct {
	Message   statemachine.ID
	State     statemachine.State
	Head      Head                    // where Links begin
	Records   []SealedRecord          // in the order of their seqs
	Decisions []statemachine.Decision // about the message, in their order
	Links     []Link                  // newest first
}

// SealedRecord is a record as the log holds it.
type SealedRecord struct {
	Seq      uint64
	Octets   []byte   // its encoding (record.proto) without the commit field, texts sealed
	Texts    [][]byte // opened, in the order in which they stand in it; nil when it has none, or when
	TextGone bool     // their key was destroyed
	Unproven bool     // rules whose record was dropped from the log, as a segment's head keeps them
}

// Link is all that a commit's hash is made of.
type Link struct {
	Number   uint64 // 0 = of format 1, whose hash is made of Previous and Records alone
	Seq      uint64 // of its last record
	Previous [32]byte
	SkipSeq  uint64 // of the commit that it skips to; 0 = none
	Skip     [32]byte

	Records     [][32]byte // hashes of its records, where one of them is in the bundle or Number is 0; else
	RecordsHash [32]byte   // the SHA-256 of them
}

// ErrNoCommit says that no commit ends with a record.
var ErrNoCommit = errors.New("no commit ends with that record")

// Evidence makes the bundle about a message; ErrNotFound when there is none. via are seqs of heads that are
// kept elsewhere, which the links are to come past; ErrNoCommit when one is none.
func (s *Store) Evidence(ctx context.Context, id statemachine.ID, via ...uint64) (*Evidence, error) {
	s.log.stay.RLock()
	defer s.log.stay.RUnlock()
	e, err := s.evidence(ctx, id, via)
	if err != nil {
		return nil, fmt.Errorf("store: evidence: %w", err)
	}
	return e, nil
}

func (s *Store) evidence(ctx context.Context, id statemachine.ID, via []uint64) (*Evidence, error) {
	m, err := s.Message(ctx, id)
	if err != nil {
		return nil, err
	}
	e := &Evidence{Message: id, State: m.State, Head: s.Head()}
	if e.Decisions, err = s.walkBack(ctx, m.LastDecision); err != nil {
		return nil, err
	}
	slices.Reverse(e.Decisions)
	seqs, rules := recordsOf(m), make(map[uint64]bool)
	for _, d := range e.Decisions {
		seqs = append(seqs, d.Pos.Seq, d.Record, d.Rules)
		rules[d.Rules] = true
	}
	slices.Sort(seqs)
	for _, seq := range slices.Compact(seqs) {
		if seq == 0 {
			continue
		}
		r, err := s.sealedRecord(seq)
		if errors.Is(err, ErrNotFound) && rules[seq] {
			continue // dropped: what was decided under them can only be taken as it is
		}
		if err != nil {
			return nil, fmt.Errorf("seq %d: %w", seq, err)
		}
		e.Records = append(e.Records, r)
	}
	e.Links, err = s.links(ctx, e, via)
	return e, err
}

// sealedRecord reads a record for a bundle. Rules that were dropped from the log may be in a head.
func (s *Store) sealedRecord(seq uint64) (SealedRecord, error) {
	r := SealedRecord{Seq: seq}
	err := s.journal.readFrom(seq, func(at uint64, value []byte) (bool, error) {
		if at != seq {
			return false, nil
		}
		o, err := readOutline(value)
		r.Octets = slices.Clone(o.body)
		return false, err
	})
	if err == nil && r.Octets == nil {
		r.Unproven = true
		r.Octets, err = s.log.rulesKept(seq)
	}
	if err != nil {
		return r, err
	}
	opened, err := s.decode(seq, r.Octets)
	if err != nil {
		return r, err
	}
	if r.TextGone = opened.textGone; !r.TextGone && opened.key != 0 {
		r.Texts = texts(opened.Fact, opened.spans)
	}
	return r, nil
}

// rulesKept finds a rules record in the heads of segments.
func (l *segmentLog) rulesKept(seq uint64) ([]byte, error) {
	for _, s := range l.from(0) {
		head, err := s.head()
		if err != nil {
			return nil, s.damaged(0, err)
		}
		for _, kept := range [][]byte{head.rules, head.rulesNow} {
			if kept, at, err := splitRulesHead(kept); err == nil && at == seq {
				return kept, nil
			}
		}
	}
	return nil, ErrNotFound
}

// wanted are the commits that links must come to, and those whose records' hashes they must list.
type wanted struct {
	commits []uint64 // seqs of their last records, ascending
	listed  map[uint64]bool
}

// links goes from the head by the longest skips that leave no wanted commit out.
func (s *Store) links(ctx context.Context, e *Evidence, via []uint64) (links []Link, err error) {
	want := wanted{listed: make(map[uint64]bool)}
	for _, seq := range via {
		end, err := s.log.commitEnd(seq)
		if err == nil && end != seq || errors.Is(err, ErrNotFound) {
			err = fmt.Errorf("seq %d: %w", seq, ErrNoCommit)
		}
		if err != nil {
			return nil, err
		}
		want.commits = append(want.commits, end)
	}
	for i := range e.Records {
		if e.Records[i].Unproven {
			continue
		}
		end, err := s.log.commitEnd(e.Records[i].Seq)
		if err != nil {
			return nil, err
		}
		want.commits = append(want.commits, end)
		want.listed[end] = true
	}
	slices.Sort(want.commits)
	old := 0
	for at := e.Head.Seq; len(want.commits) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		link, before, err := s.log.linkOf(at, want.listed[at])
		if err != nil {
			return nil, err
		}
		if link.Number == 0 {
			if old += len(link.Records); old > maxOldHashes {
				return nil, fmt.Errorf("more than %d records of format 1 lie between: too many to prove it", maxOldHashes)
			}
		}
		links = append(links, link)
		for n := len(want.commits); n > 0 && want.commits[n-1] >= at; n-- {
			want.commits = want.commits[:n-1]
		}
		if n := len(want.commits); n > 0 && link.SkipSeq >= want.commits[n-1] {
			before = link.SkipSeq
		}
		at = before
	}
	return links, nil
}

// maxOldHashes bounds a bundle that has to go through commits of format 1 one by one: 32 MiB of hashes.
const maxOldHashes = 1 << 20

// commitEnd is the last record of the commit that a record belongs to.
func (l *segmentLog) commitEnd(seq uint64) (end uint64, err error) {
	for _, s := range l.from(seq) {
		err = s.read(seq, func(at uint64, value []byte) (bool, error) {
			o, err := readOutline(value)
			if o.ends {
				end = at
			}
			return !o.ends, err
		})
		break
	}
	if err == nil && end == 0 {
		err = ErrNotFound
	}
	return end, err
}

// linkOf reads the commit that ends with record seq; list says to give the hashes of its records. before is
// the last record of the commit before, 0 = there is none (any more).
func (l *segmentLog) linkOf(seq uint64, list bool) (link Link, before uint64, err error) {
	segments := l.from(seq)
	if len(segments) == 0 {
		return link, 0, ErrNotFound
	}
	s := segments[0]
	err = s.view(func(tx *bbolt.Tx) error {
		var hashes []hash
		c := tx.Bucket(bucketRecords).Cursor()
		for k, v := c.Seek(seqKey(seq)); k != nil; k, v = c.Prev() {
			at, ok := seqOf(k)
			o, err := readOutline(v)
			switch {
			case err != nil || !ok || len(hashes) == 0 && (at != seq || !o.ends):
				return cmp.Or(err, errMalformed)
			case len(hashes) > 0 && o.ends:
				before, link.Previous = at, o.commit.hash
				link.close(hashes, list)
				return nil
			case len(hashes) == 0:
				link.Number, link.Seq, link.SkipSeq, link.Skip = o.commit.number, seq, o.commit.skip.seq, o.commit.skip.hash
			}
			hashes = append(hashes, hashRecord(at, o.body))
		}
		if len(hashes) == 0 {
			return errMalformed
		}
		head, err := readHead(tx)
		link.Previous = head.chain.head
		link.close(hashes, list)
		return err
	})
	if err != nil {
		return link, 0, s.damaged(seq, err)
	}
	if before == 0 && s.first > 1 {
		before = l.lastBefore(s.first)
	}
	return link, before, nil
}

// lastBefore is the last record of the segment before the one that begins with first; 0 = there is none.
func (l *segmentLog) lastBefore(first uint64) (last uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, s := range l.segments {
		if s.first < first {
			last = s.last
		}
	}
	return last
}

// close takes the hashes of the commit's records, last one first.
func (l *Link) close(hashes []hash, list bool) {
	slices.Reverse(hashes)
	if list || l.Number == 0 {
		l.Records = hashes
		return
	}
	l.RecordsHash = sha256.Sum256(joined(hashes))
}
