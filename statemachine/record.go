package statemachine

import (
	"time"

	"esmed/receipt"
)

// ID is our message id: a ULID in its 26-character text form, so time-ordered.
type ID string

// Record is one immutable entry of the log.
type Record struct {
	Seq  uint64    // 1, 2, 3 …; gaps only after a restore
	At   time.Time // UTC, our clock, millisecond precision or finer, never decreasing
	Fact Fact
}

// Fact is what a Record says happened. The set is closed: pointers to the types of this file. A Fact is
// not modified once it is in a Record.
type Fact interface {
	Type() RecordType
}

// RecordType names a Fact's type in the log, in JSON and in the CLI.
type RecordType string

// Record types (DESIGN §5). Those without a Fact here are written by later formats and are read as Other.
const (
	TypeRules      RecordType = "rules"
	TypeAccepted   RecordType = "accepted"
	TypeSent       RecordType = "sent"
	TypeSubmitResp RecordType = "submit_resp"
	TypeInDoubt    RecordType = "in_doubt"
	TypeExpired    RecordType = "expired"
	TypeReception  RecordType = "reception"
	TypeCutoff     RecordType = "cutoff"
	TypeQueryResp  RecordType = "query_resp"
	TypeRetry      RecordType = "retry"
	TypeOperator   RecordType = "operator"
	TypeSession    RecordType = "session"
)

// Rules puts the rules of all SMSCs in force from this record on. The store appends one whenever the
// configuration or the parser differs from the last one in the log.
type Rules struct {
	Parser string // receipt.ParserVersion
	SMSCs  []SMSCRules
}

// SMSCRules is what of one SMSC's configuration decides anything in the fold.
type SMSCRules struct {
	SMSC           string        `json:"smsc"`
	Account        string        `json:"account"`
	Receipt        receipt.Rules `json:"receipt"`
	DeliveryWindow time.Duration `json:"delivery_window"`
	ReceiptGrace   time.Duration `json:"receipt_grace"`
	InDoubtResend  bool          `json:"in_doubt_resend"` // in_doubt: resend; false = hold
}

// MessageAccepted says that we took a message from an application (record type accepted).
type MessageAccepted struct {
	Message ID
	SMSC    string
	Account string

	Owner          string // who submitted: "uid:0", or the token's name; the scope of Ref
	Ref            string // "" = none
	IdempotencyKey string // "" = none
	RequestHash    []byte // SHA-256 of the canonical request; decides whether a repeat is the same

	To                 string // as given
	E164               string // "+393331234567"; "" when the destination is no such number
	Source             receipt.Address
	Dest               receipt.Address
	RegisteredDelivery byte // of parts that ask for a receipt
	Priority           byte
	ServiceType        string
	ProtocolID         byte
	ReplaceIfPresent   byte
	ScheduleRaw        string    // schedule_delivery_time as sent; "" = none
	ScheduledAt        time.Time // its instant; zero = none
	ValidUntil         time.Time // end of its stay in our queue, and of the validity sent
	ValidityAsked      bool      // the application gave it; else ValidUntil is now + delivery_window
	InDoubt            string    // hold | resend; "" = as the SMSC's rules say
	TLVs               []receipt.TLV
	CallbackURL        string

	Parts []PartContent // 1 or more
}

// PartContent is what one submit_sm of the message carries.
type PartContent struct {
	ESMClass     byte
	DataCoding   byte
	ShortMessage []byte // with its UDH; message text, sealed at rest
	NoReceipt    bool   // this part does not ask for a receipt (long_receipts: last | first)
}

// Sent says that attempt Attempt of a part is leaving; it is durable before its PDU is written.
type Sent struct {
	Message        ID
	Part           int // from 1
	Attempt        int // from 1
	SMSC           string
	Session        string // "alpha/1"
	SequenceNumber uint32
	ValidUntil     time.Time // end of the validity_period sent; zero = none sent
	PDU            []byte    // the submit_sm as written; its text is sealed at rest

	UserMessageReference uint16 // the TLV's value as sent; 0 = none sent
}

// SubmitResp is the SMSC's answer to an attempt: submit_sm_resp, or generic_nack.
type SubmitResp struct {
	Message        ID
	Part           int
	Attempt        int
	SMSC           string
	Session        string
	SequenceNumber uint32
	PDU            []byte

	CommandStatus uint32
	MessageID     string    // its octets as received; "" when absent
	Temporary     bool      // decided when it came: back to the queue …
	RetryAt       time.Time // … until then
}

// AttemptInDoubt says that an attempt left and its answer was lost (record type in_doubt).
type AttemptInDoubt struct {
	Message ID
	Part    int
	Attempt int
	SMSC    string
	Session string
	Cause   string // timeout | cut | stop | crash
	// NotWritten: not in doubt after all. The session was gone before an octet of the PDU was handed to
	// it; the attempt did not leave and the part waits in the queue again.
	NotWritten bool
}

// QueueExpired says that a message's validity ended in our queue (record type expired).
type QueueExpired struct {
	Message ID
}

// Reception is a PDU that the SMSC sent us, raw: deliver_sm, data_sm, or anything unknown.
type Reception struct {
	SMSC    string
	Account string
	Session string
	PDU     []byte // header included; its text is sealed at rest
	Length  uint32 // command_length on the wire; more than len(PDU) when it was over max_pdu
}

// Cutoff says that a part's window is over and nothing final was heard.
type Cutoff struct {
	Message ID
	Part    int
}

// QueryResp is the SMSC's answer to our query_sm for an attempt.
type QueryResp struct {
	Message ID
	Part    int
	Attempt int
	SMSC    string
	Account string
	Session string
	PDU     []byte

	CommandStatus uint32
	MessageID     string
	MessageState  byte   // as on the wire
	FinalDateRaw  string // "" when absent
	ErrorCode     byte
}

// Retry asks that an inbox row be judged again: its growing timer found a match.
type Retry struct {
	Row InboxKey
}

// SessionEvent says what became of a bind (record type session). It never holds a bind request.
type SessionEvent struct {
	SMSC          string
	Session       string
	Event         string // bound | refused | closed | outbind | alert_notification | started | stopped
	CommandStatus uint32
	Detail        string
	PDU           []byte
}

// Other is a record of a type this version does not know. It has no effect.
type Other struct {
	Name RecordType
	Raw  []byte
}

// Type implements Fact.
func (*Rules) Type() RecordType { return TypeRules }

// Type implements Fact.
func (*MessageAccepted) Type() RecordType { return TypeAccepted }

// Type implements Fact.
func (*Sent) Type() RecordType { return TypeSent }

// Type implements Fact.
func (*SubmitResp) Type() RecordType { return TypeSubmitResp }

// Type implements Fact.
func (*AttemptInDoubt) Type() RecordType { return TypeInDoubt }

// Type implements Fact.
func (*QueueExpired) Type() RecordType { return TypeExpired }

// Type implements Fact.
func (*Reception) Type() RecordType { return TypeReception }

// Type implements Fact.
func (*Cutoff) Type() RecordType { return TypeCutoff }

// Type implements Fact.
func (*QueryResp) Type() RecordType { return TypeQueryResp }

// Type implements Fact.
func (*Retry) Type() RecordType { return TypeRetry }

// Type implements Fact.
func (*SessionEvent) Type() RecordType { return TypeSession }

// Type implements Fact. It is the name that the record bears in the log.
func (o *Other) Type() RecordType { return o.Name }
