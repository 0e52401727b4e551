package config_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
)

// newPair is a certificate and its key, in PEM form.
func newPair(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "esme"}, DNSNames: []string{"esme.example.net"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	var c, k bytes.Buffer
	require.NoError(t, pem.Encode(&c, &pem.Block{Type: "CERTIFICATE", Bytes: der}))
	require.NoError(t, pem.Encode(&k, &pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	return c.String(), k.String()
}

func TestTLS_Config(t *testing.T) {
	certificate, key := newPair(t)
	_, other := newPair(t)
	certFile, keyFile, otherKey := write(t, "esme.crt", certificate, 0o600), write(t, "esme.key", key, 0o600), write(t, "other.key", other, 0o600)
	notes := write(t, "notes", "hello", 0o600)

	c, err := config.TLS{}.Config()
	require.NoError(t, err)
	require.Nil(t, c, "off is none")
	c, err = config.TLS{Enabled: true, ServerName: "smsc.example.net", CAFile: certFile, CertFile: certFile, KeyFile: keyFile}.Config()
	require.NoError(t, err)
	require.Equal(t, "smsc.example.net", c.ServerName)
	require.False(t, c.InsecureSkipVerify)
	require.NotNil(t, c.RootCAs)
	require.Len(t, c.Certificates, 1)

	for _, tt := range []struct {
		name string
		in   config.TLS
		want string
	}{
		{"a CA file that is not there", config.TLS{CAFile: notes + ".not"}, "ca_file: open "},
		{"a CA file without a certificate", config.TLS{CAFile: notes}, "ca_file: " + notes + " holds no certificate in PEM form"},
		{"a key file that is not there", config.TLS{CertFile: certFile, KeyFile: notes + ".not"}, "key_file: open "},
		{"a certificate that is none", config.TLS{CertFile: notes, KeyFile: keyFile}, "cert_file: " + notes + " and key_file " + keyFile + " are not"},
		{"another's key", config.TLS{CertFile: certFile, KeyFile: otherKey}, "private key does not match public key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Enabled = true
			_, err := tt.in.Config()
			require.ErrorContains(t, err, tt.want)
			var problem *config.Problem
			require.ErrorAs(t, err, &problem)
		})
	}
}

func TestLoad_checksTheFilesOfTLS(t *testing.T) {
	certificate, _ := newPair(t)
	certFile, notes := write(t, "esme.crt", certificate, 0o600), write(t, "notes", "hello", 0o600)
	_, err := load(t, minimal+"    tls: {enabled: true, ca_file: "+notes+"}\n")
	require.ErrorContains(t, err, "smscs[0].tls.ca_file: "+notes+" holds no certificate")
	_, err = load(t, minimal+"    tls: {enabled: true, cert_file: "+certFile+", key_file: "+notes+"}\n")
	require.ErrorContains(t, err, "smscs[0].tls.cert_file: "+certFile+" and key_file "+notes+" are not")
	_, err = load(t, minimal+"    tls: {enabled: true, cert_file: "+certFile+"}\n")
	require.ErrorContains(t, err, "smscs[0].tls: cert_file and key_file belong together")
	require.NotContains(t, err.Error(), "no such file", "a file that is not named is not looked for")
	_, err = load(t, minimal+"    tls: {enabled: true, ca_file: "+certFile+"}\n")
	require.NoError(t, err)
}

func TestSMSC_Apart(t *testing.T) {
	c, err := load(t, minimal+"    bind: transmitter+receiver\n    sessions: 3\n")
	require.NoError(t, err)
	require.True(t, c.SMSCs[0].Apart())
	require.Equal(t, 3, c.SMSCs[0].Sessions)
	c, err = load(t, minimal)
	require.NoError(t, err)
	require.False(t, c.SMSCs[0].Apart())
}
