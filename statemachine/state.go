package statemachine

// State is where a part, or a message folded from its parts, stands (DESIGN §3).
type State uint8

// States. The zero State is none.
const (
	NoState State = iota
	Queued
	Submitting
	InDoubt
	Submitted
	Scheduled
	Enroute
	Accepted
	Unknown
	Delivered
	Expired
	Deleted
	Undeliverable
	Rejected
	Skipped
	Failed
	Unreported
)
