package config

import (
	"time"

	"esmed/receipt"
	"esmed/smpp"
)

// Config is the whole configuration of the daemon.
type Config struct {
	DataDir         string        `koanf:"data_dir"`
	Log             Log           `koanf:"log"`
	API             API           `koanf:"api"`
	DefaultSMSC     string        `koanf:"default_smsc"` // "" = the only one
	ShutdownTimeout time.Duration `koanf:"shutdown_timeout"`
	Store           Store         `koanf:"store"`
	Alerts          Alerts        `koanf:"alerts"`
	Webhooks        []Webhook     `koanf:"webhooks"`
	Callbacks       []Callback    `koanf:"callbacks"`
	SMSCs           []SMSC        `koanf:"smscs"` // one or more, names unique
}

// Log says what the daemon writes about itself.
type Log struct {
	Level  string `koanf:"level"`  // debug | info | warn | error
	Format string `koanf:"format"` // json | console
	Access string `koanf:"access"` // file with a line a submit, receipt and inbound message; "" = none
}

// API says where the HTTP API is served.
type API struct {
	Socket           string   `koanf:"socket"`
	Listen           string   `koanf:"listen"` // "" = on the socket only
	TokensFile       string   `koanf:"tokens_file"`
	CallbackPrefixes []string `koanf:"callback_prefixes"`
}

// Store says how long things are kept.
type Store struct {
	Retention Retention `koanf:"retention"`
}

// Retention is how long each kind of thing is kept. Texts 0 means as long as the log.
type Retention struct {
	Log        time.Duration `koanf:"log"`
	Messages   time.Duration `koanf:"messages"`
	Inbox      time.Duration `koanf:"inbox"`
	Exceptions time.Duration `koanf:"exceptions"`
	Texts      time.Duration `koanf:"texts"`
}

// Alerts are the thresholds of the alerts and of what the report calls settled.
type Alerts struct {
	CoverageBelow  float64       `koanf:"coverage_below"` // 0 to 1
	CoverageWindow time.Duration `koanf:"coverage_window"`
	CoverageSettle time.Duration `koanf:"coverage_settle"`
	CoverageMin    int           `koanf:"coverage_min"` // messages; fewer raise nothing
	InboxOlderThan time.Duration `koanf:"inbox_older_than"`
	OverdueAbove   int           `koanf:"overdue_above"`
}

// Webhook is an endpoint that is told of events.
type Webhook struct {
	Name       string   `koanf:"name"`
	URL        string   `koanf:"url"`
	SecretFile string   `koanf:"secret_file"`
	Events     []string `koanf:"events"`
}

// Callback is a source of receipts over HTTP.
type Callback struct {
	Name    string `koanf:"name"`
	Account string `koanf:"account"`
}

// SMSC is one message centre and how it is spoken to.
type SMSC struct {
	Name             string       `koanf:"name"`
	Account          string       `koanf:"account"` // the scope of its ids; Load puts Name where it was empty
	Addr             []string     `koanf:"addr"`    // host:port, tried in turn
	TLS              TLS          `koanf:"tls"`
	SystemID         string       `koanf:"system_id"`
	Password         Secret       `koanf:"password"` // Load reads PasswordFile into it
	PasswordFile     string       `koanf:"password_file"`
	SystemType       string       `koanf:"system_type"`
	InterfaceVersion uint8        `koanf:"interface_version"`
	AddressRange     AddressRange `koanf:"address_range"`

	Bind            string        `koanf:"bind"` // transceiver | transmitter+receiver
	Sessions        int           `koanf:"sessions"`
	Window          int           `koanf:"window"`     // outstanding submit_sm per session
	Throughput      float64       `koanf:"throughput"` // submit_sm per second; 0 = no limit
	EnquireLink     time.Duration `koanf:"enquire_link"`
	ResponseTimeout time.Duration `koanf:"response_timeout"`
	ConnectTimeout  time.Duration `koanf:"connect_timeout"`
	Reconnect       Backoff       `koanf:"reconnect"`
	MaxPDU          uint32        `koanf:"max_pdu"` // octets

	Source               Source             `koanf:"source"`
	Dest                 Dest               `koanf:"dest"`
	RegisteredDelivery   RegisteredDelivery `koanf:"registered_delivery"`
	UserMessageReference bool               `koanf:"user_message_reference"`
	ClientRefTLV         uint16             `koanf:"client_ref_tlv"`   // 0 = none
	DefaultAlphabet      string             `koanf:"default_alphabet"` // gsm7 | latin1 | ascii
	LongMessages         string             `koanf:"long_messages"`    // udh | sar | payload
	LongReceipts         string             `koanf:"long_receipts"`    // each | last | first
	DeliveryWindow       time.Duration      `koanf:"delivery_window"`
	ReceiptGrace         time.Duration      `koanf:"receipt_grace"`
	InDoubt              string             `koanf:"in_doubt"` // hold | resend
	Retry                Retry              `koanf:"retry"`
	QueryOverdue         bool               `koanf:"query_overdue"`
	Rules                Rules              `koanf:"rules"`
}

// Apart says whether submits and receipts have sessions of their own (bind: transmitter+receiver).
func (s *SMSC) Apart() bool { return s.Bind == bindApart }

