package store

import (
	"errors"
	"fmt"
	"time"

	"esmed/receipt"
	"esmed/statemachine"
)

// Config says where a store is and lends it what it cannot know itself.
type Config struct {
	Dir string // data_dir; made when it is missing

	// Decode takes a delivered PDU apart (header included) and TextSpans names the octets of it that are
	// message text, in order and without overlap: they are sealed at rest. rules are the SMSC's, nil
	// when the log has none for it. Both are pure, must not keep the PDU, and are called from
	// several goroutines.
	Decode    func(pdu []byte) receipt.Delivery
	TextSpans func(pdu []byte, rules *receipt.Rules) []Span

	Now            func() time.Time // nil = time.Now
	SegmentRecords int              // records after which a log segment is closed; 0 = DefaultSegmentRecords

	// Parser is the version of the parser that Decode and the fold read with; "" = receipt.ParserVersion. It is
	// another one in tests alone.
	Parser string

	// PartitionMessages is how many messages a partition of a new state.db takes; 0 =
	// DefaultPartitionMessages. One that exists keeps its own.
	PartitionMessages int

	// Unsynced makes a new store without any fsync, for many records that can be had again: nothing of it is
	// durable before Close has returned nil, and what ends the process earlier leaves a directory that Open
	// refuses (*DamagedError). Open also refuses a directory that holds anything. The store that Close leaves is
	// like any other.
	Unsynced bool

	// Witness gives who is shown a batch of records that the applier applies for the first time; nil = nobody is.
	Witness func() Witness
	// OnCommit is told by the writer of each commit, for metrics; nil = nobody is. It must not block, nor ask the store.
	OnCommit func(records int, elapsed time.Duration)

	// OnUpgrade is told by Open that it brings state.db up from an earlier format, which takes as long as there are
	// messages. nil = nobody is told.
	OnUpgrade func(from uint64)

	// OnObstacle is told by the applier when it cannot go on for now (ErrDiskFull, ErrKey), and with nil
	// when it goes on. Receptions are still taken meanwhile, as far as there is room. nil = nobody is told.
	OnObstacle func(error)

	partial bool // Dir is a backup that is being made
}

// Witness is shown what comes of the records of one batch, for metrics and logs. It must not block, nor ask the store.
type Witness interface {
	// Folded is told what came of a record, before anybody sees that; the messages are as the record left them. All
	// that it is given is valid until it returns, but for strings, which may be kept.
	Folded(rec statemachine.Record, eff *statemachine.Effects)
	// Committed says that whoever reads sees all of the batch. It is not called where the batch came to nothing: another
	// witness will be shown its records. So will one of the next process, where this one is killed before the batch
	// is in state.db.
	Committed()
}

// Span is a half-open range of octets.
type Span struct{ Start, End int }

// DefaultSegmentRecords, segmentBytes and segmentSpan bound a segment, whichever is reached first: few enough
// files, and small enough ones to be dropped one at a time. Without a span a log of little traffic would be one
// file for years, and no retention would end it, nor the texts that go with it.
const (
	DefaultSegmentRecords = 3_000_000
	segmentBytes          = 1 << 30
	segmentSpan           = partitionSpan
)

// DefaultPartitionMessages keeps partitions of the messages and their indexes small: that keeps the cost of
// random keys flat. Each costs a probe for an id that nobody has.
const DefaultPartitionMessages = 50_000

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.SegmentRecords <= 0 {
		c.SegmentRecords = DefaultSegmentRecords
	}
	if c.Parser == "" {
		c.Parser = receipt.ParserVersion
	}
	if c.PartitionMessages <= 0 {
		c.PartitionMessages = DefaultPartitionMessages
	}
	return c
}

// Errors that callers branch on.
var (
	ErrNotFound    = errors.New("not found")
	ErrLocked      = errors.New("data_dir is in use by another process")
	ErrNoStore     = errors.New("data_dir holds no store")
	ErrNewerFormat = errors.New("data_dir was written by a newer version of esmed")
	ErrRefConflict = errors.New("ref or idempotency key was used for a different message")
	ErrDiskFull    = errors.New("disk full")
	ErrKey         = errors.New("the key of a text cannot be read")
	ErrObstructed  = errors.New("the projection cannot follow the log for now")
	ErrNoRoom      = errors.New("no room for more messages at once")
	ErrClosed      = errors.New("store is closed")
	ErrReadOnly    = errors.New("store is open read-only")
)

// ErrNoFiles says that no more files can be opened for now. It is ErrDiskFull to errors.Is: nothing was kept,
// the store goes on, try again later.
var ErrNoFiles error = noFiles{}

type noFiles struct{}

func (noFiles) Error() string { return "no more files can be opened" }

func (noFiles) Is(target error) bool { return target == ErrDiskFull }

// DamagedError says where the store's files contradict themselves or each other. Nothing is changed
// by finding out.
type DamagedError struct {
	File string // relative to data_dir
	Seq  uint64 // the record concerned; 0 = none in particular
	Err  error
}

func (e *DamagedError) Error() string {
	if e.Seq == 0 {
		return fmt.Sprintf("damaged: %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("damaged: %s: seq %d: %v", e.File, e.Seq, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }
