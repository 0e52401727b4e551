package control

import (
	"time"

	"esmed/receipt"
)

// Event is one record of the log with the decisions it caused. What does not belong to its type is left
// out.
type Event struct {
	Seq            uint64    `json:"seq" doc:"Its cursor"`
	At             time.Time `json:"at"`
	Type           string    `json:"type" doc:"The record's type"`
	SMSC           string    `json:"smsc,omitempty"`
	Session        string    `json:"session,omitempty"`
	SequenceNumber *uint32   `json:"sequence_number,omitempty"`
	Message        string    `json:"message,omitempty"`
	Part           int       `json:"part,omitempty"`
	Attempt        int       `json:"attempt,omitempty"`
	Detail         string    `json:"detail,omitempty" doc:"What else the record says, for people"`
	PDU            string    `json:"pdu,omitempty" doc:"Hex"`
	Operator       *Decided  `json:"operator,omitempty" doc:"What a person decided"`
	Receipt        *Receipt  `json:"receipt,omitempty"`
	// PossibleRepeatOf is set for a mobile-originated message that reads as an earlier one did within
	// ten minutes.
	PossibleRepeatOf uint64     `json:"possible_repeat_of,omitempty"`
	Decisions        []Decision `json:"decisions" nullable:"false"`
}

// Decided is what a person decided, or had judged again.
type Decided struct {
	Action    string `json:"action"`
	By        string `json:"by" doc:"uid:N, token:NAME, or esmed where a change of rules asked for it"`
	Reason    string `json:"reason" doc:"The person's own words"`
	Exception string `json:"exception,omitempty"`
	Target    string `json:"target,omitempty" doc:"assign: the message, and /n for a part"`
	MessageID string `json:"message_id,omitempty" doc:"accepted: the SMSC's id"`
	Rows      int    `json:"rows,omitempty" doc:"reprocess: inbox rows of this page"`
	Messages  int    `json:"messages,omitempty" doc:"reprocess, drop: messages of this page"`
}

// Decision is what was concluded from a record.
type Decision struct {
	N            int      `json:"n" doc:"Count within the record that caused it"`
	Record       uint64   `json:"record" doc:"The record judged"`
	Message      string   `json:"message"`
	Part         int      `json:"part"`
	Attempt      int      `json:"attempt"`
	Correlation  string   `json:"correlation"`
	By           string   `json:"by"`
	ExternalID   string   `json:"external_id" doc:"The id that matched, as received"`
	Rule         []string `json:"rule" nullable:"false" doc:"Id rules that were needed"`
	Candidates   int      `json:"candidates"`
	NarrowedBy   string   `json:"narrowed_by"`
	Verdict      string   `json:"verdict"`
	Why          string   `json:"why,omitempty" doc:"Why this verdict, for people"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	LogicalEvent string   `json:"logical_event"`
	RepeatOf     *uint64  `json:"repeat_of" doc:"First reception of the same logical event"`
	Rules        uint64   `json:"rules" doc:"The rules record in force"`
	Parser       string   `json:"parser"`
}

// Receipt is the reading of one delivered PDU, with what the SMSC wrote beside it.
type Receipt = receipt.View
