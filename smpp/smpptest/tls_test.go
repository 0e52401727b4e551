package smpptest_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/stretchr/testify/require"

	"esmed/smpp/smpptest"
)

func TestTLS(t *testing.T) {
	ca, err := smpptest.NewAuthority()
	require.NoError(t, err)
	server, err := ca.Issue("smsc.example.net", "127.0.0.1")
	require.NoError(t, err)
	client, err := ca.Issue("esme")
	require.NoError(t, err)
	other, err := smpptest.NewAuthority()
	require.NoError(t, err)
	tests := []struct {
		name       string
		client     *tls.Config
		clientAuth bool
		want       any // the error's type; nil: none
	}{
		{"the right name", &tls.Config{RootCAs: ca.Pool, ServerName: "smsc.example.net"}, false, nil},
		{"its address", &tls.Config{RootCAs: ca.Pool, ServerName: "127.0.0.1"}, false, nil},
		{"another name", &tls.Config{RootCAs: ca.Pool, ServerName: "other.example.net"}, false, new(x509.HostnameError)},
		{"another authority", &tls.Config{RootCAs: other.Pool, ServerName: "smsc.example.net"}, false, new(x509.UnknownAuthorityError)},
		{"a client certificate that is asked for", &tls.Config{RootCAs: ca.Pool, ServerName: "127.0.0.1", Certificates: []tls.Certificate{client.TLS}}, true, nil},
		{"none where one is asked for", &tls.Config{RootCAs: ca.Pool, ServerName: "127.0.0.1"}, true, new(net.Error)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := &tls.Config{Certificates: []tls.Certificate{server.TLS}}
			if tt.clientAuth {
				cfg.ClientAuth, cfg.ClientCAs = tls.RequireAndVerifyClientCert, ca.Pool
			}
			s := start(t, smpptest.Config{TLS: cfg})
			nc, err := net.Dial("tcp", s.Addr())
			require.NoError(t, err)
			defer nc.Close()
			require.NoError(t, nc.SetDeadline(time.Now().Add(patience)))
			e := &esme{t: t, nc: tls.Client(nc, tt.client)}
			if tt.want != nil {
				_, err := e.nc.Write([]byte{0})
				if err == nil { // a client of TLS 1.3 hears of its refusal when it reads
					_, err = e.nc.Read(make([]byte, 1))
				}
				require.ErrorAs(t, err, tt.want)
				return
			}
			e.bindAs(pdu.NewBindTransceiver(), 0)
			e.submit("393331234567")
			e.want(pdu.SubmitSMRespID)
			e.acked(pdu.DeliverSMID)
			e.send(pdu.NewUnbind())
			e.want(pdu.UnbindRespID)
			require.NoError(t, e.cut())
		})
	}
}

func TestTLS_a_reset_is_one(t *testing.T) {
	ca, err := smpptest.NewAuthority()
	require.NoError(t, err)
	s := start(t, smpptest.Config{TLS: &tls.Config{Certificates: []tls.Certificate{ca.Certificate.TLS}}})
	nc, err := tls.Dial("tcp", s.Addr(), &tls.Config{InsecureSkipVerify: true})
	require.NoError(t, err)
	defer nc.Close()
	e := &esme{t: t, nc: nc}
	e.bindAs(pdu.NewBindTransceiver(), 0)
	s.Drop(smpptest.DropReset)
	require.Error(t, e.cut())
}

func TestCertificate_Write(t *testing.T) {
	ca, err := smpptest.NewAuthority()
	require.NoError(t, err)
	c, err := ca.Issue("localhost")
	require.NoError(t, err)
	cert, key, err := c.Write(t.TempDir(), "server")
	require.NoError(t, err)
	read, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	require.Equal(t, c.TLS.Certificate, read.Certificate)
}

func TestServer_listens_on_several_addresses_of_both_families(t *testing.T) {
	if ln, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here")
	} else {
		ln.Close()
	}
	s := start(t, smpptest.Config{More: []string{"[::1]:0"}})
	require.Len(t, s.Addrs(), 2)
	require.Equal(t, s.Addr(), s.Addrs()[0])
	for _, addr := range s.Addrs() {
		nc, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		defer nc.Close()
		(&esme{t: t, nc: nc}).bindAs(pdu.NewBindTransceiver(), 0)
	}
	require.Equal(t, 2, s.Stats().Bound)
	_, err := smpptest.Start(smpptest.Config{More: []string{s.Addr()}})
	require.ErrorContains(t, err, "in use")
}
