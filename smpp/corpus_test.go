package smpp

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden readings anew")

// corpus is testdata/pdu: by name, PDUs in hex, whose lines may end in a comment.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../testdata/pdu/*.hex")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	pdus := make(map[string][]byte)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var digits strings.Builder
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "#")
			digits.WriteString(strings.Join(strings.Fields(line), ""))
		}
		pdu, err := hex.DecodeString(digits.String())
		require.NoError(t, err, file)
		pdus[strings.TrimSuffix(filepath.Base(file), ".hex")] = pdu
	}
	return pdus
}

func TestFields_corpus(t *testing.T) {
	for name, pdu := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join("../testdata/pdu", name+".fields")
			got := reading(pdu)
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// reading is the outcome of Decode and what Fields says.
func reading(pdu []byte) string {
	var b strings.Builder
	_, err := Decode(pdu)
	body, bad := errors.AsType[*BodyError](err)
	switch {
	case bad:
		fmt.Fprintf(&b, "body is bad: %s\n", body.Field)
	case err != nil:
		fmt.Fprintln(&b, "framing is broken")
	default:
		fmt.Fprintln(&b, "fine")
	}
	for _, f := range Fields(pdu) {
		mark := ""
		switch {
		case f.Text:
			mark = " [text]"
		case f.Secret:
			mark = " [secret]"
		}
		fmt.Fprintf(&b, "%s:%s %s\n", f.Name, mark, f.Value)
	}
	return b.String()
}

func TestFields_tellNoPassword(t *testing.T) {
	for _, name := range []string{"bind_transceiver", "outbind", "outbind-password-no-nul"} {
		for _, f := range Fields(corpus(t)[name]) {
			require.NotContains(t, f.Value, "secret")
			require.NotContains(t, f.Value, hex.EncodeToString([]byte("secret")))
			require.NotContains(t, string(f.Octets), "secret")
		}
	}
}

func TestFields_pointIntoThePDU(t *testing.T) {
	for name, pdu := range corpus(t) {
		for _, f := range Fields(pdu) {
			if f.Octets != nil {
				require.Equal(t, pdu[f.Offset:f.Offset+len(f.Octets)], f.Octets, "%s %s", name, f.Name)
			}
		}
	}
}