// Values of SMSC.Bind.
const (
	bindBoth  = "transceiver"
	bindApart = "transmitter+receiver"
)

// TLS says how a connection is protected.
type TLS struct {
	Enabled    bool   `koanf:"enabled"`
	CAFile     string `koanf:"ca_file"` // "" = the system's
	CertFile   string `koanf:"cert_file"`
	KeyFile    string `koanf:"key_file"`
	ServerName string `koanf:"server_name"` // "" = the address's host
}

// AddressRange is what a bind says about the addresses it serves (SMPP v3.4 §5.2.7).
type AddressRange struct {
	TON   uint8  `koanf:"ton"`
	NPI   uint8  `koanf:"npi"`
	Range string `koanf:"range"`
}

// Backoff is a delay that grows from Min to Max.
type Backoff struct {
	Min time.Duration `koanf:"min"`
	Max time.Duration `koanf:"max"`
}

// Source is the sender of a message that names none.
type Source struct {
	Addr string `koanf:"addr"`
	TON  uint8  `koanf:"ton"`
	NPI  uint8  `koanf:"npi"`
}

// Dest says how destinations are written. Country is an ISO 3166 code, or "" to refuse national numbers.
type Dest struct {
	TON     uint8  `koanf:"ton"`
	NPI     uint8  `koanf:"npi"`
	Country string `koanf:"country"`
}

// RegisteredDelivery is what receipts are asked for when a message does not say.
type RegisteredDelivery struct {
	Receipt      string `koanf:"receipt"` // final | failure | none
	Intermediate bool   `koanf:"intermediate"`
}

// Octet is the registered_delivery field (SMPP v3.4 §5.2.17).
func (r RegisteredDelivery) Octet() byte {
	var o byte
	switch r.Receipt {
	case "final":
		o = 0x01
	case "failure":
		o = 0x02
	}
	if r.Intermediate {
		o |= 0x10
	}
	return o
}

// Retry says what happens after a temporary refusal.
type Retry struct {
	Min           time.Duration `koanf:"min"`
	Max           time.Duration `koanf:"max"`
	Statuses      []smpp.Status `koanf:"statuses"`       // temporary, besides those that always are
	PauseStatuses []smpp.Status `koanf:"pause_statuses"` // pause the SMSC's queue
}

// Rules say how an SMSC's receipts are read, in the configuration's words. See SMSC.ReceiptRules.
type Rules struct {
	Detect       string            `koanf:"detect"`
	MessageID    MessageIDRules    `koanf:"message_id"`
	Timezone     string            `koanf:"timezone"`
	Accepted     string            `koanf:"accepted"` // intermediate | final
	Unknown      string            `koanf:"unknown"`  // intermediate | final
	State        string            `koanf:"state"`
	AddressCheck string            `koanf:"address_check"`
	States       map[string]string `koanf:"states"`
	Errors       map[string]string `koanf:"errors"`
}

// MessageIDRules are the steps for the TLV's id and for the text's id.
type MessageIDRules struct {
	TLV  receipt.IDRules
	Text receipt.IDRules
}

// Default is the configuration before anything is read: everything but the SMSCs.
func Default() Config {
	return Config{
		DataDir:         "/var/lib/esmed",
		Log:             Log{Level: "info", Format: "json"},
		API:             API{Socket: "/run/esmed/esmed.sock"},
		ShutdownTimeout: 30 * time.Second,
		Store: Store{Retention: Retention{
			Log: 90 * day, Messages: 90 * day, Inbox: 30 * day, Exceptions: 90 * day,
		}},
		Alerts: Alerts{
			CoverageBelow: 0.95, CoverageWindow: 24 * time.Hour, CoverageSettle: 6 * time.Hour,
			CoverageMin: 100, InboxOlderThan: 5 * time.Minute,
		},
	}
}

// DefaultSMSC is an element of smscs before anything is read: everything but name, address and
// credentials.
func DefaultSMSC() SMSC {
	return SMSC{
		InterfaceVersion:   0x34,
		Bind:               bindBoth,
		Sessions:           1,
		Window:             10,
		EnquireLink:        30 * time.Second,
		ResponseTimeout:    30 * time.Second,
		ConnectTimeout:     10 * time.Second,
		Reconnect:          Backoff{Min: time.Second, Max: time.Minute},
		MaxPDU:             131072,
		Source:             Source{TON: 5},
		Dest:               Dest{TON: 1, NPI: 1},
		RegisteredDelivery: RegisteredDelivery{Receipt: "final"},
		DefaultAlphabet:    "gsm7",
		LongMessages:       "udh",
		LongReceipts:       "each",
		DeliveryWindow:     72 * time.Hour,
		ReceiptGrace:       time.Hour,
		InDoubt:            "hold",
		Retry:              Retry{Min: time.Second, Max: 5 * time.Minute},
		Rules: Rules{
			Detect: "tlv", Accepted: "intermediate", Unknown: "intermediate",
			State: "agree", AddressCheck: "hold",
		},
	}
}

// SMSC finds an SMSC by name; nil when there is none.
func (c *Config) SMSC(name string) *SMSC {
	for i := range c.SMSCs {
		if c.SMSCs[i].Name == name {
			return &c.SMSCs[i]
		}
	}
	return nil
}
