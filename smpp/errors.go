package smpp

import (
	"errors"
	"fmt"
)

// Errors that callers branch on.
var (
	// ErrFraming: the octets are no PDU, or the stream has lost step with command_length. The link must be closed.
	ErrFraming = errors.New("smpp: framing is broken")
	// ErrClosed: the client has stopped, or was never run.
	ErrClosed = errors.New("smpp: client is closed")
	// ErrNotBound: the session ended before the request could be written; it certainly was not.
	ErrNotBound = errors.New("smpp: session is not bound")
	// ErrLost: the session ended while the answer was outstanding; the request may have arrived.
	ErrLost = errors.New("smpp: session ended before the answer")
	// ErrTimeout: no answer came within the response timeout; the request may have arrived.
	ErrTimeout = errors.New("smpp: no answer within the response timeout")
)

// BodyError says that a PDU's frame is whole but its body cannot be taken apart. The PDU is to be kept
// raw, and the link stays up.
type BodyError struct {
	CommandID CommandID
	Field     string // the first field, by the specification's name, that could not be read
	Offset    int    // where in the PDU it begins
	Reason    string
}

func (e *BodyError) Error() string {
	return fmt.Sprintf("smpp: %s: %s at octet %d: %s", e.CommandID, e.Field, e.Offset, e.Reason)
}
