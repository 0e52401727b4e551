package store

import (
	"context"
	"time"

	"esmed/statemachine"
)

// Acceptance answers Accept.
type Acceptance struct {
	Message  statemachine.ID
	Seq      uint64 // the accepted record
	At       time.Time
	Existing bool // a repeat with an equal RequestHash: the first message's answer again
}

// Event is a record with what was decided because of it.
type Event struct {
	Record    statemachine.Record
	Decisions []statemachine.Decision
	TextGone  bool // the key of its texts was destroyed: they read as zeros
}

// Filter selects messages. The zero value selects all.
type Filter struct {
	States       []statemachine.State // any of these
	SMSC         string
	To           string    // destination, as given or in E.164 form
	Since, Until time.Time // of AcceptedAt, half-open
	After        statemachine.ID
	Limit        int // 0 = DefaultLimit
	OldestFirst  bool
}

// DefaultLimit is how many rows a list returns when its limit is 0.
const DefaultLimit = 100

// ExceptionFilter selects exceptions. The zero value selects all, newest first.
type ExceptionFilter struct {
	Kind   statemachine.ExceptionKind
	Status string // open | resolved | dismissed
	SMSC   string
	After  string // id of the last one seen
	Limit  int    // 0 = DefaultLimit
}

// ReportRow are the counters of the messages of an hour (of accepted_at, UTC) and SMSC.
type ReportRow struct {
	Hour time.Time
	SMSC string
	statemachine.Tally
}

// InboxStat describes an SMSC's inbox.
type InboxStat struct {
	SMSC   string
	Rows   int
	Oldest time.Time // ReceivedAt of the oldest row
}

// Stat describes the store.
type Stat struct {
	Records      uint64 // seq of the last record
	Applied      uint64 // seq of the last record in the projection
	Segments     int
	LogBytes     int64
	StateBytes   int64
	Messages     uint64
	Partitions   int
	Queue        map[string]int // parts that wait, by SMSC
	OpenByKind   map[statemachine.ExceptionKind]int
	Inbox        []InboxStat
	RebuiltState bool // state.db was missing and is made anew from the log
}

// VerifyProgress tells how far Verify is.
type VerifyProgress struct {
	Phase       string // chain | fold | compare
	Done, Total uint64 // records, or keys
}

// VerifyResult is what Verify found.
type VerifyResult struct {
	Records     uint64
	Commits     uint64
	Messages    uint64
	TakenStored uint64        // decisions that cannot be made again (a text's key was destroyed) and were taken as stored
	Difference  *DamagedError // the first one; nil when all agrees
}

// Queued is a part that is due, with all that is needed to send it. Texts are unsealed.
type Queued struct {
	Entry    statemachine.QueueEntry
	Message  *statemachine.Message
	Accepted *statemachine.MessageAccepted
}

// QueueCursor remembers how far a dispatcher has read its queue, so that reading on costs nothing for
// what was taken already. The zero value starts at the head; set it back to that to look again at
// entries that were given up.
type QueueCursor struct {
	after [4][]byte
}

// UnansweredAttempt is an attempt that left and has no answer.
type UnansweredAttempt struct {
	Ref     statemachine.AttemptRef
	SMSC    string
	Session string
	At      time.Time
}

func (s *Store) todo() error { return ErrClosed }

type Store struct{}

func Open(cfg Config) (*Store, error)          { return nil, ErrClosed }
func OpenReadOnly(cfg Config) (*Store, error)  { return nil, ErrClosed }
func (s *Store) Run(ctx context.Context) error { return s.todo() }
func (s *Store) Close() error                  { return s.todo() }
func (s *Store) SetRules(ctx context.Context, r statemachine.Rules) (seq uint64, err error) {
	return 0, s.todo()
}
func (s *Store) Append(ctx context.Context, facts ...statemachine.Fact) ([]statemachine.Record, error) {
	return nil, s.todo()
}
func (s *Store) Post(ctx context.Context, fact statemachine.Fact, done func(statemachine.Record, error)) error {
	return s.todo()
}
func (s *Store) Accept(ctx context.Context, a *statemachine.MessageAccepted) (Acceptance, error) {
	return Acceptance{}, s.todo()
}
func (s *Store) AcceptPost(ctx context.Context, a *statemachine.MessageAccepted, done func(Acceptance, error)) error {
	return s.todo()
}
func (s *Store) Sync(ctx context.Context) error { return s.todo() }
func (s *Store) Message(ctx context.Context, id statemachine.ID) (*statemachine.Message, error) {
	return nil, s.todo()
}
func (s *Store) MessageByRef(ctx context.Context, owner, ref string) ([]*statemachine.Message, error) {
	return nil, s.todo()
}
func (s *Store) MessagesByExternalID(ctx context.Context, account, messageID string) ([]*statemachine.Message, error) {
	return nil, s.todo()
}
func (s *Store) Messages(ctx context.Context, f Filter) (items []*statemachine.Message, next statemachine.ID, err error) {
	return nil, "", s.todo()
}
func (s *Store) Accepted(ctx context.Context, id statemachine.ID) (*statemachine.MessageAccepted, error) {
	return nil, s.todo()
}
func (s *Store) Record(ctx context.Context, seq uint64) (statemachine.Record, error) {
	return statemachine.Record{}, s.todo()
}
func (s *Store) History(ctx context.Context, id statemachine.ID) ([]Event, error) {
	return nil, s.todo()
}
func (s *Store) Events(ctx context.Context, after uint64, limit int) ([]Event, error) {
	return nil, s.todo()
}
func (s *Store) Changed() <-chan struct{} { return nil }
func (s *Store) Inbox(ctx context.Context, smsc, after string, limit int) (rows []*statemachine.InboxRow, next string, err error) {
	return nil, "", s.todo()
}
func (s *Store) Exceptions(ctx context.Context, f ExceptionFilter) (items []*statemachine.Exception, next string, err error) {
	return nil, "", s.todo()
}
func (s *Store) Exception(ctx context.Context, id string) (*statemachine.Exception, error) {
	return nil, s.todo()
}
func (s *Store) Report(ctx context.Context, since, until time.Time) ([]ReportRow, error) {
	return nil, s.todo()
}
func (s *Store) InboxStats(ctx context.Context) ([]InboxStat, error) { return nil, s.todo() }
func (s *Store) Verify(ctx context.Context, progress func(VerifyProgress)) (VerifyResult, error) {
	return VerifyResult{}, s.todo()
}
func (s *Store) Stat(ctx context.Context) (Stat, error) { return Stat{}, s.todo() }

// NextQueued returns up to limit parts of smsc that are due at now: by priority, then first in first
// out. It does not wait for the applier: when it returns nothing, wait for Changed (taken before the
// call) and for NextDue. cur may be nil. skip names entries that the dispatcher has already taken.
func (s *Store) NextQueued(ctx context.Context, smsc string, now time.Time, cur *QueueCursor, skip func(statemachine.QueueEntry) bool, limit int) ([]Queued, error) {
	return nil, s.todo()
}

// NextDue is when the earliest part that waits for its time becomes due; false when none waits.
func (s *Store) NextDue(smsc string) (time.Time, bool) { return time.Time{}, false }

// Unanswered lists the attempts of an SMSC ("" = any) that have no answer: at start, what a crash left.
func (s *Store) Unanswered(ctx context.Context, smsc string) ([]UnansweredAttempt, error) {
	return nil, s.todo()
}
