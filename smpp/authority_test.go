package smpp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority issues certificates.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool // that holds it alone
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t: t, pool: x509.NewCertPool()}
	_, a.cert, a.key = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "an authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	a.pool.AddCert(a.cert)
	return a
}

// sign makes a certificate of template with a new key; the authority's own if it has none yet.
func (a *authority) sign(template *x509.Certificate) ([]byte, *x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template.SerialNumber = big.NewInt(1)
	parent, parentKey := a.cert, a.key
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	require.NoError(a.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return der, cert, key
}

// issue makes a certificate for names and IP addresses that ends at notAfter.
func (a *authority) issue(notAfter time.Time, names ...string) tls.Certificate {
	a.t.Helper()
	template := &x509.Certificate{NotAfter: notAfter, KeyUsage: x509.KeyUsageDigitalSignature}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, _, key := a.sign(template)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
