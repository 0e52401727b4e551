package receipt

import (
	"fmt"
	"strings"
)

// MessageState is the SMSC's state of a message (SMPP v5.0 §4.7.15), one more than the wire's octet
// so that the zero value means "none".
type MessageState uint8

// States. Scheduled is the wire's 0.
const (
	NoState MessageState = iota
	Scheduled
	Enroute
	Delivered
	Expired
	Deleted
	Undeliverable
	Accepted
	Unknown
	Rejected
	Skipped
)

// stateNames are the full names of SMPP v5.0 §4.7.15, by MessageState.
var stateNames = [...]string{
	NoState: "", Scheduled: "SCHEDULED", Enroute: "ENROUTE", Delivered: "DELIVERED", Expired: "EXPIRED",
	Deleted: "DELETED", Undeliverable: "UNDELIVERABLE", Accepted: "ACCEPTED", Unknown: "UNKNOWN",
	Rejected: "REJECTED", Skipped: "SKIPPED",
}

// String gives the full name in capitals, as DELIVERED; "" for NoState.
func (s MessageState) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("MessageState(%d)", uint8(s))
}

// Final reports whether s ends a message's life. EXPIRED, DELETED, UNDELIVERABLE, REJECTED, SKIPPED
// and DELIVERED do; ACCEPTED and UNKNOWN only where the rules say so, since gateways disagree on
// them. Nil rules are DefaultRules.
func (s MessageState) Final(rules *Rules) bool {
	switch s {
	case Delivered, Expired, Deleted, Undeliverable, Rejected, Skipped:
		return true
	case Accepted:
		return rules != nil && rules.AcceptedFinal
	case Unknown:
		return rules != nil && rules.UnknownFinal
	}
	return false
}

// FromWire reads the octet of message_state (SMPP v5.0 §4.8.4.43): 0 to 9, of which 0 is SCHEDULED.
// For any other octet it gives NoState and false.
func FromWire(octet byte) (MessageState, bool) {
	if octet > 9 {
		return NoState, false
	}
	return MessageState(octet) + 1, true
}

// longestState is the length of the longest word that ParseMessageState knows.
const longestState = len("UNDELIVERABLE")

// ParseMessageState reads SMPP's own words in any case: the full names, and the seven-letter codes
// of a receipt's stat (SMPP v3.4 Appendix B). It knows no others: a word that merely begins like one
// of them, or is spelt nearly so, gives NoState and false (testdata/receipts/states.jsonl).
func ParseMessageState(name string) (MessageState, bool) {
	if len(name) > longestState {
		return NoState, false
	}
	var upper [longestState]byte
	switch string(upper[:upperASCII(upper[:], name)]) {
	case "DELIVRD", "DELIVERED":
		return Delivered, true
	case "UNDELIV", "UNDELIVERABLE":
		return Undeliverable, true
	case "ACCEPTD", "ACCEPTED":
		return Accepted, true
	case "REJECTD", "REJECTED":
		return Rejected, true
	case "EXPIRED":
		return Expired, true
	case "DELETED":
		return Deleted, true
	case "UNKNOWN":
		return Unknown, true
	case "ENROUTE":
		return Enroute, true
	case "SKIPPED":
		return Skipped, true
	case "SCHEDULED":
		return Scheduled, true
	}
	return NoState, false
}

// MarshalText gives String.
func (s MessageState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes what ParseMessageState takes, and nothing at all for NoState.
func (s *MessageState) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = NoState
		return nil
	}
	state, ok := ParseMessageState(string(text))
	if !ok {
		return fmt.Errorf("receipt: %q is no SMPP message state", text)
	}
	*s = state
	return nil
}

// textState maps a receipt's stat. The SMSC's own words come first: who writes one of SMPP's words
// into the rules wants it read in another way there.
func (r *Rules) textState(stat string) (state MessageState, rule string) {
	if stat == "" {
		return NoState, ""
	}
	if len(r.States) > 0 {
		if state := r.ownState(stat); state != NoState {
			return state, "rules.states"
		}
	}
	if state, ok := ParseMessageState(stat); ok {
		return state, "stat"
	}
	return NoState, ""
}

func (r *Rules) ownState(stat string) MessageState {
	var upper [32]byte
	if len(stat) > len(upper) {
		return r.States[strings.ToUpper(stat)]
	}
	if n := upperASCII(upper[:], stat); n == len(stat) {
		return r.States[string(upper[:n])]
	}
	return r.States[strings.ToUpper(stat)]
}

// upperASCII writes s, which dst must be able to hold, in capitals and gives its length, or 0 if s
// has anything but ASCII.
func upperASCII(dst []byte, s string) int {
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 {
			return 0
		}
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		dst[i] = c
	}
	return len(s)
}
