package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"

	"go.etcd.io/bbolt"
)

// A commit is one transaction of bbolt's, which would fsync its pages, and then the meta page that leads to them.
// One fsync of both together halves what a commit costs, but behind a power cut the meta page may be there without
// all of the pages. The version before is whole then: it was durable before the next was begun, no transaction
// writes to a page of the version that it changes, and the other meta page leads to it. So a version tells by its
// tip what it has to hold, and who opens the segment looks whether it does (look.go).

var (
	bucketTip = []byte("tip")
	keyTip    = []byte("tip")
)

// tip is what a transaction says of the version that it makes.
type tip struct {
	txid   uint64 // of the transaction: an older version's page in the place of this one's is found by it
	before uint64 // seq of the last record that the version before has
	last   uint64 // and of the last that this one has
	hash   hash   // of the last commit
	head   hash   // headSum of the bucket head
}

const tipSize = 3*8 + 3*sha256.Size

func (t *tip) append(b []byte) []byte {
	start := len(b)
	for _, n := range []uint64{t.txid, t.before, t.last} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = append(append(b, t.hash[:]...), t.head[:]...)
	sum := sha256.Sum256(b[start:])
	return append(b, sum[:]...)
}

func readTip(b []byte) (t tip, err error) {
	if len(b) != tipSize || sha256.Sum256(b[:tipSize-sha256.Size]) != hash(b[tipSize-sha256.Size:]) {
		return t, errors.New("its tip is malformed")
	}
	t.txid, t.before, t.last = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])
	copy(t.head[:], b[24+copy(t.hash[:], b[24:]):])
	return t, nil
}

// headSum is a hash of all that the bucket head holds: each is handed out keys and values in their order.
func headSum(each func(func(key, value []byte) error) error) (sum hash, err error) {
	h := sha256.New()
	var size [8]byte
	err = each(func(key, value []byte) error {
		for _, b := range [][]byte{key, value} {
			binary.BigEndian.PutUint64(size[:], uint64(len(b)))
			h.Write(size[:])
			h.Write(b)
		}
		return nil
	})
	return hash(h.Sum(nil)), err
}

// put writes the tip of a transaction. changed says that the head is not what it was.
func (t *tip) put(tx *bbolt.Tx, changed bool) (err error) {
	if changed {
		if t.head, err = headSum(tx.Bucket(bucketHead).ForEach); err != nil {
			return err
		}
	}
	t.txid = uint64(tx.ID())
	return tx.Bucket(bucketTip).Put(keyTip, t.append(make([]byte, 0, tipSize)))
}

// revision is what one transaction does to a segment.
type revision struct {
	head    func(*bbolt.Bucket) error // nil = its head stays as it is
	records func(*bbolt.Bucket) error // nil = no record is added
	last    uint64                    // record that it ends with then
	hash    hash                      // and its commit
}

// update makes a change durable: one of records with one fsync, as far as it may, any other with bbolt's two.
// After ErrDiskFull nothing has changed. After any other error nothing is known, and nothing is written any more.
func (s *segment) update(c revision) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.failed != nil {
		return s.failed
	}
	once := s.single && c.records != nil && !s.unsynced
	s.db.NoSync = once || s.unsynced
	next := s.tip
	next.before = s.tip.last
	if c.records != nil {
		next.last, next.hash = c.last, c.hash
	}
	err := guard(s.name, func() error {
		return s.db.Update(func(tx *bbolt.Tx) error { return s.apply(tx, c, &next) })
	})
	if err == nil && once {
		err = s.sync()
	}
	if err != nil {
		// What it wrote of its pages would be taken for those of the next transaction, which has the same txid.
		s.single = false
		if err = diskFull(err); !errors.Is(err, ErrDiskFull) {
			s.failed = err
		}
		return err
	}
	s.tip, s.single = next, true
	return nil
}

func (s *segment) apply(tx *bbolt.Tx, c revision, next *tip) error {
	if c.head != nil {
		if err := c.head(tx.Bucket(bucketHead)); err != nil {
			return err
		}
	}
	if c.records != nil {
		if err := c.records(tx.Bucket(bucketRecords)); err != nil {
			return err
		}
	}
	if s.format < tipFormat {
		return nil
	}
	return next.put(tx, c.head != nil)
}

// sync makes what was written durable. Its error is never ErrDiskFull: the transaction is over, and is not undone.
func (s *segment) sync() error {
	if err := s.fsync(); err != nil {
		return &os.PathError{Op: "sync", Path: s.name, Err: err}
	}
	return nil
}

// durable gives a transaction of what is durable, to be rolled back.
func (s *segment) durable() (*bbolt.Tx, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.failed != nil {
		return nil, s.failed
	}
	return s.db.Begin(false)
}
