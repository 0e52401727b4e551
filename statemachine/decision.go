package statemachine

import (
	"fmt"
	"time"

	"esmed/receipt"
)

// Verdict says what a piece of evidence counted for (DESIGN §3, verdict table).
type Verdict string

// Verdicts. The empty Verdict belongs to what is no evidence.
const (
	VerdictHeld      Verdict = "held"
	VerdictDuplicate Verdict = "duplicate"
	VerdictNoted     Verdict = "noted"
	VerdictApplied   Verdict = "applied"
	VerdictLate      Verdict = "late"
	VerdictRepeat    Verdict = "repeat"
	VerdictConflict  Verdict = "conflict"
	VerdictStale     Verdict = "stale"
	VerdictUnordered Verdict = "unordered"
)

// Verdicts are all of them.
func Verdicts() []Verdict {
	return []Verdict{
		VerdictHeld, VerdictDuplicate, VerdictNoted, VerdictApplied, VerdictLate, VerdictRepeat, VerdictConflict, VerdictStale, VerdictUnordered,
	}
}

// Correlation says whether evidence found its message.
type Correlation string

// Correlations.
const (
	Matched         Correlation = "matched"
	Unmatched       Correlation = "unmatched"
	Ambiguous       Correlation = "ambiguous"
	AddressMismatch Correlation = "address_mismatch"
	NotAReceipt     Correlation = "not_a_receipt"
	Undecodable     Correlation = "undecodable"
)

// DecisionPos names a decision: the record that caused it and its count within that record.
type DecisionPos struct {
	Seq uint64
	N   int
}

// Decision is what was concluded from a record. CONTRACT §3 gives its JSON.
type Decision struct {
	Pos    DecisionPos
	Record uint64 // the record judged; differs from Pos.Seq when another record made it possible

	Message          ID // "" when not matched
	Part             int
	Attempt          int
	Correlation      Correlation
	By               string   // client_ref receipted_message_id text_id callback_id request operator
	ExternalID       string   // the id that matched, as received
	Rule             []string // id rules that were needed
	Candidates       int
	NarrowedBy       string // what told the one from the other candidates: logical_event, address, user_message_reference, address+user_message_reference, dates or window
	Verdict          Verdict
	Why              string // short, for people: "intermediate notification never finalises"
	From, To         State
	LogicalEvent     receipt.Fingerprint
	RepeatOf         uint64 // first reception of the same logical event; 0 = none
	PossibleRepeatOf uint64 // an equal mobile-originated message within ten minutes; 0 = none
	Rules            uint64 // seq of the rules record in force
	Parser           string
	Previous         DecisionPos // the previous decision of the same message; zero = none
}

// ExceptionKind names what a person has to decide.
type ExceptionKind string

// Exception kinds (CONTRACT §3). Rows of the inbox that are older than inbox_older_than show as
// unmatched; they are not stored as exceptions.
const (
	KindConflict           ExceptionKind = "conflict"
	KindAmbiguous          ExceptionKind = "ambiguous"
	KindAddressMismatch    ExceptionKind = "address_mismatch"
	KindUnmappedState      ExceptionKind = "unmapped_state"
	KindUndecodable        ExceptionKind = "undecodable"
	KindInDoubt            ExceptionKind = "in_doubt"
	KindUnmatched          ExceptionKind = "unmatched"
	KindNoMessageID        ExceptionKind = "no_message_id"
	KindDuplicateMessageID ExceptionKind = "duplicate_message_id"
)

// StoredKinds are the kinds that exceptions are stored under: all but KindUnmatched.
func StoredKinds() []ExceptionKind {
	return []ExceptionKind{
		KindConflict, KindAmbiguous, KindAddressMismatch, KindUnmappedState, KindUndecodable, KindInDoubt, KindNoMessageID, KindDuplicateMessageID,
	}
}

// Exception is one thing to decide, with what bears on it.
type Exception struct {
	ID         string // "x1841": the record that opened it ("x1841.1" for a second one of that record)
	Kind       ExceptionKind
	Group      string // what makes it one thing: one open exception per kind and group
	Status     string // open | resolved | dismissed
	SMSC       string
	Account    string
	Message    ID
	Part       int
	Records    []uint64 // the first ones, at most MaxExceptionRecords; Count tells how many there were
	Candidates []AttemptRef
	Count      uint64
	FirstAt    time.Time
	LastAt     time.Time
	Reason     string
	Resolution *Resolution
}

// MaxExceptionRecords bounds Exception.Records.
const MaxExceptionRecords = 16

// Resolution says how an exception ended.
type Resolution struct {
	Action string // a receipt, a late answer, or an operator's action
	By     string
	At     time.Time
	Reason string
	Seq    uint64
}

// byHand reports whether a person decided the exception, rather than that something else ended it.
func (r *Resolution) byHand() bool {
	switch Action(r.Action) {
	case ActionAssign, ActionDismiss, ActionResend, ActionAccepted, ActionNotSent, ActionTake:
		return true
	}
	return false
}

// said tells how it ended, for people. What ended it on the side of something else names nobody.
func (r *Resolution) said() string {
	if r.byHand() {
		return fmt.Sprintf("%s of %s, record %d", r.Action, r.By, r.Seq)
	}
	return fmt.Sprintf("%s, record %d", r.Action, r.Seq)
}
