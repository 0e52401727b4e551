package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// tlsFiles are the files that make a server one of TLS.
type tlsFiles struct{ cert, key, clientCA string }

func (t *tlsFiles) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&t.cert, "tls-cert", "", "speak TLS with this certificate (PEM)")
	f.StringVar(&t.key, "tls-key", "", "its private key (PEM)")
	f.StringVar(&t.clientCA, "tls-client-ca", "", "ask ESMEs for a certificate of this authority (PEM)")
}

// config reads the files; nil if none is named.
func (t *tlsFiles) config() (*tls.Config, error) {
	if *t == (tlsFiles{}) {
		return nil, nil
	}
	if t.cert == "" || t.key == "" {
		return nil, usageError{errors.New("TLS needs both --tls-cert and --tls-key")}
	}
	cert, err := tls.LoadX509KeyPair(t.cert, t.key)
	if err != nil {
		return nil, err
	}
	cfg := &tls.Config{Certificates: []tls.Certificate{cert}}
	if t.clientCA == "" {
		return cfg, nil
	}
	authority, err := os.ReadFile(t.clientCA)
	if err != nil {
		return nil, err
	}
	cfg.ClientAuth, cfg.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !cfg.ClientCAs.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s: holds no certificate", t.clientCA)
	}
	return cfg, nil
}
