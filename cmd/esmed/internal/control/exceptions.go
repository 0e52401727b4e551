package control

import "time"

// InboxRow is receipts for one event that belong to no message yet. Its id names its first reception.
type InboxRow struct {
	ID         string     `json:"id"`
	SMSC       string     `json:"smsc"`
	Account    string     `json:"account"`
	TLVID      *string    `json:"tlv_id"`
	TextID     *string    `json:"text_id"`
	RawStat    string     `json:"raw_stat"`
	State      string     `json:"state"`
	SourceAddr string     `json:"source_addr"`
	DestAddr   string     `json:"dest_addr"`
	ReportedAt string     `json:"reported_at" doc:"The SMSC's date; with zone only where that is configured"`
	ReceivedAt time.Time  `json:"received_at"`
	Attempts   int        `json:"attempts" doc:"Looks at it so far"`
	NextTryAt  *time.Time `json:"next_try_at"`
	Why        string     `json:"why" enum:"unmatched,ambiguous,address_mismatch" doc:"What its receipts came to when last judged"`
	WaitsFor   []string   `json:"waits_for,omitempty" doc:"The destinations whose unanswered submits may be its messages"`
	Dismissed  string     `json:"dismissed,omitempty" doc:"The exception by which a person dismissed it"`
	Receptions []uint64   `json:"receptions" nullable:"false"`
}

// Exception is something for a person to decide.
type Exception struct {
	ID         string      `json:"id"`
	Kind       string      `json:"kind"`
	Status     string      `json:"status" enum:"open,resolved,dismissed"`
	SMSC       string      `json:"smsc"`
	Account    string      `json:"account"`
	Message    string      `json:"message"`
	Part       int         `json:"part"`
	Records    []uint64    `json:"records" nullable:"false" doc:"The first ones; count says how many there were"`
	Candidates []Candidate `json:"candidates" nullable:"false"`
	Count      uint64      `json:"count"`
	FirstAt    time.Time   `json:"first_at"`
	LastAt     time.Time   `json:"last_at"`
	Reason     string      `json:"reason"`
	Resolution *Resolution `json:"resolution"`
}

// Candidate names an attempt that evidence might belong to.
type Candidate struct {
	Message string `json:"message"`
	Part    int    `json:"part"`
	Attempt int    `json:"attempt"`
	// What is known of it, where one exception is asked for.
	State      string     `json:"state,omitempty" doc:"Of the part"`
	To         string     `json:"to,omitempty"`
	AcceptedAt *time.Time `json:"accepted_at,omitempty"`
}

// Resolution says how an exception ended.
type Resolution struct {
	Action string    `json:"action"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	Record uint64    `json:"record" doc:"That ended it"`
}
