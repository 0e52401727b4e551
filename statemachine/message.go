package statemachine

import (
	"time"

	"esmed/receipt"
)

// Message is the projection of one message: what its records say so far. Step returns new ones, and modifies none but
// those that a View lends it for that.
type Message struct {
	ID      ID
	SMSC    string
	Account string
	Owner   string
	Ref     string

	To                 string
	E164               string
	Source             receipt.Address
	Dest               receipt.Address
	RegisteredDelivery byte
	Priority           byte
	ValidityAsked      bool
	State              State
	InDoubt            string // hold | resend | ""

	AcceptedSeq uint64
	AcceptedAt  time.Time
	SubmittedAt time.Time // of the first accepted submit_sm_resp; zero = none
	FinalisedAt time.Time // zero = not final
	UpdatedAt   time.Time
	ScheduledAt time.Time
	ValidUntil  time.Time

	Parts []Part

	Counts       Counts
	LastDecision DecisionPos // head of the chain of its decisions; zero = none
	Exceptions   []string    // ids of its open exceptions
}

// Counts are the receptions that were matched to a message, by verdict. Receipts counts them all.
type Counts struct {
	Receipts, Duplicate, Repeat, Late, Stale, Unordered, Noted, Conflict uint32
}

// Part is what one submit_sm carries, with all its attempts.
type Part struct {
	Number   int // from 1
	State    State
	Asked    bool // a final receipt was asked for: holds the fold and counts in the ratios
	Partial  bool // a receipt was asked for one outcome only (failure): silence says nothing, the window ends it
	Attempts []Attempt

	QueuedSeq uint64    // record that put it (back) into the queue; 0 when not queued
	NotBefore time.Time // end of its retry delay; zero = at once

	Reported  Reported // the evidence that its reported state rests on
	CutoffSeq uint64   // the cutoff (or retention) record that ended its window; 0 = none
	// WindowEnd is when its window ends (or ended, if UNREPORTED) under the rules in force when it was last
	// touched; zero = there is none to wait for.
	WindowEnd time.Time
	Basis     Basis   // what State rests on
	BasisSeq  uint64  // the record
	Ruling    Ruling  // what a person decided last that its report, acceptance or place in the queue (or out of it) rests on
	Events    []Event // newest last, at most MaxEvents
}

// Ruling is a person's decision. The zero Ruling is none.
type Ruling struct {
	Action Action
	By     string // "uid:0", or the token's name
	Reason string // the person's own words
	Seq    uint64 // the operator record
}

// MaxEvents is how many logical events a part remembers. An SMSC that sends more distinct ones for a
// part gets the oldest judged anew when it repeats; locked states stay locked.
const MaxEvents = 16

// Event is a logical event known to a part.
type Event struct {
	Fingerprint receipt.Fingerprint
	Seq         uint64 // the first reception that reported it
	Count       uint32 // receptions so far
}

// Reported is the report that a part's state rests on, zero when nothing was reported.
type Reported struct {
	State        State
	Final        bool // State is final under the SMSC's rules of that time: locked
	MessageState receipt.MessageState
	Attempt      int    // that it is about; 0 = not known
	SMSC         string // who reported it
	Seq          uint64 // the reception (or query_resp)
	At           time.Time
	RawStat      string
	Err          string
	DoneDateRaw  string
	DoneDate     receipt.Date
	By           string // how it was matched, as Decision.By
}

// Basis says what a state rests on (CONTRACT: basis).
type Basis string

// Bases.
const (
	BasisNone       Basis = "none"
	BasisSubmitResp Basis = "submit_sm_resp"
	BasisReceipt    Basis = "receipt"
	BasisCallback   Basis = "callback"
	BasisQuery      Basis = "query_sm"
	BasisCutoff     Basis = "cutoff"
	BasisExpiry     Basis = "expiry"
	BasisOperator   Basis = "operator"
)

// Outcome is what became of an attempt.
type Outcome uint8

// Outcomes. Unanswered is the zero value.
const (
	Unanswered  Outcome = iota
	AcceptedBy          // ESME_ROK
	RefusedTemp         // refused, back to the queue
	RefusedPerm         // refused for good
	Doubtful            // left, answer lost
	NotSent             // did not leave after all
	Arrived             // answer lost, but evidence for it came: the SMSC has it
)

// Attempt is one submit_sm of a part.
type Attempt struct {
	Number         int // from 1
	At             time.Time
	Seq            uint64 // its sent record; 0 = supposed: the part was queued in a backup that was restored
	Session        string
	SequenceNumber uint32
	ValidUntil     time.Time // end of the validity_period sent; zero = none sent

	UserMessageReference uint16 // as sent; 0 = none

	Outcome       Outcome
	Learnt        bool // MessageID is from a receipt that echoed our reference, and reads as a receipt's does
	CommandStatus uint32
	MessageID     string // as receipt.MessageID reads it; "" = none known
	AnsweredAt    time.Time
	AnswerSeq     uint64 // its submit_resp record; 0 = none, also where a person said that it was accepted
	DoubtSeq      uint64 // its in_doubt record; 0 = never in doubt
	DoubtCause    string
	DoubtEnded    DoubtEnd // what ended the doubt; "" = nothing yet, or never in doubt
	DoubtEndSeq   uint64   // the record that did, or will: evidence may come while the answer is still awaited
}

// DoubtEnd names what told the truth about an attempt whose answer was lost.
type DoubtEnd string

// Ends of a doubt.
const (
	DoubtLateAnswer DoubtEnd = "late_answer"
	DoubtClientRef  DoubtEnd = "client_ref" // an echoed reference
	DoubtReceipt    DoubtEnd = "receipt"
	DoubtNotWritten DoubtEnd = "not_written"
	DoubtOperator   DoubtEnd = "operator"
)
