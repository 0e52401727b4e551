package command

import (
	"encoding/json"
	"strings"
	"testing"

	"esmed/receipt"

	"github.com/stretchr/testify/require"
)

func TestParseHex(t *testing.T) {
	const plain = "00000010000000150000000000000007"
	for _, s := range []string{
		plain,
		"0000 0010 0000 0015 0000 0000 0000 0007",
		"00:00:00:10:00:00:00:15:00:00:00:00:00:00:00:07",
		"0x00000010, 0x00000015, 0x00000000, 0x00000007",
		`\x00\x00\x00\x10\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x07`,
		"\t00000010|00000015-00000000.00000007\r\n",
	} {
		octets, err := parseHex(s)
		require.NoError(t, err, s)
		require.Equal(t, byte(7), octets[15])
		require.Len(t, octets, 16)
	}
	for s, want := range map[string]string{
		"":                       "0 octets are no PDU: its header has 16",
		"000":                    "an odd number of hex digits (3)",
		"zz":                     "not hex: encoding/hex: invalid byte: U+007A 'z'",
		strings.Repeat("00", 15): "15 octets are no PDU: its header has 16",
		plain[:30] + "g7":        "not hex: encoding/hex: invalid byte: U+0067 'g'",
	} {
		_, err := parseHex(s)
		require.EqualError(t, err, want)
	}
}

// What decode prints for a program are five keys, whatever was read.
func FuzzDecodeHex(f *testing.F) {
	f.Add("00000010000000150000000000000007")
	f.Add("000000140000000500000000000000040000FF00")
	f.Add("hello")
	rules := receipt.DefaultRules()
	f.Fuzz(func(t *testing.T, line string) {
		b, err := json.Marshal(decodeHex(line, &rules))
		require.NoError(t, err)
		var keys map[string]any
		require.NoError(t, json.Unmarshal(b, &keys))
		require.Len(t, keys, 5)
		require.NotNil(t, keys["notes"])
		if keys["command_id"] == "" {
			require.NotNil(t, keys["error"])
		}
	})
}
