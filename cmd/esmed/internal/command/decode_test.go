package command

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"esmed/receipt"
	"esmed/smpp"

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

// A PDU longer than max_pdu is read as the daemon reads what it keeps of it.
func TestDecodeHex_longerThanMaxPDU(t *testing.T) {
	const maxPDU = 131072
	rules := receipt.DefaultRules()
	deliver := func(length int) string {
		const text = "id:7 stat:DELIVRD text:"
		pdu := smpp.AppendHeader(nil, smpp.Header{CommandLength: uint32(length), CommandID: smpp.CommandDeliverSM})
		pdu = append(pdu, "\x00\x00\x00447700900123\x00\x00\x0015550100\x00\x04"+strings.Repeat("\x00", 8)...)
		pdu = append(append(pdu, byte(len(text))), text...)
		for len(pdu) < length { // TLVs of a vendor's fill it
			n := min(length-len(pdu)-4, 0xFFFF)
			pdu = append(binary.BigEndian.AppendUint16(append(pdu, 0x14, 0x01), uint16(n)), make([]byte, n)...)
		}
		return hex.EncodeToString(pdu)
	}
	d := decodeHex(deliver(maxPDU), &rules)
	require.Nil(t, d.Error)
	require.Equal(t, "7", d.Receipt.ID)
	d = decodeHex(deliver(maxPDU+1), &rules)
	require.NotNil(t, d.Error)
	require.Equal(t, receipt.Undecodable, d.Receipt.Kind)
	require.Len(t, d.pdu, maxPDU)
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
