package control

import (
	"fmt"
	"strings"
	"time"
)

// Queue is what waits for one SMSC, and why nothing of it leaves when that is so.
type Queue struct {
	SMSC       string           `json:"smsc"`
	Waiting    int64            `json:"waiting" doc:"Parts that may leave as soon as they can"`
	Delayed    int64            `json:"delayed" doc:"Parts that wait for their retry"`
	Priorities map[string]int64 `json:"priorities" nullable:"false" doc:"All of these parts by priority, 3 leaves first"`
	OldestAt   *time.Time       `json:"oldest_at" doc:"When the message was taken that has waited longest"`
	RetryAt    *time.Time       `json:"retry_at" doc:"When the first of the delayed parts may leave"`
	Held       *QueueHold       `json:"held" doc:"By whom it is held; null when it is not"`
	Paused     *QueuePause      `json:"paused" doc:"Since when the SMSC has taken nothing; null when it does"`
	NoRoom     bool             `json:"no_room" doc:"The disk is nearly full: nothing is sent"`
	Rate       *float64         `json:"rate" doc:"submit_sm a second that are let through now; null: no limit"`
	Throttled  bool             `json:"throttled" doc:"rate is less than throughput says, since the SMSC asked for less"`
	Bind       string           `json:"bind" enum:"up,down,stopped,not_configured,no_daemon" doc:"Whether a session is bound that sends"`
	Withheld   []QueueWithheld  `json:"withheld" nullable:"false" doc:"Messages that cannot be sent, and hold up nobody; a thousand at most"`
	Why        string           `json:"why" doc:"Why nothing leaves for now, for people; empty when parts leave"`
}

// Words of Queue.Bind.
const (
	BindUp            = "up"
	BindDown          = "down"
	BindStopped       = "stopped"
	BindNotConfigured = "not_configured"
	BindNoDaemon      = "no_daemon"
)

// QueueHold says who holds a queue.
type QueueHold struct {
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	Record uint64    `json:"record"`
}

// QueuePause is the pause that an SMSC's status asked for.
type QueuePause struct {
	Since   time.Time `json:"since"`
	ProbeAt time.Time `json:"probe_at" doc:"When one message tries whether it takes some again"`
}

// QueueWithheld is a message that waits and cannot be sent, until that is mended or its validity ends.
type QueueWithheld struct {
	Message string `json:"message"`
	Error   string `json:"error" doc:"Why"`
}

// explain says why nothing leaves for now; "" when parts leave.
func (q *Queue) explain() string {
	var why []string
	if h := q.Held; h != nil {
		held := fmt.Sprintf("held by %s since %s", h.By, h.At.Format(time.RFC3339))
		if h.Reason != "" {
			held += ": " + h.Reason
		}
		why = append(why, held)
	}
	switch q.Bind {
	case BindDown:
		why = append(why, "no session is bound")
	case BindStopped:
		why = append(why, "its sessions were stopped by an operator")
	case BindNotConfigured:
		why = append(why, "the SMSC is not configured")
	case BindNoDaemon:
		why = append(why, "no daemon runs")
	}
	if q.NoRoom {
		why = append(why, "the disk is nearly full")
	}
	if p := q.Paused; p != nil {
		why = append(why, fmt.Sprintf("the SMSC has taken nothing since %s, tried again at %s",
			p.Since.Format(time.RFC3339), p.ProbeAt.Format(time.RFC3339)))
	}
	if q.Waiting == 0 && q.RetryAt != nil {
		why = append(why, "waits for the first retry at "+q.RetryAt.Format(time.RFC3339))
	}
	return strings.Join(why, "; ")
}

// Order is the body of POST /v1/queue/{smsc}/{hold|release|drop}; it may be left out.
type Order struct {
	Reason string `json:"reason,omitempty" doc:"Why, for those who read it later"`
}

// QueueOrder says what came of holding a queue, or releasing one.
type QueueOrder struct {
	Changed bool   `json:"changed"`
	Detail  string `json:"detail,omitempty" doc:"Why nothing has changed"`
	Record  uint64 `json:"record,omitempty"`
	Queue   Queue  `json:"queue" doc:"As it is now"`
}

// QueueDrop says how much of a queue was dropped so far, or in the end.
type QueueDrop struct {
	Messages int   `json:"messages" doc:"That will not be sent any more"`
	Parts    int   `json:"parts" doc:"That left the queue"`
	Left     int64 `json:"left" doc:"Parts that still wait, or wait again"`
}

// QueueDropLine is one line of the answer to POST /v1/queue/{smsc}/drop. What was dropped before an error
// stays dropped.
type QueueDropLine = WorkLine[QueueDrop, QueueDrop]
