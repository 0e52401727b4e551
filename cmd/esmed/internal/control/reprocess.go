package control

import (
	"time"

	"esmed/statemachine"
)

// ReprocessPage is a page of a pass: what was judged again by one record, and what came of it.
type ReprocessPage struct {
	Record    uint64
	Rows      int
	Messages  int
	Decisions []statemachine.Decision

	ReceivedAt map[uint64]time.Time // our times of the receptions judged; nil where nobody asked
}

// ReprocessProgress says how far a pass has come.
type ReprocessProgress struct {
	Rows     int `json:"rows" doc:"Of the inbox, judged again"`
	Messages int `json:"messages" doc:"Keyed anew, their noted receipts judged again"`
}

// ReprocessResult is what a pass came to.
type ReprocessResult struct {
	ReprocessProgress
	Changed  int            `json:"changed" doc:"Decisions that moved a message"`
	Verdicts map[string]int `json:"verdicts" nullable:"false" doc:"Decisions, by verdict"`
}

// Add counts a page.
func (r *ReprocessResult) Add(p ReprocessPage) {
	r.Rows += p.Rows
	r.Messages += p.Messages
	if r.Verdicts == nil {
		r.Verdicts = map[string]int{}
	}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.From != d.To {
			r.Changed++
		}
		if d.Verdict != "" {
			r.Verdicts[string(d.Verdict)]++
		}
	}
}

// ReprocessLine is one line of the answer to POST /v1/reprocess: decisions as they are made, progress, then
// one result or one error. What was judged before an error stays so.
type ReprocessLine struct {
	Decision   *Decision          `json:"decision,omitempty"`
	ReceivedAt *time.Time         `json:"received_at,omitempty" doc:"Of the reception that the decision is about; of a dry run"`
	Progress   *ReprocessProgress `json:"progress,omitempty"`
	Result     *ReprocessResult   `json:"result,omitempty"`
	Error      *Problem           `json:"error,omitempty"`
}

// Rehearsed is a decision that a reprocess would make.
type Rehearsed struct {
	Decision
	ReceivedAt *time.Time `json:"received_at" doc:"When the receipt came"`
}

// InboxRetry is how far an inbox was judged again, or what came of it.
type InboxRetry struct {
	Looked  int `json:"looked" doc:"Rows that were judged again"`
	Matched int `json:"matched" doc:"Rows of which a receipt found its message"`
}

// InboxRetryLine is one line of the answer to POST /v1/inbox/retry.
type InboxRetryLine = WorkLine[InboxRetry, InboxRetry]
