package capture_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"esmed/cmd/esmed/internal/capture"
	"esmed/receipt"
	"esmed/smpp"

	"github.com/stretchr/testify/require"
)

const (
	enquire = "00000010000000150000000000000007"
	// submitResp is a submit_sm_resp with the message_id 5A3C99F1.
	submitResp = "000000198000000400000000000000033541334339394631" + "00"
)

func found(t testing.TB, text string) (pdus []string, problems []string) {
	err := capture.ReadText(strings.NewReader(text), func(f capture.Found) error {
		if f.Err != nil {
			problems = append(problems, f.Err.Error())
			return nil
		}
		pdus = append(pdus, hex.EncodeToString(f.PDU))
		return nil
	})
	require.NoError(t, err)
	return pdus, problems
}

func TestReadText_everyForm(t *testing.T) {
	lower := strings.ToLower(submitResp)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a hex stream", enquire, []string{enquire}},
		{"two octets a group", "0000 0010 0000 0015 0000 0000 0000 0007", []string{enquire}},
		{"colons", "00:00:00:10:00:00:00:15:00:00:00:00:00:00:00:07", []string{enquire}},
		{"words with 0x and commas", "0x00000010, 0x00000015, 0x00000000, 0x00000007", []string{enquire}},
		{"escapes without quotes", `\x00\x00\x00\x10\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x07`, []string{enquire}},
		{"bars, hyphens and dots", "\t00000010|00000015-00000000.00000007\r\n", []string{enquire}},
		{"many PDUs in one stream", enquire + submitResp, []string{enquire, lower}},
		{"a PDU over two lines", submitResp[:40] + "\n" + submitResp[40:], []string{lower}},
		{"Wireshark's hex dump, with characters", "0000   00 00 00 19 80 00 00 04 00 00 00 00 00 00 00 03   ................\n0010   35 41 33 43 39 39 46 31 00                        5A3C99F1.\n", []string{lower}},
		{"Wireshark's hex dump, without them", "0000   00 00 00 19 80 00 00 04 00 00 00 00 00 00 00 03\n0010   35 41 33 43 39 39 46 31 00\n", []string{lower}},
		{"hexdump -C", "00000000  00 00 00 19 80 00 00 04  00 00 00 00 00 00 00 03  |................|\n00000010  35 41 33 43 39 39 46 31  00                       |5A3C99F1.|\n00000019\n", []string{lower}},
		{"xxd", "00000000: 0000 0019 8000 0004 0000 0000 0000 0003  ................\n00000010: 3541 3343 3939 4631 00                   5A3C99F1.\n", []string{lower}},
		{"a dump of the whole packet", "0000   45 00 00 38 00 00 40 00 40 06 00 00 7f 00 00 01   E..8..@.@.......\n0010   7f 00 00 01 00 00 00 10 00 00 00 15 00 00 00 00   ................\n0020   00 00 00 07                                       ....\n", []string{enquire}},
		{"a C array", "/* Frame (16 bytes) */\nstatic const unsigned char pkt1[16] = {\n0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x15, /* ........ */\n0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07  /* ........ */\n};\n", []string{enquire}},
		{"an escaped string over lines", "\"\\x00\\x00\\x00\\x10\\x00\\x00\\x00\\x15\" \\\n\"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x07\"\n", []string{enquire}},
		{"a Python literal", `b'\x00\x00\x00\x19\x80\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x035A3C99F1\x00'`, []string{lower}},
		{"hex within a log line", "2016-04-11 17:44:20 DEBUG    6954 Sending data [" + enquire + "]\n2016-04-11 17:44:21 DEBUG    6954 nothing\n", []string{enquire}},
		{"another gateway's log line", "INFO smp1: Message accepted\nINFO smp1: 192.168.112.150:60724 <- " + submitResp + "\n", []string{lower}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := found(t, tt.text)
			require.Equal(t, tt.want, got)
			if !strings.Contains(tt.name, "array") && tt.name != "hexdump -C" { // whose first or last line is nothing
				require.Empty(t, problems)
			}
		})
	}
}

func TestReadText_whatIsNone(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"half an octet", "000", "an odd number of hex digits (3)"},
		{"letters", "zz", "not hex: invalid byte: U+007A 'z'"},
		{"less than a header", strings.Repeat("00", 15), "15 octets are no PDU: its header has 16"},
		{"a letter at the end", enquire[:30] + "g7", "not hex: invalid byte: U+0067 'g'"},
		{"fields without a command", "SMPP PDU 0x1 dump:\n  type_name: nonsense\nSMPP PDU dump ends.", "the fields name no command that is known"},
		{"a field that does not fit", "SMPP PDU 0x1 dump:\n  type_name: submit_sm\n  source_addr_ton: 300 = 0x0000012c\nSMPP PDU dump ends.", "source_addr_ton is 300: it has one octet"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := found(t, tt.text)
			require.Empty(t, got)
			require.Equal(t, []string{tt.want}, problems)
		})
	}
}

