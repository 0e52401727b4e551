package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
)

func TestTLSConfig(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	tests := []struct {
		name    string
		in      config.TLS
		wantErr string
	}{
		{"a missing CA file", config.TLS{Enabled: true, CAFile: empty + ".not"}, "ca_file"},
		{"a CA file without a certificate", config.TLS{Enabled: true, CAFile: empty}, "holds no certificate"},
		{"a certificate that is none", config.TLS{Enabled: true, CertFile: empty, KeyFile: empty}, "cert_file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tlsConfig(tt.in)
			require.ErrorContains(t, err, tt.wantErr)
		})
	}
	t.Run("off is none", func(t *testing.T) {
		c, err := tlsConfig(config.TLS{})
		require.NoError(t, err)
		require.Nil(t, c)
	})
	t.Run("the server's name is checked as configured", func(t *testing.T) {
		c, err := tlsConfig(config.TLS{Enabled: true, ServerName: "smsc.example.net"})
		require.NoError(t, err)
		require.Equal(t, "smsc.example.net", c.ServerName)
		require.False(t, c.InsecureSkipVerify)
	})
}
