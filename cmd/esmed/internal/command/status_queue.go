package command

import (
	"fmt"
	"time"

	"esmed/cmd/esmed/internal/control"
)

// waits says what a queued message waits for. Where it stands in its queue nobody knows without reading what is
// before it.
func (n *narrator) waits(m *control.Message) string {
	words := "in the queue of " + clean(m.SMSC)
	if at := retryAt(m); at != nil {
		words = "for its retry at " + clock(*at) + ", " + words
	}
	q := n.queue(m.SMSC)
	if q == nil {
		return words
	}
	words += fmt.Sprintf(", with %s in all", plural(q.Waiting+q.Delayed, "part"))
	for _, w := range q.Withheld {
		if w.Message == m.ID {
			return words + "; it cannot be sent: " + clean(w.Error)
		}
	}
	switch {
	case q.Why != "":
		return words + "; " + clean(q.Why)
	case q.Throttled:
		return words + fmt.Sprintf("; the SMSC asked for less: %.1f leave a second for now", *q.Rate)
	case q.Rate != nil:
		return words + fmt.Sprintf("; %.1f leave a second at most (throughput)", *q.Rate)
	}
	return words + "; they leave as fast as the SMSC takes them"
}

// retryAt is when the first of the message's parts may be sent again, if all that wait wait for that; else nil.
func retryAt(m *control.Message) (first *time.Time) {
	for _, p := range m.Parts {
		if p.State != "QUEUED" {
			continue
		}
		if p.RetryAt == nil {
			return nil
		}
		if first == nil || p.RetryAt.Before(*first) {
			first = p.RetryAt
		}
	}
	return first
}

// queue is that of an SMSC as it was when it was asked for first; nil when there is none.
func (n *narrator) queue(smsc string) *control.Queue {
	if n.queues == nil && n.err == nil {
		n.queues, n.err = n.c.Queues(n.ctx)
	}
	for i := range n.queues {
		if n.queues[i].SMSC == smsc {
			return &n.queues[i]
		}
	}
	return nil
}
