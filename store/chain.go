package store

import (
	"crypto/sha256"
	"encoding/binary"
	stdhash "hash"
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

// chain makes the hash of a commit: of the hash of the commit before and the hashes of its records, in
// order. The first commit of a log follows the zero hash.
type chain struct {
	sum stdhash.Hash
}

func newChain(head hash) *chain {
	c := &chain{sum: sha256.New()}
	c.begin(head)
	return c
}

func (c *chain) begin(head hash) {
	c.sum.Reset()
	c.sum.Write(head[:])
}

func (c *chain) add(record hash) { c.sum.Write(record[:]) }

// end gives the hash of the commit and begins the next one behind it.
func (c *chain) end() hash {
	var head hash
	c.sum.Sum(head[:0])
	c.begin(head)
	return head
}
