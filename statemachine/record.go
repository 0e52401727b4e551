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
	TypeCancelResp RecordType = "cancel_resp"
	TypeRetry      RecordType = "retry"
	TypeOperator   RecordType = "operator"
	TypeSession    RecordType = "session"
	TypeRetention  RecordType = "retention"
	TypeRestored   RecordType = "restored"
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
	ScheduleRaw        string    // schedule_delivery_time in SMPP form, as given if it had that; "" = none
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
	// TLVs are this part's own, besides the message's: sar_msg_ref_num, sar_total_segments, sar_segment_seqnum.
	TLVs []receipt.TLV
	// Payload: ShortMessage travels in message_payload (long_messages: payload), however short it is.
	Payload bool
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
	// Cause is timeout, cut, stop or crash; or restored, of what a backup held as queued or unanswered: it
	// may have been sent since. The attempt may then be one that the part does not have yet.
	Cause string
	// NotWritten: not in doubt after all. The session was gone before an octet of the PDU was handed to
	// it; the attempt did not leave and the part waits in the queue again.
	NotWritten bool
	// RetryAt is from when it is sent again, if it is: in turn with what waits, as after a refusal. Zero: behind all
	// that waits.
	RetryAt time.Time
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

// CancelResp is the SMSC's answer to our cancel_sm for an attempt. It is noted, and moves nothing: what
// became of the message is for a receipt to say.
type CancelResp struct {
	Message ID
	Part    int
	Attempt int
	SMSC    string
	Session string
	PDU     []byte

	CommandStatus uint32
}

// Retry asks that an inbox row be judged again: its growing timer found a match.
type Retry struct {
	Row InboxKey
}

// Action names what a person decided (CONTRACT §2, exceptions resolve).
type Action string

// Actions. Those from reprocess on are about no exception.
const (
	ActionAssign    Action = "assign"    // the receptions of an inbox row belong to Target
	ActionDismiss   Action = "dismiss"   // nothing is to be done
	ActionResend    Action = "resend"    // an attempt in doubt: send the part once more
	ActionAccepted  Action = "accepted"  // an attempt without a known id was accepted as MessageID
	ActionNotSent   Action = "not_sent"  // an attempt in doubt never left
	ActionTake      Action = "take"      // of two contradicting finals the second counts
	ActionUndo      Action = "undo"      // what an earlier record decided about Exception is taken back
	ActionReprocess Action = "reprocess" // what is held or noted is judged again under the rules in force
	ActionCancel    Action = "cancel"    // Messages, one: its parts leave the queue; that cancel_sm follows for the others is noted
	ActionDrop      Action = "drop"      // Messages, a page of them: their parts leave SMSC's queue
	ActionHold      Action = "hold"      // nothing is sent to SMSC until …
	ActionRelease   Action = "release"   // … it is
)

// Operator is what a person decided, or wants looked at again (record type operator).
type Operator struct {
	Action Action
	By     string // "uid:0", or "token:" and its name; "esmed" when a change of rules asked for it
	Reason string // the person's own words

	Exception string     // id of the stored exception that is decided; "" where Row is
	Row       InboxKey   // the inbox row that is decided; "" where Exception is
	Target    AttemptRef // assign: message and part, part 0 = its only one
	MessageID string     // accepted: the SMSC's id for the attempt

	Reprocess *Reprocess // reprocess only

	SMSC     string // drop, hold, release
	Messages []ID   // cancel: one; drop: a page
}

// Reprocess is one page of a pass over what rules decide about: first the inbox, which is read and keyed
// anew, then messages from the newest to the oldest, which are indexed anew and whose noted receptions
// are judged again. A page is judged whole or not at all.
type Reprocess struct {
	Rows     []InboxKey
	Messages []ID
	Progress ReprocessProgress // how far the pass is with this page
}

// ReprocessProgress says how far the last pass came. The zero value is before any.
type ReprocessProgress struct {
	Rules    uint64   // the rules record that it brings things up to
	After    InboxKey // rows up to this one (in the inbox's order) are done; of no meaning once InboxDone
	Rows     bool     // all rows are done
	Before   ID       // messages from this one on are done; "" = none yet
	Finished bool     // all messages are done
}

// Retention says what is closed or dropped because its time is over. One record does one of these.
type Retention struct {
	Close      []ID       // messages still open, which are dropped next
	Messages   ID         // partitions of messages whose ids are all less are dropped; "" = none
	Inbox      []InboxKey // rows that are dropped
	Exceptions []string   // exceptions that are dropped, open or not
	Log        uint64     // records before are dropped, with the decisions they caused; 0 = none
}

// Restored says that the store begins anew from a backup. Seqs go on 2^32 higher from this record on.
type Restored struct {
	Backup string // names the backup
	Send   bool   // run --restored send: what was queued is sent, what was unanswered is in doubt
	Done   bool   // the second such record of a backup: all that had to be in doubt is
}

// SessionEvent says what became of a bind, or of all binds with an SMSC, where Session is "" (record type session). It
// never holds a bind request.
type SessionEvent struct {
	SMSC          string
	Session       string
	Event         string // bound | refused | closed | outbind | alert_notification | stray_response | stopped | started | restarted
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
func (*CancelResp) Type() RecordType { return TypeCancelResp }

// Type implements Fact.
func (*Retry) Type() RecordType { return TypeRetry }

// Type implements Fact.
func (*Operator) Type() RecordType { return TypeOperator }

// Type implements Fact.
func (*Retention) Type() RecordType { return TypeRetention }

// Type implements Fact.
func (*Restored) Type() RecordType { return TypeRestored }

// Type implements Fact.
func (*SessionEvent) Type() RecordType { return TypeSession }

// Type implements Fact. It is the name that the record bears in the log.
func (o *Other) Type() RecordType { return o.Name }
