package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// Config reads the files and gives what a connection is protected with; nil when TLS is off. An error is a
// *Problem whose Path is the key under tls.
func (t TLS) Config() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	c := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, &Problem{"ca_file", err.Error()}
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &Problem{"ca_file", t.CAFile + " holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)"}
		}
	}
	if t.CertFile != "" && t.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, t.pairProblem(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// pairProblem says of a certificate and key that cannot be used which of the two it is about.
func (t TLS) pairProblem(err error) *Problem {
	var file *os.PathError
	if errors.As(err, &file) && file.Path == t.KeyFile {
		return &Problem{"key_file", err.Error()}
	}
	if errors.As(err, &file) {
		return &Problem{"cert_file", err.Error()}
	}
	return &Problem{"cert_file", fmt.Sprintf("%s and key_file %s are not a certificate in PEM form and its key: %s", t.CertFile, t.KeyFile, err)}
}
