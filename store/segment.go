package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

const (
	segmentSuffix = ".log"
	seqDigits     = 20
)

// Buckets and keys of a segment.
var (
	bucketHead    = []byte("head")
	bucketRecords = []byte("records")

	keyFormat   = []byte("format")   // version, 8 octets like all numbers here
	keyFirst    = []byte("first")    // seq that its first record has
	keyPrevious = []byte("previous") // first seq of the segment before; 0 = none
	keyChain    = []byte("chain")    // hash of the commit before its first
	keyRules    = []byte("rules")    // rules in force at its first record: seq, then the record's value
	keyRulesNow = []byte("rules_now")
	keySkips    = []byte("skips")           // commits up to its first that later ones skip to: number, seq, hash each
	keySum      = []byte("previous_sha256") // of the file before; put when it was computed
	keyBackup   = []byte("backup")          // of a log that begins anew from a backup: which
	keyAfter    = []byte("after")           // and the last seq before the gap
)

// segment is one file of the log. Values of the records bucket are records, keyed by seq.
type segment struct {
	name  string // relative to data_dir
	path  string
	db    *bbolt.DB
	first uint64
	last  uint64       // first-1 = holds none; belongs to who appends
	bytes atomic.Int64 // in use

	firstAt time.Time // of its first record, zero = holds none; belongs to who appends

	format uint64 // version of its layout
	summed bool   // its head has the SHA-256 of the file before; belongs to hashSegments

	backup string // of which the restore left a gap before it; "" = there is none
	after  uint64 // last seq before the gap

	fsync    func() error // of its file
	writing  sync.Mutex   // held while a transaction is written, and made durable
	tip      tip          // of the newest version
	single   bool         // the next commit may do with one fsync: the transaction before was made here, and is durable
	failed   error        // of a transaction of which it is not known what it left
	unsynced bool         // made durable by who closes the log

	mu      sync.RWMutex // held while its file is read
	retired bool         // closed, on its way out
}

// segmentHead is what a segment begins with.
type segmentHead struct {
	first, previous uint64
	format          uint64
	chain           chain  // as it stands before its first commit
	rules           []byte // nil = none in force
	rulesNow        []byte // the newest, in this segment or before
	sum             []byte // SHA-256 of the file before; nil = not computed yet, or none
	backup          string // of which the restore left a gap before it; "" = there is none
	after           uint64 // last seq before the gap
}

func segmentName(first uint64) string {
	return filepath.Join(logDir, fmt.Sprintf("%0*d%s", seqDigits, first, segmentSuffix))
}

// parseSegmentName gives the first seq that a file's name tells.
func parseSegmentName(base string) (first uint64, ok bool) {
	digits, ok := strings.CutSuffix(base, segmentSuffix)
	if !ok || len(digits) != seqDigits {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil && first > 0
}

// segmentOptions are for appending. The memory map gets room for all that a segment takes at once:
// growing it would have to wait for readers.
func segmentOptions(maxRecords uint64) bbolt.Options {
	const perRecord = 512
	return bbolt.Options{NoFreelistSync: true, InitialMmapSize: int(min(2*segmentBytes, maxRecords*perRecord))}
}

func createSegment(dir string, head segmentHead, maxRecords uint64) (*segment, error) {
	s := &segment{name: segmentName(head.first), first: head.first, last: head.first - 1, format: formatVersion, backup: head.backup, after: head.after}
	s.path = filepath.Join(dir, s.name)
	s.tip = tip{before: s.last, last: s.last, hash: head.chain.head}
	db, err := createBolt(s.path, s.name, segmentOptions(maxRecords), func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketHead, bucketRecords, bucketTip} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		if err := head.put(tx.Bucket(bucketHead)); err != nil {
			return err
		}
		return s.tip.put(tx, true)
	})
	s.use(db)
	return s, err
}

func (s *segment) use(db *bbolt.DB) {
	s.db = db
	s.fsync = db.Sync
}

func (h *segmentHead) put(b *bbolt.Bucket) error {
	for _, kv := range [][2][]byte{
		{keyFormat, seqKey(formatVersion)}, {keyFirst, seqKey(h.first)}, {keyPrevious, seqKey(h.previous)},
		{keyChain, h.chain.head[:]}, {keySkips, h.chain.skips.append(nil)}, {keyRules, h.rules}, {keyRulesNow, h.rulesNow},
	} {
		if err := b.Put(kv[0], kv[1]); err != nil {
			return err
		}
	}
	if h.backup == "" {
		return nil
	}
	return errors.Join(b.Put(keyBackup, []byte(h.backup)), b.Put(keyAfter, seqKey(h.after)))
}

