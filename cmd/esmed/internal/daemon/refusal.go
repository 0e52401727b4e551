package daemon

import (
	"slices"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
)

// refusal says what a command_status in answer to a submit_sm is about.
type refusal uint8

const (
	notRefused       refusal = iota
	refusedForGood           // the part fails
	refusedForNow            // the part waits and is tried again
	refusedThrottled         // the same, and the whole SMSC is sent less
	refusedSession           // the bind is not what it should be: bind again, the part waits
	refusedPaused            // the SMSC's queue pauses (no credit, say), the part waits
)

// temporary reports whether the part goes back to the queue.
func (r refusal) temporary() bool { return r > refusedForGood }

// classify says what status is about for an SMSC with these settings. Its own statuses come first, so
// that an operator can also say of a session status what it means there.
func classify(retry config.Retry, status smpp.Status) refusal {
	switch {
	case status == smpp.StatusOK:
		return notRefused
	case slices.Contains(retry.PauseStatuses, status):
		return refusedPaused
	case status == smpp.StatusThrottled:
		return refusedThrottled
	case slices.Contains(retry.Statuses, status):
		return refusedForNow
	}
	switch {
	case status.AboutSession():
		return refusedSession
	case status.Temporary():
		return refusedForNow
	}
	return refusedForGood
}
