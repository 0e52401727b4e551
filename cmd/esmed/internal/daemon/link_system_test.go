package daemon_test

import (
	"crypto/tls"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp/smpptest"
)

// changed is a copy of the configuration in which one SMSC is otherwise.
func (s *system) changed(i int, change func(*config.SMSC)) *config.Config {
	next := *s.cfg
	next.SMSCs = slices.Clone(next.SMSCs)
	change(&next.SMSCs[i])
	return &next
}

// lastError is what the operator sees of the only session.
func (s *system) lastError() string {
	s.t.Helper()
	binds, err := s.api.Binds(s.ctx)
	require.NoError(s.t, err)
	require.Len(s.t, binds, 1)
	return binds[0].LastError
}

func TestLink_TLS(t *testing.T) {
	ca, err := smpptest.NewAuthority()
	require.NoError(t, err)
	server, err := ca.Issue("smsc.example.net")
	require.NoError(t, err)
	client, err := ca.Issue("esme")
	require.NoError(t, err)
	dir := t.TempDir()
	caFile, _, err := ca.Write(dir, "ca")
	require.NoError(t, err)
	certFile, keyFile, err := client.Write(dir, "client")
	require.NoError(t, err)
	right := config.TLS{Enabled: true, CAFile: caFile, CertFile: certFile, KeyFile: keyFile, ServerName: "smsc.example.net"}
	secure := smpptest.Config{TLS: &tls.Config{
		Certificates: []tls.Certificate{server.TLS}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool,
	}}

	tests := []struct {
		name   string
		change func(*config.TLS)
		want   string // in the session's last error
	}{
		{"a certificate of another name is refused", func(c *config.TLS) { c.ServerName = "other.example.net" }, "other.example.net"},
		{"the name is the address's where none is configured", func(c *config.TLS) { c.ServerName = "" }, "127.0.0.1"},
		{"a certificate of an unknown authority is refused", func(c *config.TLS) { c.CAFile = "" }, "unknown authority"},
		{"an SMSC may refuse who brings no certificate", func(c *config.TLS) { c.CertFile, c.KeyFile = "", "" }, "certificate"},
		{"a link without TLS comes to nothing", func(c *config.TLS) { c.Enabled = false }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSystem(t, secure, func(c *config.Config) {
				c.SMSCs[0].TLS = right
				tt.change(&c.SMSCs[0].TLS)
				c.SMSCs[0].ResponseTimeout = time.Second
			})
			id := s.submit(number(1))
			s.awaitLog(`"event":"failed"`)
			require.Contains(t, s.lastError(), tt.want)
			require.NotEmpty(t, s.lastError())
			require.Zero(t, s.smsc.Stats().Binds, "no password goes to whom nobody knows")
			require.Equal(t, "QUEUED", s.message(id).State)

			s.hangUp(s.changed(0, func(c *config.SMSC) { c.TLS = right }), nil)
			s.awaitState(id, "DELIVERED")
		})
	}
}

func TestLink_addressesAreTriedInTurnOfBothFamilies(t *testing.T) {
	six, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here")
	}
	nobody := six.Addr().String() // once it is closed
	require.NoError(t, six.Close())
	s := newSystem(t, smpptest.Config{More: []string{"[::1]:0"}}, func(c *config.Config) {
		c.SMSCs[0].Addr = []string{nobody, c.SMSCs[0].Addr[0]}
	})
	s.awaitState(s.submit(number(1)), "DELIVERED")
	s.hangUp(s.changed(0, func(c *config.SMSC) { c.Addr = []string{nobody, s.smsc.Addrs()[1]} }), nil)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds == 2 })
	s.awaitState(s.submit(number(2)), "DELIVERED")
	binds, err := s.api.Binds(s.ctx)
	require.NoError(t, err)
	require.Equal(t, s.smsc.Addrs()[1], binds[0].Addr)
}

func TestLink_halfOpenIsFoundAndOnlyWhatItHeldIsInDoubt(t *testing.T) {
	tests := []struct {
		name    string
		configs func(*config.SMSC)
	}{
		{"by enquire_link, while nothing is submitted", func(c *config.SMSC) {
			c.EnquireLink, c.ResponseTimeout = 50*time.Millisecond, 500*time.Millisecond
		}},
		{"by a window of timeouts in a row, without enquire_link", func(c *config.SMSC) {
			c.EnquireLink, c.ResponseTimeout, c.Window = time.Hour, 500*time.Millisecond, 2
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
				a.Held = sub.N == 2 || sub.N == 3
				return a
			}}, func(c *config.Config) { tt.configs(&c.SMSCs[0]) })
			s.awaitState(s.submit(number(1)), "DELIVERED")
			held := []string{s.submit(number(2)), s.submit(number(3))}
			s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 3 })
			s.smsc.Silence()
			s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds >= 2 })
			s.awaitState(s.submit(number(4)), "DELIVERED")
			for _, id := range held {
				require.Len(t, s.awaitState(id, "IN_DOUBT").Parts[0].Attempts, 1)
			}
			r := s.audit("alpha", s.smsc, smpptest.AuditOptions{MaxInDoubt: 2})
			require.Equal(t, 2, r.InDoubt)
			require.Zero(t, r.MaybeDoubled)
		})
	}
}

func TestLink_oneThatDoesNotReadHoldsNobodyElseUp(t *testing.T) {
	beta := startSMSC(t, smpptest.Config{})
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) {
		c.SMSCs = append(c.SMSCs, newSMSC("beta", beta.Addr()))
		c.DefaultSMSC = "alpha"
	})
	s.awaitState(s.submit(number(0)), "DELIVERED")
	s.smsc.StopReading()
	var stuck, free []string
	for n := 1; n <= 30; n++ {
		stuck = append(stuck, s.submitTo("alpha", number(n), "stuck"))
		free = append(free, s.submitTo("beta", number(n), "free"))
	}
	for _, id := range free {
		s.awaitState(id, "DELIVERED")
	}
	require.EqualValues(t, 1, s.smsc.Stats().Submits)
	s.smsc.ResumeReading()
	for _, id := range stuck {
		s.awaitState(id, "DELIVERED")
	}
	s.drained()
	s.audit("alpha", s.smsc, smpptest.AuditOptions{})
	s.audit("beta", beta, smpptest.AuditOptions{})
}
