package control

import (
	"context"
	"errors"
	"time"

	"esmed/receipt"
	"esmed/statemachine"
)

// Errors of a Backend that are answered with a status of their own. Everything else is a fault of ours.
var (
	ErrNotFound      = errors.New("control: not found")                                  // 404
	ErrRefConflict   = errors.New("control: used before for another message")            // 409: ref or idempotency key
	ErrDiskFull      = errors.New("control: the disk is nearly full")                    // 507
	ErrNoRoom        = errors.New("control: no room for more messages at once")          // 429
	ErrNoHead        = errors.New("control: no chain head has that seq")                 // 422
	ErrBusy          = errors.New("control: somebody else has this done just now")       // 409
	ErrConfiguration = errors.New("control: the configuration cannot be used")           // 422
	ErrDirectory     = errors.New("control: the directory cannot be used")               // 422
	ErrNoPart        = errors.New("control: the message has no such part")               // 422
	ErrDamaged       = errors.New("control: the store is damaged")                       // 500
	ErrUnavailable   = errors.New("control: the store is closed or has stopped working") // 503
)

// Backend is what an API works on. The fields up to Report but Submit are needed.
type Backend struct {
	Submit     Submitter // nil: read-only, submits are answered 503
	Messages   MessageReader
	Log        LogReader
	Inbox      InboxReader
	Exceptions ExceptionReader
	Evidence   EvidenceReader
	Report     Reporter
	Binds      Binder                                 // nil: none, as without a daemon
	Queues     func(context.Context) ([]Queue, error) // nil: none
	Alerts     func(context.Context) []Alert          // nil: none, as without a daemon
	Verify     Verifier                               // nil: 503
	Operate    Operator                               // nil: read-only, decisions are answered 503
	Order      Orderer                                // nil: read-only, orders are answered 503
	Queue      Queuer                                 // nil: likewise
	Diagnose   Diagnoser                              // nil: 503
	Rehearse   Rehearser                              // nil: 503
	Backup     Copier                                 // nil: 503
	Store      func(context.Context) (Store, error)   // nil: 503
	Compact    Compacter                              // nil: 503
}

// Submitter takes messages. Uniqueness of ref and idempotency key is its decision.
type Submitter interface {
	// Accept waits until there is room for the message, as long as ctx lets it, and returns when it is durable.
	Accept(ctx context.Context, m *statemachine.MessageAccepted) (Accepted, error)
	// AcceptNow is Accept that does not wait for room: ErrNoRoom, and nothing was kept.
	AcceptNow(ctx context.Context, m *statemachine.MessageAccepted) (Accepted, error)
	// AcceptPost waits for room likewise, queues the message and returns. If it returns nil, done is called exactly once, on a goroutine that it must not block.
	AcceptPost(ctx context.Context, m *statemachine.MessageAccepted, done func(Accepted, error)) error
}

// Accepted is what became of a submission.
type Accepted struct {
	Message  statemachine.ID // the first message's when Existing
	Seq      uint64          // its accepted record
	At       time.Time
	Existing bool // a repeat with the same body
}

// MessageReader finds messages. What was accepted before a call is seen by it.
type MessageReader interface {
	// Message is ErrNotFound when there is none.
	Message(context.Context, statemachine.ID) (*statemachine.Message, error)
	// Messages are newest first. next is "" after the last page.
	Messages(context.Context, MessageFilter) (page []*statemachine.Message, next statemachine.ID, err error)
	// MessagesByRef are those of any owner with that ref.
	MessagesByRef(ctx context.Context, ref string) ([]*statemachine.Message, error)
	// MessagesByMessageID are those that an SMSC gave that id, as received or in canonical form;
	// smsc "" = any.
	MessagesByMessageID(ctx context.Context, smsc, messageID string) ([]*statemachine.Message, error)
}

// MessageFilter selects messages; zero fields select all.
type MessageFilter struct {
	States       []statemachine.State
	SMSC         string
	To           string    // a destination as given, or its digits
	Since, Until time.Time // of acceptance: since <= t < until
	After        statemachine.ID
	Limit        int // 1 or more
}

// LogReader reads the log.
type LogReader interface {
	// History is all records of a message in seq order; ErrNotFound when there is no such message.
	History(context.Context, statemachine.ID) ([]LogEntry, error)
	// Events are at most limit records with seq over after that have been applied, in log order; empty
	// at the end of the log.
	Events(ctx context.Context, after uint64, limit int) ([]LogEntry, error)
	// Changed is closed at the next time that records were applied. Take it before Events.
	Changed() <-chan struct{}
}

// LogEntry is a record with the decisions it caused.
type LogEntry struct {
	Record    statemachine.Record
	Decisions []statemachine.Decision
}

// EvidenceReader proves what happened to messages.
type EvidenceReader interface {
	// Evidence is ErrNotFound when there is no such message, and ErrNoHead when no commit ends with the
	// record head (0 = none is to be come past).
	Evidence(ctx context.Context, id statemachine.ID, head uint64) (Proof, error)
}

