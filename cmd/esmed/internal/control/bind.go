package control

import (
	"context"
	"time"
)

// Bind is one session with an SMSC as it is now. The daemon makes it; there is none without a daemon.
type Bind struct {
	SMSC                string     `json:"smsc"`
	Session             string     `json:"session" doc:"As in events: alpha/1, and alpha/1r for a receiver; empty where configured is false"`
	Bind                string     `json:"bind" doc:"transceiver, transmitter or receiver"`
	Addr                string     `json:"addr" doc:"The peer's address"`
	State               string     `json:"state" doc:"Open, BoundTX, BoundRX, BoundTRX, Unbinding or Closed"`
	Since               *time.Time `json:"since" doc:"When it came into this state"`
	Window              int        `json:"window" doc:"submit_sm that may be outstanding; 0 for a receiver"`
	WindowInUse         int        `json:"window_in_use" doc:"Outstanding submit_sm"`
	SubmitsPerSecond    float64    `json:"submits_per_second"`
	ReceptionsPerSecond float64    `json:"receptions_per_second"`
	LastError           string     `json:"last_error"`
	LastErrorAt         *time.Time `json:"last_error_at"`
	EnquireLinkRTT      *float64   `json:"enquire_link_rtt_ms" doc:"Last round trip, milliseconds"`
	NextAttemptAt       *time.Time `json:"next_attempt_at" doc:"When it tries to bind again; null while it does, is bound, or is stopped"`
	Configured          bool       `json:"configured" doc:"false: the SMSC was taken out of the configuration, and has no session; what waits for it is kept"`
	Stopped             *BindStop  `json:"stopped" doc:"null unless somebody stopped the SMSC"`
}

// BindStop is who stopped an SMSC, when and why.
type BindStop struct {
	By     string    `json:"by" doc:"uid:N of this machine's user, or token:NAME"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// BindAction is what an operator does to all sessions with an SMSC.
type BindAction string

// Actions of BindOrder.
const (
	StopBinds    BindAction = "stop"    // drain the windows, unbind, and stay so; the queue is kept
	StartBinds   BindAction = "start"   // undo a stop
	RestartBinds BindAction = "restart" // drain, unbind and bind again, at once; also undoes a stop
)

// BindOrder is an action and who orders it.
type BindOrder struct {
	SMSC   string
	Action BindAction
	By     string // "uid:N" or "token:NAME"
	Reason string // "" = none given
}

// Binder knows the sessions with the SMSCs.
type Binder interface {
	// Binds are all sessions by name, and a Bind that is not Configured for each SMSC that has none but a queue.
	Binds(context.Context) []Bind
	// OrderBind records an order and has it carried out; it does not wait until sessions have drained. done is
	// false where it was so already, and nothing is recorded. ErrNotFound says that no such SMSC is configured.
	OrderBind(context.Context, BindOrder) (done bool, err error)
}

// BindReason is the body of POST /v1/binds/{smsc}/{action}, which may be left out.
type BindReason struct {
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"Why, for those who read the log later"`
}

// BindOrdered is what came of an order.
type BindOrdered struct {
	SMSC     string     `json:"smsc"`
	Action   BindAction `json:"action" enum:"stop,start,restart"`
	Done     bool       `json:"done" doc:"false: it was so already, and nothing is recorded"`
	Sessions []Bind     `json:"sessions" doc:"As they are now: what is outstanding is still drained"`
}
