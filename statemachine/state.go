package statemachine

import "fmt"

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

var stateNames = [...]string{
	NoState:       "",
	Queued:        "QUEUED",
	Submitting:    "SUBMITTING",
	InDoubt:       "IN_DOUBT",
	Submitted:     "SUBMITTED",
	Scheduled:     "SCHEDULED",
	Enroute:       "ENROUTE",
	Accepted:      "ACCEPTED",
	Unknown:       "UNKNOWN",
	Delivered:     "DELIVERED",
	Expired:       "EXPIRED",
	Deleted:       "DELETED",
	Undeliverable: "UNDELIVERABLE",
	Rejected:      "REJECTED",
	Skipped:       "SKIPPED",
	Failed:        "FAILED",
	Unreported:    "UNREPORTED",
}

// States are all states but NoState, in the order of their declaration.
func States() []State {
	states := make([]State, 0, len(stateNames)-1)
	for s := Queued; int(s) < len(stateNames); s++ {
		states = append(states, s)
	}
	return states
}

// String is the name in the spec's spelling, "" for NoState.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// ParseState reads the name that String gives; the empty name is NoState.
func ParseState(name string) (State, error) {
	for s, n := range stateNames {
		if n == name {
			return State(s), nil
		}
	}
	return NoState, fmt.Errorf("statemachine: no state is called %q", name)
}

// Final reports whether the state is locked by itself. Accepted and Unknown are final only where an
// SMSC's rules said so when they were reported: ask Part.Final and Message.Final.
func (s State) Final() bool { return s >= Delivered && s <= Failed }

// Reported reports whether the state is one that only an SMSC's report brings.
func (s State) Reported() bool { return s >= Scheduled && s <= Skipped }

// Closed reports whether the state by itself says that nothing more is waited for. A part may be closed
// in another state too: ask Part.Closed and Message.Closed.
func (s State) Closed() bool { return s.Final() || s == Unreported }

// MarshalText writes the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name.
func (s *State) UnmarshalText(text []byte) error {
	parsed, err := ParseState(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}
