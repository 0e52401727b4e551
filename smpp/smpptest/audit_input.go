package smpptest

import "io"

// AuditMessage is what the audit reads of a message object as "esmed list --limit 0 -o ndjson" prints it.
type AuditMessage struct {
	ID           string       `json:"id"`
	Destination  AuditAddress `json:"destination"`
	State        string       `json:"state"`
	Final        bool         `json:"final"`
	MaybeDoubled bool         `json:"maybe_doubled"`
	Parts        []AuditPart  `json:"parts"`
}

// AuditAddress is the address as it was submitted.
type AuditAddress struct {
	Addr string `json:"addr"`
}

// AuditPart is one part of a message.
type AuditPart struct {
	Part     int            `json:"part"`
	State    string         `json:"state"`
	Attempts []AuditAttempt `json:"attempts"`
}

// AuditAttempt is one submit_sm of a part.
type AuditAttempt struct {
	Attempt        int    `json:"attempt"`
	SequenceNumber uint32 `json:"sequence_number"`
	CommandStatus  string `json:"command_status"`
	MessageID      string `json:"message_id"`
}

// AuditEvent is what the audit reads of an event object as "esmed events --after 0 -o ndjson" prints it.
type AuditEvent struct {
	Seq       uint64          `json:"seq"`
	Type      string          `json:"type"`
	PDU       string          `json:"pdu"` // hex
	Decisions []AuditDecision `json:"decisions"`
}

// AuditDecision is what was concluded from a record.
type AuditDecision struct {
	Record      uint64 `json:"record"` // seq of the reception that it is about
	Message     string `json:"message"`
	Correlation string `json:"correlation"`
	Verdict     string `json:"verdict"`
}

// ReadMessages reads message objects, one a line.
func ReadMessages(r io.Reader) ([]AuditMessage, error) {
	return readLines[AuditMessage](r, "messages")
}

// ReadEvents reads event objects, one a line.
func ReadEvents(r io.Reader) ([]AuditEvent, error) { return readLines[AuditEvent](r, "events") }
