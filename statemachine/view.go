package statemachine

import (
	"time"

	"esmed/receipt"
)

// AttemptRef names an attempt of a part of a message.
type AttemptRef struct {
	Message ID
	Part    int
	Attempt int
}

// View is what the fold reads of the state so far. Errors are the implementation's (I/O) and end the
// step. Values are not modified by either side, but for messages that the View lends to be changed.
type View interface {
	// Rules are the rules record in force; seq 0 and nil before the first.
	Rules() (seq uint64, rules *Rules)
	// Message is nil when there is none (or none any more). own says that nobody else has it, or keeps it: a Step
	// changes it in place then, unless it fails or has no effect.
	Message(ID) (m *Message, own bool, err error)
	// Attempts that were given an id with that key, in any order.
	Attempts(account string, key receipt.Key) ([]AttemptRef, error)
	// Held are the inbox rows that wait for that key, in any order.
	Held(account string, key receipt.Key) ([]*InboxRow, error)
	// InboxRow is nil when there is none.
	InboxRow(InboxKey) (*InboxRow, error)
	// Unanswered are the attempts to that destination that have no answer, in any order: those that
	// UnansweredChange added under it and did not remove.
	Unanswered(account, dest string) ([]AttemptRef, error)
	// HeldFor are the rows that wait for that destination (InboxRow.WaitsFor), in any order.
	HeldFor(account, dest string) ([]*InboxRow, error)
	// OpenException finds the open one of a kind and group; nil when there is none.
	OpenException(kind ExceptionKind, group string) (*Exception, error)
	// Inbound finds the newest mobile-originated message that read the same (nothing but sequence
	// number, bind and our time differs); seq 0 when there is none that is remembered.
	Inbound(account string, fp receipt.Fingerprint) (seq uint64, at time.Time, err error)
	// Record reads the log again; its error is ErrGone for one that Drop.Log dropped, whatever is still there, but
	// for the rules in force at the first record that is left: what is left may have been decided under them.
	Record(seq uint64) (Record, error)
	// Exception finds one by its id, open or not; nil when there is none (any more).
	Exception(id string) (*Exception, error)
	// Hold of an SMSC's queue; the zero Hold when there is none.
	Hold(smsc string) (Hold, error)
	// Decision reads one that a message's chain names; ErrGone as for Record.
	Decision(DecisionPos) (*Decision, error)
}

// Effects are what one record changes. Everything is a new value to put in the place of the old one. They are used
// again from record to record: what is kept of them is copied out of the slices, and what these point to may be kept.
type Effects struct {
	Messages   []MessageChange
	Decisions  []Decision
	Index      []IndexEntry
	Inbox      []InboxChange
	Exceptions []*Exception
	Unanswered []UnansweredChange
	Queue      []QueueChange
	Tallies    []TallyChange
	Inbound    []InboundChange
	Windows    []WindowChange
	Overdue    []OverdueChange
	Reprocess  *ReprocessProgress // in place of the last one; nil = unchanged
	Drop       *Drop
	Restored   *Restored // in place of the last one; nil = unchanged
	Hold       *HoldChange
	// Reading is what was read of the record's own PDU, where that is a Reception; else nil. It changes nothing, and is
	// valid until the next Step.
	Reading *receipt.Receipt
	// NoEffect says why the record changed nothing, when its condition no longer held.
	NoEffect string

	step step // Step's own room
}

// reset empties e but keeps its room.
func (e *Effects) reset() {
	e.Messages, e.Decisions, e.Index, e.Inbox = emptied(e.Messages), emptied(e.Decisions), emptied(e.Index), emptied(e.Inbox)
	e.Exceptions, e.Unanswered, e.Queue = emptied(e.Exceptions), emptied(e.Unanswered), emptied(e.Queue)
	e.Tallies, e.Inbound, e.Windows, e.Overdue = emptied(e.Tallies), emptied(e.Inbound), emptied(e.Windows), emptied(e.Overdue)
	e.Reprocess, e.Drop, e.Restored, e.Hold, e.Reading = nil, nil, nil, nil, nil
	e.NoEffect = ""
}

