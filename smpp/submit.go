package smpp

import (
	"errors"
	"fmt"
	"time"
)

// Slot is the right to send one submit_sm: a place in the window of a bound session, and the sequence
// number to send it with.
type Slot struct {
	Session        string // Config.Name
	SequenceNumber uint32

	desk    *desk
	pending *pending
}

// Submit is an encoded submit_sm on its way.
type Submit struct {
	Slot Slot
	PDU  []byte // with the slot's sequence number; not to be changed before Done
	// Done takes the outcome: once, and, if that was TimedOut, once more should the answer come late. It
	// runs on the session's loop and must not block, nor call Reserve or Request.
	Done func(Answer)
}

// Outcome says how a request of ours ended.
type Outcome int

// The outcomes.
const (
	Answered   Outcome = iota // the SMSC answered, with whatever status
	TimedOut                  // no answer within Config.ResponseTimeout; it may have arrived
	Lost                      // the session ended before the answer; it may have arrived
	NotWritten                // the session ended before the first octet was written; it certainly did not arrive
)

// String is the outcome in words.
func (o Outcome) String() string {
	return [...]string{"answered", "timed out", "lost", "not written"}[o]
}

// Answer is the outcome of a request of ours.
type Answer struct {
	Outcome        Outcome
	Late           bool // Answered, after TimedOut was told
	Session        string
	SequenceNumber uint32

	// Of Answered only:
	CommandID     CommandID // the response's; generic_nack is one
	CommandStatus Status
	MessageID     string // of a submit_sm_resp, exactly as received
	PDU           []byte // the response, raw
	RoundTrip     time.Duration
}

// Err is nil for Answered with ESME_ROK, a *StatusError for any other status, and ErrTimeout, ErrLost
// or ErrNotBound for the other outcomes.
func (a Answer) Err() error {
	switch {
	case a.Outcome == TimedOut:
		return ErrTimeout
	case a.Outcome == Lost:
		return ErrLost
	case a.Outcome == NotWritten:
		return ErrNotBound
	case a.CommandStatus != StatusOK:
		return &StatusError{CommandID: a.CommandID, CommandStatus: a.CommandStatus}
	}
	return nil
}

// check says whether s is what Send may put on the wire.
func (s *Submit) check() error {
	if s.Slot.desk == nil || s.Done == nil {
		return errors.New("smpp: submit without a reserved slot or without Done")
	}
	if err := checkFrame(s.PDU); err != nil {
		return err
	}
	h := ParseHeader(s.PDU)
	if int(h.CommandLength) != len(s.PDU) || h.CommandID != CommandSubmitSM || h.SequenceNumber != s.Slot.SequenceNumber {
		return fmt.Errorf("smpp: not a submit_sm with sequence_number %d", s.Slot.SequenceNumber)
	}
	return nil
}

func (s *Submit) notWritten() {
	s.Done(Answer{Outcome: NotWritten, Session: s.Slot.Session, SequenceNumber: s.Slot.SequenceNumber})
}
