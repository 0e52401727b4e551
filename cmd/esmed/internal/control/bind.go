package control

import "time"

// Bind is one session with an SMSC as it is now. The daemon makes it; there is none without a daemon.
type Bind struct {
	SMSC                string     `json:"smsc"`
	Session             string     `json:"session" doc:"As in events: alpha/1"`
	Bind                string     `json:"bind" doc:"transceiver, transmitter or receiver"`
	Addr                string     `json:"addr" doc:"The peer's address"`
	State               string     `json:"state" doc:"Open, BoundTX, BoundRX, BoundTRX, Unbinding or Closed"`
	Since               *time.Time `json:"since" doc:"When it came into this state"`
	Window              int        `json:"window"`
	WindowInUse         int        `json:"window_in_use" doc:"Outstanding submit_sm"`
	SubmitsPerSecond    float64    `json:"submits_per_second"`
	ReceptionsPerSecond float64    `json:"receptions_per_second"`
	LastError           string     `json:"last_error"`
	LastErrorAt         *time.Time `json:"last_error_at"`
	EnquireLinkRTT      *float64   `json:"enquire_link_rtt_ms" doc:"Last round trip, milliseconds"`
}
