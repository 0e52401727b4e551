package smpp

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWire_TLS(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	later := time.Now().Add(time.Hour)
	loopback := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	server := func(certs ...tls.Certificate) *tls.Config { return &tls.Config{Certificates: certs} }
	mutual := func(c *tls.Config) *tls.Config {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, ours.pool
		return c
	}
	tests := []struct {
		name   string
		host   string // "": an IP address
		client *tls.Config
		server *tls.Config // nil: it does not speak TLS
		err    string      // "": it is bound
	}{
		{"a certificate for the IP address", "", &tls.Config{RootCAs: ours.pool}, server(ours.issue(later, "127.0.0.1")), ""},
		{"a certificate for the name, not for its address", "smsc.example.net", &tls.Config{RootCAs: ours.pool}, server(ours.issue(later, "smsc.example.net")), ""},
		{"a certificate for server_name", "", &tls.Config{RootCAs: ours.pool, ServerName: "smsc.example.net"}, server(ours.issue(later, "smsc.example.net")), ""},
		{"a client certificate", "", &tls.Config{RootCAs: ours.pool, Certificates: []tls.Certificate{ours.issue(later)}}, mutual(server(ours.issue(later, "127.0.0.1"))), ""},
		{
			"a certificate for another name", "smsc.example.net", &tls.Config{RootCAs: ours.pool}, server(ours.issue(later, "www.example.net", "example.net")),
			"certificate is valid for www.example.net, example.net, not smsc.example.net",
		},
		{
			"a certificate for another name than server_name", "", &tls.Config{RootCAs: ours.pool, ServerName: "smsc.example.net"}, server(ours.issue(later, "127.0.0.1")),
			"certificate is not valid for any names, but wanted to match smsc.example.net",
		},
		{
			"a certificate for another IP address", "", &tls.Config{RootCAs: ours.pool}, server(ours.issue(later, "192.0.2.1")),
			"certificate is valid for 192.0.2.1, not 127.0.0.1",
		},
		{
			"a certificate that has expired", "", &tls.Config{RootCAs: ours.pool}, server(ours.issue(time.Now().Add(-time.Minute), "127.0.0.1")),
			"certificate has expired or is not yet valid",
		},
		{
			"a certificate of an authority that is not ours", "", &tls.Config{RootCAs: ours.pool}, server(other.issue(later, "127.0.0.1")),
			"certificate signed by unknown authority",
		},
		{
			"no client certificate where one is asked for", "", &tls.Config{RootCAs: ours.pool}, mutual(server(ours.issue(later, "127.0.0.1"))),
			"tls: certificate required",
		},
		{
			"a client certificate of another authority", "", &tls.Config{RootCAs: ours.pool, Certificates: []tls.Certificate{other.issue(later)}}, mutual(server(ours.issue(later, "127.0.0.1"))),
			"tls: ", // which alert it is, is the server's affair
		},
		{
			"a version that is too old", "", &tls.Config{RootCAs: ours.pool, MinVersion: tls.VersionTLS12},
			&tls.Config{Certificates: []tls.Certificate{ours.issue(later, "127.0.0.1")}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
			"protocol version not supported",
		},
		{"a server that speaks SMPP at once", "", &tls.Config{RootCAs: ours.pool}, nil, "first record does not look like a TLS handshake"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, accept := newLoopback(t, func(c *Config) {
				if c.TLS, c.Resolve = tt.client, loopback; tt.host != "" {
					_, port, err := net.SplitHostPort(c.Addrs[0])
					require.NoError(t, err)
					c.Addrs[0] = net.JoinHostPort(tt.host, port)
				}
			})
			p := accept()
			if tt.server == nil {
				p.write(AppendHeader(nil, Header{16, CommandEnquireLink, 0, 1}))
			} else {
				conn := tls.Server(p.conn, tt.server)
				p = newPeer(t, conn)
				if err := conn.HandshakeContext(t.Context()); err != nil {
					_ = conn.Close()
				}
			}
			if tt.err == "" {
				p.bind()
				r.handler.event(t, EventBound)
				r.stopBound(p)
				return
			}
			require.ErrorContains(t, r.handler.event(t, EventFailed).Err, tt.err)
			r.stop()
		})
	}
}

func TestClient_aTLSHandshakeThatHangsEndsWithConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.TLS = &tls.Config{} })
		began := time.Now()
		r.accept() // and says nothing
		e := r.handler.event(t, EventFailed)
		require.ErrorIs(t, e.Err, context.DeadlineExceeded)
		require.ErrorContains(t, e.Err, "TLS handshake with smsc:2775")
		require.Equal(t, 10*time.Second, time.Since(began))
		r.stop()
	})
}