// InboxReader lists receipts that belong to no message.
type InboxReader interface {
	// InboxRow finds the row whose first reception is a record; ErrNotFound when there is none.
	InboxRow(ctx context.Context, seq uint64) (InboxEntry, error)
	// Inbox lists rows, oldest page first; smsc "" = all; next is "" after the last page.
	Inbox(ctx context.Context, smsc string, after statemachine.InboxKey, limit int) (page []InboxEntry, next statemachine.InboxKey, err error)
}

// InboxEntry is an inbox row and its looks.
type InboxEntry struct {
	Row       *statemachine.InboxRow
	Attempts  int       // looks at it so far
	NextTryAt time.Time // zero = none to come
}

// ExceptionReader finds exceptions.
type ExceptionReader interface {
	// Exceptions are newest first. next is "" after the last page.
	Exceptions(context.Context, ExceptionFilter) (page []*statemachine.Exception, next string, err error)
	// Exception is ErrNotFound when there is none.
	Exception(ctx context.Context, id string) (*statemachine.Exception, error)
}

// ExceptionFilter selects exceptions; zero fields select all.
type ExceptionFilter struct {
	Kind   statemachine.ExceptionKind
	Status string // open | resolved | dismissed
	SMSC   string
	Since  time.Time // opened then or later
	After  string
	Limit  int // 1 or more
}

// Reporter gives the counters of the report.
type Reporter interface {
	// Report has a row per hour and SMSC for since <= hour < until.
	Report(ctx context.Context, since, until time.Time) ([]HourTally, error)
	// InboxSizes are receipts waiting, by SMSC.
	InboxSizes(context.Context) (map[string]int64, error)
}

// HourTally is the report's counters of an hour and SMSC.
type HourTally struct {
	Hour time.Time // UTC, truncated
	SMSC string
	statemachine.Tally
}

// Verifier compares the store with its log.
type Verifier interface {
	// Verify returns a result when the comparison could be made, whatever it found.
	Verify(ctx context.Context, progress func(VerifyProgress)) (VerifyResult, error)
}

// Operator records what people decide, and has things judged again.
type Operator interface {
	// Operate records decisions and says what came of each when all have been applied. One that could have
	// no effect is not recorded.
	Operate(context.Context, ...*statemachine.Operator) ([]Judged, error)
	// Retry judges rows of the inbox again and counts those of which a receipt found its message.
	Retry(context.Context, ...statemachine.InboxKey) (matched int, err error)
	// Reprocess judges all that is held or noted again under the rules in force, page by page, and tells see of
	// each page. ErrBusy says that somebody else has that done just now. After an error of see's the rest is
	// done without it.
	Reprocess(ctx context.Context, by string, see func(ReprocessPage) error) error
}

// Orderer has messages cancelled, and SMSCs asked about them. by is who orders it.
type Orderer interface {
	// Cancel takes what of a message still waits off its queue, and has the SMSC asked to cancel the rest. It waits
	// for the answers. ErrNotFound when there is no such message.
	Cancel(ctx context.Context, id statemachine.ID, by, reason string) (Cancellation, error)
	// Query has the SMSC asked about a part of a message, 0 = about all, and waits for the answers. ErrNotFound
	// when there is no such message, ErrNoPart when it has no such part.
	Query(ctx context.Context, id statemachine.ID, part int) (Inquiry, error)
}

// Queuer has queues held and emptied. by is who orders it.
type Queuer interface {
	// HoldQueue holds or releases an SMSC's queue. When it returns nothing leaves that was not recorded as leaving
	// before. ErrNotFound when no SMSC has the name and nothing waits for one.
	HoldQueue(ctx context.Context, smsc string, hold bool, by, reason string) (QueueOrder, error)
	// DropQueue drops what waits for an SMSC, page by page, and tells progress, whose error ends it, of each. What
	// was dropped then is in the result. ErrNotFound as for HoldQueue.
	DropQueue(ctx context.Context, smsc, by, reason string, progress func(QueueDrop) error) (QueueDrop, error)
}

// Judged is what came of a decision.
type Judged struct {
	Record    uint64 // 0 = none
	Decisions []statemachine.Decision
	NoEffect  string // why nothing has changed; "" = something has
}

// Rehearser says what a change would come to, and changes nothing.
type Rehearser interface {
	// RehearseReprocess tells see, page by page, what Reprocess would come to under the rules of the
	// configuration as it reads now. ErrConfiguration says that it cannot be used.
	RehearseReprocess(ctx context.Context, see func(ReprocessPage) error) error
}

// ReadReception reads a received PDU under the rules of a rules record, 0 for those in force now; nil
// when it is no delivery (an unknown command).
type ReadReception func(rules uint64, r *statemachine.Reception) *receipt.Receipt
