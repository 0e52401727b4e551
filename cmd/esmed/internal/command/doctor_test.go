package command

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp/smpptest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// peer is a listener that takes connections and does with each what serve does.
func peer(t *testing.T, serve func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var g errgroup.Group
	g.Go(func() error {
		for {
			conn, err := l.Accept()
			if err != nil {
				return nil
			}
			g.Go(func() error {
				defer conn.Close()
				serve(conn)
				return nil
			})
		}
	})
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		require.NoError(t, g.Wait())
	})
	return l.Addr().String()
}

// silent takes what comes and says nothing.
func silentPeer(conn net.Conn) {
	for b := make([]byte, 512); ; {
		if _, err := conn.Read(b); err != nil {
			return
		}
	}
}

// chatty says what no SMSC says.
func chatty(conn net.Conn) {
	_, _ = conn.Write([]byte("220 mail.example.net ESMTP ready, and in no hurry\r\n"))
	silentPeer(conn)
}

func closing(net.Conn) {}

// certificate makes one for 127.0.0.1 that is valid for so long, and writes it where a ca_file may be.
func certificate(t *testing.T, valid time.Duration) (tls.Certificate, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "smsc"}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(valid),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, path
}

func TestDoctor_smsc(t *testing.T) {
	plain, err := smpptest.Start(smpptest.Config{SystemID: "esme", Password: "secret"})
	require.NoError(t, err)
	defer func() { require.NoError(t, plain.Close()) }()
	pair, ca := certificate(t, 300*24*time.Hour)
	soon, soonCA := certificate(t, 5*24*time.Hour)
	secure, err := smpptest.Start(smpptest.Config{TLS: &tls.Config{Certificates: []tls.Certificate{pair}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, secure.Close()) }()
	expiring, err := smpptest.Start(smpptest.Config{TLS: &tls.Config{Certificates: []tls.Certificate{soon}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, expiring.Close()) }()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())

	withTLS := func(ca, name string) config.TLS { return config.TLS{Enabled: true, CAFile: ca, ServerName: name} }
	tests := []struct {
		name     string
		addr     string
		password config.Secret
		tls      config.TLS
		last     string // the last check
		status   string
		detail   string
	}{
		{"all is well", plain.Addr(), "secret", config.TLS{}, "bind", doctorOK, "bound to smscsim as transmitter"},
		{"the password is wrong", plain.Addr(), "wrong", config.TLS{}, "bind", doctorFail, "refused: ESME_RINVPASWD"},
		{"nobody listens", gone.Addr().String(), "secret", config.TLS{}, gone.Addr().String(), doctorFail, "connection refused"},
		{"a name that nobody knows", "smsc.invalid:2775", "secret", config.TLS{}, "smsc.invalid:2775", doctorFail, "smsc.invalid"},
		{"a peer that says nothing", peer(t, silentPeer), "secret", config.TLS{}, "bind", doctorFail, "not bound"},
		{"a peer that hangs up", peer(t, closing), "secret", config.TLS{}, "bind", doctorFail, "not bound"},
		{"a peer that speaks something else", peer(t, chatty), "secret", config.TLS{}, "bind", doctorFail, "not bound"},
		{"plain TCP where TLS is wanted", plain.Addr(), "secret", withTLS(ca, ""), plain.Addr(), doctorFail, "TLS failed"},
		{"TLS where plain TCP is wanted", secure.Addr(), "secret", config.TLS{}, "bind", doctorFail, "not bound"},
		{"TLS", secure.Addr(), "secret", withTLS(ca, ""), "bind", doctorOK, "bound"},
		{"a certificate for another name", secure.Addr(), "secret", withTLS(ca, "other.example.net"), secure.Addr(), doctorFail, "other.example.net"},
		{"a certificate of an authority that is not trusted", secure.Addr(), "secret", withTLS(soonCA, ""), secure.Addr(), doctorFail, "TLS failed"},
		{"a certificate that ends soon", expiring.Addr(), "secret", withTLS(soonCA, ""), expiring.Addr() + " certificate", doctorWarn, "valid until"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := config.DefaultSMSC()
			s.Name, s.Addr, s.SystemID, s.Password, s.TLS = "alpha", []string{tt.addr}, "esme", tt.password, tt.tls
			d := &doctor{diagnosis: diagnosis{OK: true}, bind: true, timeout: 3 * time.Second}
			d.smsc(context.Background(), &s)
			for _, c := range d.Checks {
				require.NotContains(t, c.Detail+c.Hint, "secret")
				if c.Check != "smsc alpha "+tt.last {
					continue
				}
				require.Equal(t, tt.status, c.Status, c.Detail)
				require.Contains(t, c.Detail, tt.detail)
				require.Equal(t, tt.status != doctorOK, c.Hint != "")
				require.Equal(t, tt.status != doctorFail, d.OK)
				return
			}
			require.Fail(t, "not checked", "%+v", d.Checks)
		})
	}
	require.Zero(t, plain.Stats().Submits, "nothing is submitted")
}

func TestDoctor_askBinds(t *testing.T) {
	bind := func(state, failed string, stopped *control.BindStop) control.Bind {
		return control.Bind{SMSC: "alpha", Session: "alpha/1", Configured: true, State: state, LastError: failed, Stopped: stopped}
	}
	tests := []struct {
		name   string
		binds  []control.Bind
		status string
		detail string
	}{
		{"bound", []control.Bind{bind("BoundTRX", "", nil)}, doctorOK, "alpha/1 is BoundTRX"},
		{"away", []control.Bind{bind("Closed", "connection refused", nil)}, doctorFail, "connection refused"},
		{"stopped by somebody", []control.Bind{bind("Closed", "", &control.BindStop{By: "uid:0"})}, doctorWarn, "stopped by uid:0"},
		{"not known to the daemon", []control.Bind{}, doctorWarn, "does not know"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &doctor{binds: tt.binds}
			d.askBinds("bind", "alpha")
			require.Len(t, d.Checks, 1)
			require.Equal(t, tt.status, d.Checks[0].Status)
			require.Contains(t, d.Checks[0].Detail, tt.detail)
		})
	}
}

func TestDoctor_certificate(t *testing.T) {
	tests := []struct {
		name   string
		left   time.Duration
		status string
	}{
		{"for long", 100 * 24 * time.Hour, doctorOK},
		{"for some days", 29 * 24 * time.Hour, doctorWarn},
		{"not any more", -time.Hour, doctorFail},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &doctor{}
			pair, _ := certificate(t, tt.left)
			d.certificate("certificate", pair.Leaf)
			require.Equal(t, tt.status, d.Checks[0].Status)
		})
	}
}

func TestDoctor_dataDir(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	tests := []struct {
		name, dir, status string
	}{
		{"is there", base, doctorOK},
		{"will be made", filepath.Join(base, "new"), doctorOK},
		{"is a file", file, doctorFail},
		{"cannot be made", filepath.Join(base, "a", "b"), doctorFail},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &doctor{cfg: &config.Config{DataDir: tt.dir}}
			d.dataDir()
			require.Equal(t, tt.status, d.Checks[0].Status, d.Checks[0].Detail)
		})
	}
}
