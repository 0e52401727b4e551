package control

import "time"

// Message is the state of a message and why. Acceptance and Receipt are the deciding part's: the first
// one that stands where the message stands.
type Message struct {
	ID                 string      `json:"id" doc:"Ours, a ULID"`
	Ref                string      `json:"ref"`
	SMSC               string      `json:"smsc"`
	Account            string      `json:"account"`
	To                 string      `json:"to" doc:"As given"`
	Source             Address     `json:"source"`
	Destination        Destination `json:"destination"`
	State              string      `json:"state"`
	Final              bool        `json:"final"`
	Closed             bool        `json:"closed"`
	Basis              string      `json:"basis" enum:"none,submit_sm_resp,receipt,callback,query_sm,cutoff,expiry,operator"`
	Reason             string      `json:"reason" doc:"Why it stands there, for people"`
	Evidence           []uint64    `json:"evidence" nullable:"false" doc:"Records that the state rests on"`
	RegisteredDelivery int         `json:"registered_delivery"`
	MaybeDoubled       bool        `json:"maybe_doubled" doc:"More than one attempt may have arrived"`

	AcceptedAt  time.Time  `json:"accepted_at" doc:"Accepted by us"`
	SubmittedAt *time.Time `json:"submitted_at" doc:"Accepted by the SMSC"`
	FinalisedAt *time.Time `json:"finalised_at"`
	UpdatedAt   time.Time  `json:"updated_at"`

	Acceptance   *Acceptance     `json:"acceptance" doc:"The submit_sm_resp that accepted it"`
	Receipt      *MessageReceipt `json:"receipt" doc:"The outcome that the SMSC reported"`
	Verification *Verification   `json:"verification" doc:"What was found out independently of the SMSC"`
	Receptions   Receptions      `json:"receptions" doc:"Matched receipts, by what they counted for"`
	Exceptions   []string        `json:"exceptions" nullable:"false" doc:"Ids of its open exceptions"`
	Parts        []Part          `json:"parts" nullable:"false"`
}

// Address is an SME address (SMPP v3.4 §5.2.5-5.2.9).
type Address struct {
	Addr string `json:"addr"`
	TON  int    `json:"ton" minimum:"0" maximum:"255"`
	NPI  int    `json:"npi" minimum:"0" maximum:"255"`
}

// Destination is an Address and the telephone number it stands for, "" when it is none.
type Destination struct {
	Address
	E164 string `json:"e164"`
}

// Acceptance is the SMSC's answer to the attempt that it accepted.
type Acceptance struct {
	CommandStatus string    `json:"command_status" doc:"Empty where only an operator says that it was accepted"`
	MessageID     string    `json:"message_id" doc:"As received"`
	At            time.Time `json:"at"`
	Record        uint64    `json:"record"`
}

// MessageReceipt is the report that a state rests on. DoneDate is "" when the SMSC's date was none, and
// without zone when its zone is not configured.
type MessageReceipt struct {
	RawStat      string    `json:"raw_stat"`
	MessageState *int      `json:"message_state" doc:"The octet of the TLV"`
	Err          string    `json:"err"`
	DoneDateRaw  string    `json:"done_date_raw"`
	DoneDate     string    `json:"done_date"`
	At           time.Time `json:"at" doc:"When it came, by our clock"`
	Record       uint64    `json:"record"`
}

// Verification is a finding about a message that does not come from its SMSC.
type Verification struct {
	Result string    `json:"result"`
	At     time.Time `json:"at"`
	Record uint64    `json:"record"`
}

// Receptions counts a message's receptions by verdict. Receipts counts them all.
type Receptions struct {
	Receipts  int `json:"receipts"`
	Duplicate int `json:"duplicate"`
	Repeat    int `json:"repeat"`
	Late      int `json:"late"`
	Stale     int `json:"stale"`
	Unordered int `json:"unordered"`
	Noted     int `json:"noted"`
	Conflict  int `json:"conflict"`
}

// Part is what one submit_sm of a message carries, with all its attempts.
type Part struct {
	Part     int        `json:"part" doc:"From 1"`
	State    string     `json:"state"`
	RetryAt  *time.Time `json:"retry_at,omitempty" doc:"When it may be sent again, while it waits for that"`
	Attempts []Attempt  `json:"attempts" nullable:"false"`
}

// Attempt is one submit_sm. CommandStatus is "" while it is unanswered.
type Attempt struct {
	Attempt        int       `json:"attempt" doc:"From 1"`
	At             time.Time `json:"at"`
	Session        string    `json:"session"`
	SequenceNumber uint32    `json:"sequence_number"`
	CommandStatus  string    `json:"command_status"`
	MessageID      string    `json:"message_id" doc:"As received"`
}
