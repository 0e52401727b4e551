package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
)

func TestSessionsOf(t *testing.T) {
	type named struct {
		name string
		mode smpp.BindMode
	}
	for _, tt := range []struct {
		name, bind string
		sessions   int
		want       []named
	}{
		{"one transceiver", "transceiver", 1, []named{{"alpha/1", smpp.Transceiver}}},
		{"three transceivers", "transceiver", 3, []named{{"alpha/1", smpp.Transceiver}, {"alpha/2", smpp.Transceiver}, {"alpha/3", smpp.Transceiver}}},
		{"two of each", "transmitter+receiver", 2, []named{
			{"alpha/1", smpp.Transmitter}, {"alpha/1r", smpp.Receiver}, {"alpha/2", smpp.Transmitter}, {"alpha/2r", smpp.Receiver},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []named
			for _, s := range sessionsOf(&config.SMSC{Name: "alpha", Bind: tt.bind, Sessions: tt.sessions}) {
				got = append(got, named{s.name, s.mode})
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestSameTLS(t *testing.T) {
	pair := func(der string) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{[]byte(der)}}}}
	}
	pool := func() *tls.Config { return &tls.Config{RootCAs: x509.NewCertPool()} }
	for _, tt := range []struct {
		name string
		a, b *tls.Config
		want bool
	}{
		{"both without", nil, nil, true},
		{"one without", nil, &tls.Config{}, false},
		{"the same certificate, read twice", pair("one"), pair("one"), true},
		{"a renewed certificate", pair("one"), pair("two"), false},
		{"a certificate and none", pair("one"), &tls.Config{}, false},
		{"the same authorities, read twice", pool(), pool(), true},
		{"authorities of its own and the system's", pool(), &tls.Config{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, sameTLS(tt.a, tt.b))
			require.Equal(t, tt.want, sameTLS(tt.b, tt.a))
		})
	}
}

func TestSameBind(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*config.SMSC)
		want   bool
	}{
		{"nothing", func(*config.SMSC) {}, true},
		{"rules", func(c *config.SMSC) { c.Rules.Detect = "text" }, true},
		{"how long a receipt is waited for", func(c *config.SMSC) { c.DeliveryWindow *= 2 }, true},
		{"the sender of messages that name none", func(c *config.SMSC) { c.Source.Addr = "ACME" }, true},
		{"the pace", func(c *config.SMSC) { c.Throughput = 100 }, true},
		{"what is tried again", func(c *config.SMSC) { c.Retry.Max *= 2 }, true},
		{"the password", func(c *config.SMSC) { c.Password = "another" }, false},
		{"the address", func(c *config.SMSC) { c.Addr = []string{"smsc.example.net:2776"} }, false},
		{"the window", func(c *config.SMSC) { c.Window++ }, false},
		{"sessions", func(c *config.SMSC) { c.Sessions++ }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := config.DefaultSMSC(), config.DefaultSMSC()
			tt.change(&b)
			require.Equal(t, tt.want, sameBind(&a, &b))
		})
	}
}