// reopenBytes is how large a segment may be to be appended to again after a restart: bbolt reads all of it
// for that. A larger one is left as it is, and the next commit begins another.
const reopenBytes = 64 << 20

// openSegment opens a segment for reading, and if write is set and it is not too large to append up to
// maxRecords to it as well. The last one was looked at before.
func openSegment(dir string, first uint64, write bool, maxRecords uint64) (*segment, segmentHead, error) {
	s := &segment{name: segmentName(first), first: first, last: first - 1}
	s.path = filepath.Join(dir, s.name)
	options := bbolt.Options{ReadOnly: true}
	used, err := checkHeader(s.path, s.name)
	if err != nil {
		return nil, segmentHead{}, err
	}
	if write && used <= reopenBytes {
		if err := checkPages(s.path, s.name, false); err != nil {
			return nil, segmentHead{}, err
		}
		options = segmentOptions(maxRecords)
	}
	db, err := openBolt(s.path, s.name, options)
	if err != nil {
		return nil, segmentHead{}, err
	}
	s.use(db)
	var head segmentHead
	err = s.view(func(tx *bbolt.Tx) error {
		if head, err = readHead(tx); err != nil {
			return err
		}
		if head.first != first {
			return fmt.Errorf("begins with seq %d", head.first)
		}
		if k, _ := tx.Bucket(bucketRecords).Cursor().Last(); k != nil {
			var ok bool
			if s.last, ok = seqOf(k); !ok || s.last < first {
				return errors.New("last key is no seq of this segment")
			}
			if s.firstAt, err = firstAt(tx); err != nil {
				return err
			}
		}
		s.format = head.format
		s.bytes.Store(tx.Size())
		s.backup, s.after = head.backup, head.after
		return nil
	})
	if err == nil && !s.db.IsReadOnly() {
		err = s.readyToAppend(head)
	}
	if err != nil {
		return nil, head, errors.Join(s.damaged(0, err), s.db.Close())
	}
	return s, head, nil
}

// firstAt is when the first record of a segment that holds any was made.
func firstAt(tx *bbolt.Tx) (time.Time, error) {
	_, value := tx.Bucket(bucketRecords).Cursor().First()
	o, err := readOutline(value)
	return o.at, err
}

// appendable reports whether records may follow in a segment, for all that is known of it.
func (s *segment) appendable() bool { return !s.db.IsReadOnly() && s.format >= formatVersion }

// full reports whether what is recorded at the given time begins another segment.
func (s *segment) full(maxRecords uint64, at time.Time) bool {
	return s.last+1-s.first >= maxRecords || s.bytes.Load() >= segmentBytes ||
		!s.firstAt.IsZero() && at.Sub(s.firstAt) >= segmentSpan
}

// readyToAppend brings the tip, and makes a segment of an older format that holds no record one of today's.
func (s *segment) readyToAppend(head segmentHead) error {
	switch {
	case s.format >= tipFormat:
		return s.view(func(tx *bbolt.Tx) (err error) {
			b := tx.Bucket(bucketTip)
			if b == nil {
				return errNoTip
			}
			s.tip, err = readTip(b.Get(keyTip))
			return err
		})
	case s.last >= s.first:
		return nil
	}
	s.format, s.tip = formatVersion, tip{before: s.last, last: s.last, hash: head.chain.head}
	return s.update(revision{head: func(b *bbolt.Bucket) error {
		_, err := b.Tx().CreateBucketIfNotExists(bucketTip)
		return errors.Join(err, b.Put(keyFormat, seqKey(formatVersion)))
	}})
}

func readHead(tx *bbolt.Tx) (h segmentHead, err error) {
	b := tx.Bucket(bucketHead)
	if b == nil || tx.Bucket(bucketRecords) == nil {
		return h, errors.New("not a log segment")
	}
	number := func(key []byte) uint64 {
		v, ok := seqOf(b.Get(key))
		if !ok {
			err = fmt.Errorf("head has no %s", key)
		}
		return v
	}
	if h.format = number(keyFormat); h.format > formatVersion {
		return h, ErrNewerFormat
	}
	h.first, h.previous = number(keyFirst), number(keyPrevious)
	if copy(h.chain.head[:], b.Get(keyChain)) != len(h.chain.head) {
		err = errors.New("head has no chain")
	}
	if err == nil {
		h.chain.skips, err = readSkips(b.Get(keySkips))
	}
	if h.backup = string(b.Get(keyBackup)); h.backup != "" {
		h.after = number(keyAfter)
	}
	h.rules, h.rulesNow, h.sum = clone(b.Get(keyRules)), clone(b.Get(keyRulesNow)), clone(b.Get(keySum))
	return h, err
}

