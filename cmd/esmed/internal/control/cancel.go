package control

// Cancellation says what became of each part of a message that was to be cancelled.
type Cancellation struct {
	Message string          `json:"message"`
	OK      bool            `json:"ok" doc:"Every part was cancelled here, or its SMSC accepted to cancel it"`
	State   string          `json:"state" doc:"Of the message now. What an SMSC was asked to cancel stays as it is until a receipt says more"`
	Record  uint64          `json:"record,omitempty" doc:"Of the order; none when there was nothing left to cancel"`
	Parts   []CancelledPart `json:"parts" nullable:"false"`
}

// What became of a part, or of one attempt of it (CancelledPart.Outcome, Asked.Outcome).
const (
	OutcomeCancelled  = "cancelled"  // it waited here and will not leave
	OutcomeClosed     = "closed"     // it has its end already
	OutcomeAccepted   = "accepted"   // the SMSC answered cancel_sm ESME_ROK
	OutcomeAnswered   = "answered"   // the SMSC answered query_sm ESME_ROK
	OutcomeRefused    = "refused"    // it answered with another status
	OutcomeUnanswered = "unanswered" // it was asked, and did not answer in time
	OutcomeUnasked    = "not_asked"  // it could not be asked
)

// CancelledPart is a part of a message, or one attempt of it where its SMSC has to be asked: a part that was
// sent more than once has one for each.
type CancelledPart struct {
	Part          int    `json:"part"`
	Attempt       int    `json:"attempt,omitempty" doc:"That the SMSC was to be asked about"`
	OK            bool   `json:"ok"`
	Outcome       string `json:"outcome" enum:"cancelled,closed,accepted,refused,unanswered,not_asked"`
	State         string `json:"state" doc:"Of the part now"`
	MessageID     string `json:"message_id,omitempty" doc:"That cancel_sm named"`
	CommandStatus string `json:"command_status,omitempty" doc:"Of the answer to cancel_sm"`
	Record        uint64 `json:"record,omitempty" doc:"That it rests on: the order, what ended the part, or the SMSC's answer"`
	Detail        string `json:"detail" doc:"What became of it and what to do, for people"`
}

// Inquiry says what an SMSC answered when it was asked about a message (query_sm), and what that did to it.
type Inquiry struct {
	Message string  `json:"message"`
	OK      bool    `json:"ok" doc:"Every question was answered with ESME_ROK"`
	State   string  `json:"state" doc:"Of the message now"`
	Final   bool    `json:"final"`
	Asked   []Asked `json:"asked" nullable:"false" doc:"One for each attempt that has an id, and one for each part that has none"`
}

// Asked is one query_sm and what came of it.
type Asked struct {
	Part          int    `json:"part"`
	Attempt       int    `json:"attempt,omitempty"`
	Outcome       string `json:"outcome" enum:"answered,refused,unanswered,not_asked"`
	MessageID     string `json:"message_id,omitempty" doc:"That query_sm named"`
	CommandStatus string `json:"command_status,omitempty"`
	MessageState  *int   `json:"message_state" doc:"The octet, where the answer has one"`
	Reported      string `json:"reported" doc:"The state that it names; empty where it names none"`
	FinalDate     string `json:"final_date" doc:"As received"`
	ErrorCode     *int   `json:"error_code"`
	Record        uint64 `json:"record,omitempty" doc:"Of the answer"`
	Verdict       string `json:"verdict" doc:"What the answer counted for"`
	From          string `json:"from" doc:"State of the part before"`
	To            string `json:"to" doc:"And by the answer"`
	Detail        string `json:"detail" doc:"For people"`
}