// emptied lets go of what a slice pointed to, and keeps its room.
func emptied[E any](s []E) []E {
	clear(s)
	return s[:0]
}

// MessageChange puts a message, which may be the one that the View lent.
type MessageChange struct {
	Message *Message
	Was     State // before; NoState when there was no such message
}

// IndexEntry makes an attempt found by an id, or no more. Putting one that is there already changes nothing.
type IndexEntry struct {
	Account string
	Key     receipt.Key
	Ref     AttemptRef
	Remove  bool
}

// InboxKey identifies an inbox row: account, TLV id, text id, state word and reported time, or the
// fingerprint when there is no id. It is opaque and comparable.
type InboxKey string

// InboxRow is receipts for one event that belong to no message yet.
type InboxRow struct {
	Key        InboxKey
	SMSC       string
	Account    string
	TLVID      string
	TextID     string
	RawStat    string
	State      receipt.MessageState
	Source     receipt.Address
	Dest       receipt.Address
	ReportedAt receipt.Date
	ReceivedAt time.Time // first reception
	Why        Correlation
	Keys       []receipt.Key // every form it is to be found under
	WaitsFor   []string      // destinations whose unanswered submits its receptions wait for, each once
	Receptions []uint64      // in seq order
	Dismissed  string        // id of the exception by which a person dismissed it; "" = it counts
}

// InboxChange puts a row, or deletes it when Row is nil.
type InboxChange struct {
	Key InboxKey
	Row *InboxRow
}

// UnansweredChange adds or removes an attempt from the unanswered ones of a destination.
type UnansweredChange struct {
	Account, Dest string
	Ref           AttemptRef
	Remove        bool
}

// QueueEntry is a part waiting to be sent.
type QueueEntry struct {
	SMSC      string
	Priority  byte      // 0-3, higher first
	NotBefore time.Time // zero = at once
	Seq       uint64    // the record that queued it: first in, first out
	Message   ID
	Part      int
}

// QueueChange puts or removes an entry.
type QueueChange struct {
	Entry  QueueEntry
	Remove bool
}

// WindowChange puts or removes that a part's window ends at that time (Part.WindowEnd) while it waits for
// an outcome: a cutoff is due then, or the doubt about it is overdue.
type WindowChange struct {
	SMSC   string
	At     time.Time
	Doubt  bool       // the part is IN_DOUBT: never cut off, overdue from then on
	Ref    AttemptRef // Attempt is 0
	Remove bool
}

// OverdueChange counts parts that are UNREPORTED by the minute in which their window ended.
type OverdueChange struct {
	SMSC   string
	Minute time.Time // UTC, truncated
	Delta  int64
}

// Hold says that a person wants nothing sent to an SMSC for now. The zero Hold is none.
type Hold struct {
	Seq    uint64 // the operator record
	At     time.Time
	By     string
	Reason string
}

// HoldChange puts an SMSC's hold, or takes it away with the zero Hold.
type HoldChange struct {
	SMSC string
	Hold Hold
}

// Drop says what is no more because of retention.
type Drop struct {
	Messages   ID       // partitions whose ids are all less; "" = none
	Exceptions []string // by id
	Log        uint64   // decisions caused by records before; 0 = none
}

// Tally is a message's share of the report's counters (CONTRACT §4), 0 or 1 each.
type Tally struct {
	Accepted, Submitted, Failed, Asked, Final, Delivered, Open, Unreported, InDoubt, MaybeDoubled, Verified int64
}

// TallyChange is what to add to the counters of an hour and SMSC.
type TallyChange struct {
	Hour  time.Time // of accepted_at, UTC, truncated
	SMSC  string
	Delta Tally
}

// InboundWindow is how long an equal mobile-originated message is marked as a possible repeat.
const InboundWindow = 10 * time.Minute

// InboundChange remembers a mobile-originated message for InboundWindow.
type InboundChange struct {
	Account     string
	Fingerprint receipt.Fingerprint
	Seq         uint64
	At          time.Time
}
