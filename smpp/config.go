package smpp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"time"

	"go.uber.org/zap"
)

// Config is all that a Client needs. Zero values of numbers and durations mean the default named
// beside them.
type Config struct {
	Name  string   // of the session in records, logs and events, such as alpha/1
	Addrs []string // host:port, one or several, tried in turn, the one that was bound last before all others

	// Resolve gives the addresses behind a host name of Addrs, which are tried in turn. nil: the system's,
	// or none if Dial is set, which is then given the name.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, addr string) (net.Conn, error) // within ctx; nil: TCP
	TLS     *tls.Config                                              // on top; an empty ServerName is taken from Addrs; nil: none

	Bind BindConfig

	Window          int           // outstanding submit_sm; 10
	EnquireLink     time.Duration // silence of the SMSC after which enquire_link is sent; 0: never
	ResponseTimeout time.Duration // for the answer to anything we ask, the bind too; 30s
	ConnectTimeout  time.Duration // for one of Addrs, TLS handshake included; addresses behind its name share it; 10s
	WriteTimeout    time.Duration // for one write to the socket; 10s
	ReconnectMin    time.Duration // first pause before a new attempt; 1s
	ReconnectMax    time.Duration // longest one, and the one after refused credentials; 60s
	ShutdownTimeout time.Duration // for the window to drain before unbind; 0: no waiting
	MaxPDU          int           // octets kept of a received PDU; 131072

	Log     *zap.Logger // nil: none
	Handler Handler     // must be set
}

// BindMode says what a session is for. It limits what we send, never what we take.
type BindMode int

// The three binds of SMPP v3.4 §4.1.
const (
	Transceiver BindMode = iota
	Transmitter
	Receiver
)

// String is the bind's name as in the configuration.
func (m BindMode) String() string { return [...]string{"transceiver", "transmitter", "receiver"}[m] }

func (m BindMode) command() CommandID {
	return [...]CommandID{CommandBindTransceiver, CommandBindTransmitter, CommandBindReceiver}[m]
}

func (m BindMode) bound() State { return [...]State{BoundTRX, BoundTX, BoundRX}[m] }

// BindConfig is what a bind says (SMPP v3.4 §4.1.1).
type BindConfig struct {
	Mode             BindMode
	SystemID         string
	Password         string
	SystemType       string
	InterfaceVersion byte // 0x34
	AddrTON, AddrNPI byte
	AddressRange     string
}

func (b BindConfig) pdu() *Bind {
	return &Bind{
		Header:           Header{CommandID: b.Mode.command()},
		SystemID:         b.SystemID,
		Password:         b.Password,
		SystemType:       b.SystemType,
		InterfaceVersion: b.InterfaceVersion,
		AddrTON:          b.AddrTON,
		AddrNPI:          b.AddrNPI,
		AddressRange:     b.AddressRange,
	}
}

// validate finds what would make every attempt fail.
func (c Config) validate() error {
	if len(c.Addrs) == 0 {
		return errors.New("smpp: no address to connect to")
	}
	if c.Handler == nil {
		return errors.New("smpp: no handler: what is received must be stored")
	}
	_, err := Append(nil, c.Bind.pdu())
	return err
}

func (c Config) withDefaults() Config {
	if c.Dial == nil {
		c.Dial = dialTCP
		if c.Resolve == nil {
			c.Resolve = resolveBySystem
		}
	}
	c.Window = cmp.Or(c.Window, 10)
	c.ResponseTimeout = cmp.Or(c.ResponseTimeout, 30*time.Second)
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 10*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
	c.ReconnectMin = cmp.Or(c.ReconnectMin, time.Second)
	c.ReconnectMax = max(cmp.Or(c.ReconnectMax, 60*time.Second), c.ReconnectMin)
	c.MaxPDU = cmp.Or(c.MaxPDU, 131072)
	c.Bind.InterfaceVersion = cmp.Or(c.Bind.InterfaceVersion, 0x34)
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	c.Log = c.Log.With(zap.String("session", c.Name))
	return c
}
