package smpptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Authority is a certificate authority in memory, for tests of TLS.
type Authority struct {
	Certificate
	Pool *x509.CertPool // of its certificate alone: RootCAs of its servers' clients, ClientCAs of its servers

	serial int64
}

// Certificate is a certificate with its private key, as TLS and as PEM.
type Certificate struct {
	TLS             tls.Certificate
	CertPEM, KeyPEM []byte
}

// Certificates are valid in every time that a test may live in, that of testing/synctest included.
var (
	validFrom = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	validTo   = time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC)
)

// NewAuthority makes an authority that nobody else has.
func NewAuthority() (*Authority, error) {
	a := &Authority{Pool: x509.NewCertPool(), serial: 1}
	c, err := issue(&x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: "smpptest authority"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	if err != nil {
		return nil, err
	}
	a.Certificate = c
	a.Pool.AddCert(c.TLS.Leaf)
	return a, nil
}

// Issue makes a certificate for servers of these names, or for a client: host names or IP addresses, the
// first of which is its subject.
func (a *Authority) Issue(names ...string) (Certificate, error) {
	a.serial++
	t := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for i, name := range names {
		if i == 0 {
			t.Subject.CommonName = name
		}
		if ip := net.ParseIP(name); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, name)
		}
	}
	return issue(t, a)
}

// issue signs a template by an authority; nil: by itself.
func issue(t *x509.Certificate, by *Authority) (Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Certificate{}, fmt.Errorf("smpptest: certificate: %w", err)
	}
	t.NotBefore, t.NotAfter = validFrom, validTo
	parent, signer := t, any(key)
	if by != nil {
		parent, signer = by.TLS.Leaf, by.TLS.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), signer)
	if err != nil {
		return Certificate{}, fmt.Errorf("smpptest: certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Certificate{}, fmt.Errorf("smpptest: certificate: %w", err)
	}
	c := Certificate{
		CertPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		KeyPEM:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
	if c.TLS, err = tls.X509KeyPair(c.CertPEM, c.KeyPEM); err != nil {
		return Certificate{}, fmt.Errorf("smpptest: certificate: %w", err)
	}
	return c, nil
}

// Write puts the certificate and its key into two files of a directory, and gives their paths.
func (c Certificate) Write(dir, name string) (cert, key string, err error) {
	cert, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	if err := os.WriteFile(cert, c.CertPEM, 0o600); err != nil {
		return "", "", err
	}
	return cert, key, os.WriteFile(key, c.KeyPEM, 0o600)
}