// rulesInForce are those at the segment's first record; 0 and nil when there are none.
func (h *segmentHead) rulesInForce() (uint64, *statemachine.Rules, error) {
	if len(h.rules) == 0 {
		return 0, nil, nil
	}
	return decodeRulesHead(h.rules)
}

// clone copies what points into a transaction; nothing gives nil.
func clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
}

func (s *segment) view(fn func(*bbolt.Tx) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.retired {
		return errRetired
	}
	return guard(s.name, func() error { return s.db.View(fn) })
}

// damaged makes err a DamagedError, unless it is one or says something else.
func (s *segment) damaged(seq uint64, err error) error {
	var already *DamagedError
	if err == nil || errors.As(err, &already) || errors.Is(err, ErrNewerFormat) || errors.Is(err, errRetired) {
		return err
	}
	return &DamagedError{File: s.name, Seq: seq, Err: err}
}

// append writes one commit, which has the given hash, and makes it durable. rules, when not nil, becomes the newest
// in the head.
func (s *segment) append(first uint64, values [][]byte, rules []byte, made hash) error {
	c := revision{last: first + uint64(len(values)) - 1, hash: made}
	c.records = func(b *bbolt.Bucket) error {
		b.FillPercent = 1
		var key [8]byte
		for i, value := range values {
			binary.BigEndian.PutUint64(key[:], first+uint64(i))
			if err := b.Put(key[:], value); err != nil {
				return err
			}
		}
		return nil
	}
	if rules != nil {
		c.head = func(b *bbolt.Bucket) error { return b.Put(keyRulesNow, rules) }
	}
	if err := s.update(c); err != nil {
		return err
	}
	s.last = c.last
	var size int
	for _, v := range values {
		size += len(v) + elementSize + len(seqKey(0))
	}
	s.bytes.Add(int64(size))
	return nil
}

// read hands out records from seq on in one transaction, until fn says to stop. Each follows the one before:
// where a damaged page leads past some, that is said rather than skipped.
func (s *segment) read(from uint64, fn func(seq uint64, value []byte) (more bool, err error)) error {
	return s.view(func(tx *bbolt.Tx) error {
		c, next := tx.Bucket(bucketRecords).Cursor(), max(from, s.first)
		for k, v := c.Seek(seqKey(next)); k != nil; k, v = c.Next() {
			if seq, ok := seqOf(k); !ok || seq != next {
				return s.damaged(next, errRecordMissing)
			}
			if more, err := fn(next, v); err != nil || !more {
				return err
			}
			next++
		}
		if k, _ := c.Last(); k != nil {
			if last, ok := seqOf(k); !ok || last >= next {
				return s.damaged(next, errRecordMissing)
			}
		}
		return nil
	})
}

var errRecordMissing = errors.New("record is missing")

// putSum puts the SHA-256 of the file before into the head. A full disk lets it be for this time.
func (s *segment) putSum(before string) error {
	sum, err := fileSum(before)
	if err == nil {
		err = s.update(revision{head: func(b *bbolt.Bucket) error { return b.Put(keySum, sum) }})
	}
	if err = diskFull(err); errors.Is(err, ErrDiskFull) {
		return nil
	}
	s.summed = err == nil
	return err
}

// fileSum is the SHA-256 of a file.
func fileSum(path string) ([]byte, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}

// commitEnd is what the last record of a commit tells of it.
type commitEnd struct {
	commit
	at time.Time
}

// commitAt reads the commit that a record ends.
func (s *segment) commitAt(seq uint64) (end commitEnd, err error) {
	err = s.read(seq, func(at uint64, value []byte) (bool, error) {
		o, err := readOutline(value)
		switch {
		case err != nil:
			return false, err
		case at != seq || !o.ends:
			return false, errors.New("ends within a commit")
		}
		end = commitEnd{o.commit, o.at}
		return false, nil
	})
	if err == nil && end.hash == (hash{}) {
		err = errRecordMissing
	}
	return end, s.damaged(seq, err)
}
