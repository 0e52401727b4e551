package control

import (
	"time"

	"esmed/statemachine"
)

// Resolve is what a person decides about exceptions: about those that IDs names, or about all open ones
// that Select takes. Ids are those of exceptions ("x1841") and of inbox rows ("i1790").
type Resolve struct {
	IDs       []string   `json:"ids,omitempty" doc:"At most 1000"`
	Select    *Selection `json:"select,omitempty" doc:"In place of ids: all open exceptions of this kind, SMSC and time"`
	Action    string     `json:"action" enum:"assign,dismiss,resend,accepted,not_sent,take,undo"`
	Target    string     `json:"target,omitempty" doc:"assign: the message the receipts belong to, /n for part n of several"`
	MessageID string     `json:"message_id,omitempty" doc:"accepted: the SMSC's id for the message"`
	Reason    string     `json:"reason,omitempty" doc:"Why, for those who read it later"`
}

// Selection takes open exceptions. At least one field is set.
type Selection struct {
	Kind  string     `json:"kind,omitempty"`
	SMSC  string     `json:"smsc,omitempty"`
	Since *time.Time `json:"since,omitempty" doc:"Opened then or later"`
}

// Resolved says what came of a decision about one exception.
type Resolved struct {
	ID     string `json:"id" doc:"As it was asked for"`
	OK     bool   `json:"ok" doc:"false: nothing has changed, and detail says why"`
	Detail string `json:"detail,omitempty"`
	Record uint64 `json:"record,omitempty" doc:"The record of the decision; none when it could have had no effect"`
	// Exception differs from ID for an inbox row: it is what undo takes.
	Exception string  `json:"exception,omitempty" doc:"The exception that the decision is kept in: the id that undo takes"`
	Kind      string  `json:"kind,omitempty"`
	Status    string  `json:"status,omitempty" doc:"Of the exception after the decision"`
	Moves     []Moved `json:"moves" nullable:"false" doc:"What the decision did to messages"`
}

// Moved is what a decision did to a part of a message.
type Moved struct {
	Message string `json:"message"`
	Part    int    `json:"part"`
	Verdict string `json:"verdict" doc:"Of the receipt that was judged, if one was"`
	From    string `json:"from"`
	To      string `json:"to"`
}

// ResolveSummary ends an answer.
type ResolveSummary struct {
	Resolved int `json:"resolved"`
	Failed   int `json:"failed"`
}

// ResolveLine is one line of the answer to POST /v1/exceptions/resolve: one for each exception, then the
// summary, or an error in its place, before which everything answered was done.
type ResolveLine struct {
	Resolved *Resolved       `json:"resolved,omitempty"`
	Summary  *ResolveSummary `json:"summary,omitempty"`
	Error    *Problem        `json:"error,omitempty"`
}

// moves are the decisions that are about a message.
func moves(decisions []statemachine.Decision) []Moved {
	all := []Moved{}
	for i := range decisions {
		if d := &decisions[i]; d.Message != "" {
			all = append(all, Moved{
				Message: string(d.Message), Part: d.Part, Verdict: string(d.Verdict), From: d.From.String(), To: d.To.String(),
			})
		}
	}
	return all
}
