package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"
)

// hash is a SHA-256.
type hash = [sha256.Size]byte

// hashRecord is a record's hash: of its seq and its encoding without the commit field. Its texts are
// sealed in it, so that it holds when their key is gone.
func hashRecord(seq uint64, encoded []byte) hash {
	var room [1024]byte
	b := binary.BigEndian.AppendUint64(room[:0], seq)
	return sha256.Sum256(append(b, encoded...))
}

// Head is the end of the hash chain. Kept elsewhere, it proves that nothing up to Seq was changed since.
type Head struct {
	Seq  uint64    // the last record that it covers; 0 = none
	Hash [32]byte  // of the last commit
	At   time.Time // of the last record; zero = none
}

// Head is the end of the hash chain as it is durable now.
func (s *Store) Head() Head { return *s.head.Load() }

// commit is what the last record of a commit ends with: the hash of the commit, its number (1, 2, 3 …)
// and the commit that it skips to, which is commit number-lowbit(number). So from any commit a few dozen
// links lead to any earlier one, however much lies between.
type commit struct {
	hash   hash
	number uint64 // 0: of format 1, which had neither number nor skip
	skip   skip
}

// skip names an earlier commit. The zero value is none.
type skip struct {
	seq  uint64 // of its last record
	hash hash
}

const (
	commitSize    = sha256.Size + 8 + skipSize // as appendCommit writes it
	oldCommitSize = sha256.Size                // as format 1 did
	skipSize      = 8 + sha256.Size
)

// skipTarget is the number of the commit that commit number skips to; 0 = there is none.
func skipTarget(number uint64) uint64 { return number & (number - 1) }

// sum is the hash of a commit that ends with record seq, behind a commit with the hash previous.
func (c *commit) sum(previous hash, seq uint64, records []byte) hash {
	if c.number == 0 {
		sum := sha256.New()
		sum.Write(previous[:])
		sum.Write(records)
		return hash(sum.Sum(nil))
	}
	return c.sumOf(previous, seq, sha256.Sum256(records))
}

// sumOf is sum where records is known by its SHA-256 alone: the hashes of the commit's records, in order.
func (c *commit) sumOf(previous hash, seq uint64, records hash) hash {
	var room [3*sha256.Size + 3*8]byte
	b := append(room[:0], previous[:]...)
	b = binary.BigEndian.AppendUint64(b, c.number)
	b = binary.BigEndian.AppendUint64(b, seq)
	b = binary.BigEndian.AppendUint64(b, c.skip.seq)
	b = append(b, c.skip.hash[:]...)
	return sha256.Sum256(append(b, records[:]...))
}

// joined puts hashes in a row, as sum takes them.
func joined(hashes []hash) []byte {
	b := make([]byte, 0, len(hashes)*sha256.Size)
	for i := range hashes {
		b = append(b, hashes[i][:]...)
	}
	return b
}

func (c *commit) append(b []byte) []byte {
	b = append(b, c.hash[:]...)
	b = binary.BigEndian.AppendUint64(b, c.number)
	b = binary.BigEndian.AppendUint64(b, c.skip.seq)
	return append(b, c.skip.hash[:]...)
}

func readCommit(b []byte) (c commit, ok bool) {
	switch len(b) {
	case oldCommitSize:
		return commit{hash: hash(b)}, true
	case commitSize:
		c.hash, b = hash(b[:sha256.Size]), b[sha256.Size:]
		c.number, c.skip.seq, c.skip.hash = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), hash(b[16:])
		return c, c.number > 0
	}
	return c, false
}

// link is a commit that later ones may skip to.
type link struct {
	number uint64
	skip
}

const linkSize = 8 + skipSize

// skips are the last commit, the one that it skips to, and so on, in ascending order: all that commits to
// come may skip to.
type skips []link

// to gives the commit with a number; false when it is not among them.
func (s skips) to(number uint64) (skip, bool) {
	for _, l := range s {
		if l.number == number {
			return l.skip, true
		}
	}
	return skip{}, false
}

// last is the number of the last commit; 0 = it has none.
func (s skips) last() uint64 {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].number
}

// below leaves those up to a number.
func (s skips) below(number uint64) skips {
	for len(s) > 0 && s[len(s)-1].number > number {
		s = s[:len(s)-1]
	}
	return s
}

func (s skips) append(b []byte) []byte {
	for _, l := range s {
		b = binary.BigEndian.AppendUint64(b, l.number)
		b = binary.BigEndian.AppendUint64(b, l.seq)
		b = append(b, l.hash[:]...)
	}
	return b
}

func readSkips(b []byte) (s skips, err error) {
	for ; len(b) >= linkSize; b = b[linkSize:] {
		l := link{binary.BigEndian.Uint64(b), skip{binary.BigEndian.Uint64(b[8:]), hash(b[16:])}}
		if n := len(s); l.number == 0 || n > 0 && l.number <= s[n-1].number {
			return nil, errors.New("its skips are not in order")
		}
		s = append(s, l)
	}
	if len(b) > 0 {
		return nil, errors.New("its skips are cut short")
	}
	return s, nil
}

// chain makes the hashes of commits. The first commit of a log follows the zero hash.
type chain struct {
	head    hash   // of the last commit
	skips   skips  // empty when the last commit has no number
	records []byte // hashes of the records of the commit that is being made
}

func (c *chain) add(record hash) { c.records = append(c.records, record[:]...) }

// next is the commit that is being made, as its last record seq has to end. It takes effect with follow.
func (c *chain) next(seq uint64) commit {
	made := commit{number: c.skips.last() + 1}
	made.skip, _ = c.skips.to(skipTarget(made.number))
	made.hash = made.sum(c.head, seq, c.records)
	return made
}

// follow makes a commit that ended with record seq the last one.
func (c *chain) follow(done commit, seq uint64) {
	c.head, c.records = done.hash, c.records[:0]
	if done.number > 0 {
		c.skips = append(c.skips.below(skipTarget(done.number)), link{done.number, skip{seq, done.hash}})
	}
}

// abandon forgets the commit that was being made.
func (c *chain) abandon() { c.records = c.records[:0] }
