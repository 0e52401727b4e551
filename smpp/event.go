package smpp

import "time"

// Handler is told what a Client's sessions bring. Its methods are called one at a time, in the order of
// things, on a goroutine of the session, and not on the one that reads: a slow handler holds back
// further calls, and at a bound the reading, but no timer and no answer.
type Handler interface {
	// Session is told of every bind that came up, ended or failed. Unbound comes after all that the
	// session received has been handed over and all that was outstanding has been handed back.
	Session(Event)
	// Received takes a PDU that carries evidence: any request but enquire_link and unbind, of whatever
	// command and shape, and any response that answers nothing outstanding. It may come before
	// Session(Bound). Respond must be called for each in the end.
	Received(*Request)
}

// EventKind says what became of a session.
type EventKind int

// The events.
const (
	EventBound       EventKind = iota // the bind was accepted
	EventUnbound                      // a bound session has ended
	EventBindRefused                  // the SMSC answered the bind with Status
	EventFailed                       // no connection, or it ended before the bind was answered
)

// String is the kind in one word.
func (k EventKind) String() string {
	return [...]string{"bound", "unbound", "bind_refused", "failed"}[k]
}

// Event is one thing that happened to a session.
type Event struct {
	Kind    EventKind
	Session string // Config.Name
	Addr    string // of Config.Addrs
	IP      string // the ip:port in use behind Addr's name; "" when Addr has no name or it was not resolved
	At      time.Time

	SystemID           string // the SMSC's own, of EventBound
	SCInterfaceVersion byte   // 0 when the SMSC did not say, of EventBound

	Status Status // of EventBindRefused
	Reason string // why the session ended or was never bound, in words
	Err    error  // the error behind it; nil when it was meant to end
}

// State is a session's state (SMPP v3.4 §2.2).
type State int

// The states.
const (
	Closed    State = iota // no connection
	Open                   // connected, the bind is not answered yet
	BoundTX                // as transmitter
	BoundRX                // as receiver
	BoundTRX               // as transceiver
	Unbinding              // unbind was sent or received
)

// String is the state's name.
func (s State) String() string {
	return [...]string{"Closed", "Open", "BoundTX", "BoundRX", "BoundTRX", "Unbinding"}[s]
}

// Bound says whether the state is one of the three bound ones.
func (s State) Bound() bool { return s == BoundTX || s == BoundRX || s == BoundTRX }

func (s State) sends() bool { return s == BoundTX || s == BoundTRX }

// SessionStatus is what one session of a Client is doing.
type SessionStatus struct {
	Name    string
	Mode    BindMode
	State   State
	Since   time.Time // when State began
	Addr    string    // of Config.Addrs, in use or last tried
	IP      string    // as Event.IP
	Stopped bool      // by Stop: it will not bind until Start

	Lost        time.Time // when it was last bound no more; zero: it never was bound before, or only now is
	NextAttempt time.Time // when it is dialled again; zero: now, or there is a connection, or it is stopped

	Window      int    // submit_sm that may be outstanding
	InUse       int    // submit_sm outstanding
	Unanswered  int    // received requests that the handler has not answered yet
	LastError   string // why the session ended, where that was not our doing
	LastErrorAt time.Time

	EnquireLinkRTT time.Duration // of the last enquire_link of ours that was answered
	EnquireLinkAt  time.Time     // when its answer came; zero: none yet

	// Since the Client was made:
	Binds      uint64 // accepted
	Submits    uint64 // submit_sm given to the socket
	Answers    uint64 // to submit_sm, late ones included
	Timeouts   uint64 // of submit_sm
	Receptions uint64 // PDUs handed to Handler.Received
}