// Logs that give a PDU field by field are read as the PDU that they are of.
func TestReadText_fieldByField(t *testing.T) {
	for _, name := range []string{"kannel.log", "jasmin.log", "jasmin-python2.log"} {
		t.Run(name, func(t *testing.T) {
			log, err := os.ReadFile("testdata/" + name)
			require.NoError(t, err)
			got, problems := found(t, string(log))
			require.Empty(t, problems)
			require.Len(t, got, 2)
			require.Equal(t, hex.EncodeToString(logged(t, name == "kannel.log")), got[0])
			require.Equal(t, strings.ToLower(submitResp), got[1])
		})
	}
}

// logged is the receipt that the logs of testdata are of.
func logged(t *testing.T, tlvs bool) []byte {
	p := &smpp.DeliverSM{
		Header: smpp.Header{SequenceNumber: 146}, Source: smpp.Address{TON: 1, NPI: 1, Addr: "393331234567"},
		Dest: smpp.Address{TON: 5, Addr: "ACME"}, ESMClass: 0x04, ShortMessage: []byte("id:5A3C99F1 stat:DELIVRD text:\xe0\""),
		TLVs: smpp.TLVs{{Tag: smpp.TagReceiptedMessageID, Value: []byte("5A3C99F1\x00")}, {Tag: smpp.TagMessageState, Value: []byte{2}}},
	}
	if tlvs {
		p.TLVs = append(p.TLVs, smpp.TLV{Tag: smpp.TagUserMessageReference, Value: []byte{0, 7}})
	}
	pdu, err := smpp.Append(nil, p)
	require.NoError(t, err)
	return pdu
}

// A PDU longer than max_pdu is read as the daemon reads what it keeps of it.
func TestExplain_longerThanMaxPDU(t *testing.T) {
	const maxPDU = 131072
	deliver := func(length int) []byte {
		const text = "id:7 stat:DELIVRD text:"
		pdu := smpp.AppendHeader(nil, smpp.Header{CommandLength: uint32(length), CommandID: smpp.CommandDeliverSM})
		pdu = append(pdu, "\x00\x00\x00447700900123\x00\x00\x0015550100\x00\x04"+strings.Repeat("\x00", 8)...)
		pdu = append(append(pdu, byte(len(text))), text...)
		for len(pdu) < length { // TLVs of a vendor's fill it
			n := min(length-len(pdu)-4, 0xFFFF)
			pdu = append(binary.BigEndian.AppendUint16(append(pdu, 0x14, 0x01), uint16(n)), make([]byte, n)...)
		}
		return pdu
	}
	e := rules().Explain(deliver(maxPDU))
	require.Nil(t, e.Error)
	require.Equal(t, "7", e.Receipt.ID)
	e = rules().Explain(deliver(maxPDU + 1))
	require.NotNil(t, e.Error)
	require.Equal(t, receipt.Undecodable, e.Receipt.Kind)
	require.Len(t, e.PDU, maxPDU)
}

// What is printed of each thing that was found has the keys that scripts rely on.
func FuzzReadText(f *testing.F) {
	f.Add(enquire)
	f.Add("000000140000000500000000000000040000FF00")
	f.Add("hello")
	f.Add("0000   00 00 00 10 00 00 00 15 00 00 00 00 00 00 00 07   ................\n")
	f.Add("unsigned char p[] = {0x00, 0x01};")
	f.Add(`b'\x00\x00'`)
	for _, name := range []string{"kannel.log", "jasmin.log", "jasmin-python2.log"} {
		log, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(string(log))
	}
	rules := rules()
	f.Fuzz(func(t *testing.T, text string) {
		err := capture.ReadText(strings.NewReader(text), func(found capture.Found) error {
			b, err := json.Marshal(rules.ExplainFound(found))
			require.NoError(t, err)
			var keys map[string]any
			require.NoError(t, json.Unmarshal(b, &keys))
			for _, key := range []string{"line", "command_id", "receipt", "notes", "error"} {
				require.Contains(t, keys, key)
			}
			require.NotNil(t, keys["notes"])
			require.True(t, keys["command_id"] != "" || keys["error"] != nil)
			return nil
		})
		require.NoError(t, err)
	})
}
