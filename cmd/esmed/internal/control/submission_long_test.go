package control

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/smpp/text"
	"esmed/statemachine"
)

// longText is in three parts: 152, 152 and 26 septets.
var longText = strings.Repeat("0123456789", 33)

func TestReader_splitsWithHeaders(t *testing.T) {
	m := mustRead(t, `{"to":"+393331234567","text":"`+longText+`","data_coding":16}`)
	require.Len(t, m.Parts, 3)
	var joined string
	for i, part := range m.Parts {
		header, rest := part.ShortMessage[:text.HeaderLen], part.ShortMessage[text.HeaderLen:]
		require.Equal(t, []byte{6, 8, 4}, header[:3])
		require.Equal(t, m.Parts[0].ShortMessage[3:5], header[3:5], "one reference")
		require.Equal(t, []byte{3, byte(i + 1)}, header[5:])
		require.EqualValues(t, 0x40, part.ESMClass)
		require.EqualValues(t, 16, part.DataCoding)
		require.Empty(t, part.TLVs)
		require.False(t, part.Payload)
		require.False(t, part.NoReceipt, "each asks for one")
		joined += string(rest)
	}
	require.Equal(t, longText, joined)
}

func TestReader_splitsWithTLVs(t *testing.T) {
	m := mustRead(t, `{"to":"+393331234567","smsc":"delta","text":"`+longText+`"}`)
	require.Len(t, m.Parts, 3, "as many as with headers, which the SMSC will make")
	var joined string
	for i, part := range m.Parts {
		require.Equal(t, m.Parts[0].TLVs[0], part.TLVs[0], "one reference")
		require.Equal(t, []receipt.TLV{{Tag: 0x020E, Value: []byte{3}}, {Tag: 0x020F, Value: []byte{byte(i + 1)}}}, part.TLVs[1:])
		require.EqualValues(t, 0x020C, part.TLVs[0].Tag)
		require.Len(t, part.TLVs[0].Value, 2)
		require.Zero(t, part.ESMClass)
		require.Equal(t, i != 0, part.NoReceipt, "the first asks for one")
		joined += string(part.ShortMessage)
	}
	require.Equal(t, longText, joined)
}

func TestReader_payload(t *testing.T) {
	all := "00" + strings.Repeat("FF", 0xFFFE)
	tests := []struct {
		name, fields string
		want         string // in hex
		payload      bool
	}{
		{"a text that fits goes as ever", `"text":"abc"`, "616263", false},
		{"140 characters fit", `"text":"` + strings.Repeat("a", 140) + `"`, strings.Repeat("61", 140), false},
		{"141 do not, though short_message could hold them", `"text":"` + strings.Repeat("a", 141) + `"`, strings.Repeat("61", 141), true},
		{"as many octets as a TLV holds", `"data_hex":"` + all + `"`, strings.ToLower(all), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustRead(t, `{"to":"+393331234567","smsc":"gamma",`+tt.fields+`}`)
			require.Len(t, m.Parts, 1)
			require.Equal(t, tt.want, hex.EncodeToString(m.Parts[0].ShortMessage))
			require.Equal(t, tt.payload, m.Parts[0].Payload)
			require.False(t, m.Parts[0].NoReceipt)
		})
	}
}

func TestSMSC_asksReceipt(t *testing.T) {
	for receipts, want := range map[string]string{"": "rrr", "each": "rrr", "last": "--r", "first": "r--"} {
		smsc, got := SMSC{LongReceipts: receipts}, ""
		for part := 1; part <= 3; part++ {
			got += map[bool]string{true: "r", false: "-"}[smsc.asksReceipt(part, 3)]
		}
		require.Equal(t, want, got, receipts)
	}
}

func TestReader_partsOfTheirOwnTLVs(t *testing.T) {
	m := mustRead(t, `{"to":"+393331234567","text":"part one of a text that its sender splits","tlvs":[{"tag":524,"hex":"0001"},{"tag":526,"hex":"02"},{"tag":527,"hex":"01"}]}`)
	require.Len(t, m.TLVs, 3, "a text in one part may be one of its sender's")
}

func TestReader_neighboursHaveOtherReferences(t *testing.T) {
	rd := testReader()
	body := []byte(`{"to":"+393331234567","text":"` + longText + `"}`)
	seen := map[string]int{}
	var first *statemachine.MessageAccepted
	for n := range 1000 {
		m, p := rd.read(body, Caller{}, "")
		require.Nil(t, p)
		if first == nil {
			first = m
		}
		reference := string(m.Parts[0].ShortMessage[3:5])
		require.NotContains(t, seen, reference)
		seen[reference] = n
		require.Equal(t, first.RequestHash, m.RequestHash, "a repeat is the same request all the same")
	}
	begins := map[uint16]bool{}
	for range 4 {
		begins[newIDs("").reference()] = true
	}
	require.Greater(t, len(begins), 1, "they begin anywhere")
}

func TestReader_saysWhatToDo(t *testing.T) {
	long := strings.Repeat("a", 320)
	tests := []struct {
		name, body, want string
	}{
		{"octets", `"data_hex":"` + long + `a1"`, "is longer than one short message: 161 octets, of 160 at most; send its parts yourself, each with its udh_hex, or to an SMSC with long_messages: payload"},
		{"a text beside a header", `"text":"` + long + `","udh_hex":"0401020304"`, "is too long beside udh_hex: 320 septets in gsm7, of 154 at most in one short message; leave udh_hex out and it is split"},
		{"a character", `"text":"aя","alphabet":"gsm7"`, "cannot be written in gsm7: character 2 is U+044F; leave alphabet and data_coding out and one is chosen that holds it"},
		{"too many parts", `"text":"` + strings.Repeat(long, 122) + `"`, "is too long: it would need 257 parts in gsm7, of 255 at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, p := read(`{"to":"+393331234567",` + tt.body + `}`)
			require.NotNil(t, p)
			require.Len(t, p.Errors, 1)
			require.Equal(t, tt.want, p.Errors[0].Message)
		})
	}
}

// join puts the parts of a message together in the order that they name, and reads them.
func join(t require.TestingT, parts []statemachine.PartContent, deflt text.Alphabet) string {
	all := make([][]byte, len(parts))
	for _, part := range parts {
		octets, place := part.ShortMessage, []byte{1, 1}
		switch {
		case part.ESMClass == esmUDHI:
			require.LessOrEqual(t, len(octets), text.AlphabetOf(part.DataCoding, deflt).Room(text.HeaderLen)+text.HeaderLen)
			place, octets = octets[5:text.HeaderLen], octets[text.HeaderLen:]
		case len(part.TLVs) > 0:
			require.LessOrEqual(t, len(octets), text.AlphabetOf(part.DataCoding, deflt).Room(text.HeaderLen))
			place = []byte{part.TLVs[1].Value[0], part.TLVs[2].Value[0]}
		case !part.Payload:
			require.LessOrEqual(t, len(octets), text.AlphabetOf(part.DataCoding, deflt).Room(0))
		}
		require.EqualValues(t, len(parts), place[0])
		all[place[1]-1] = octets
	}
	var joined string
	for _, octets := range all {
		s, exact := text.Decode(octets, parts[0].DataCoding, deflt) // part by part: no character is cut
		require.True(t, exact)
		joined += s
	}
	return joined
}

func TestReader_everyTextIsSentAsItIs(t *testing.T) {
	rd := testReader()
	smscs := []string{"alpha", "beta", "gamma", "delta"}
	rapid.Check(t, func(t *rapid.T) {
		smsc := rapid.SampledFrom(smscs).Draw(t, "smsc")
		given := rapid.OneOf(rapid.StringN(0, 300, -1),
			rapid.StringOfN(rapid.RuneFrom([]rune("aé€[\r\nç\u0085я😀\u0301\u200D🇮")), 100, 500, -1)).Draw(t, "text")
		body, err := json.Marshal(map[string]string{"to": "+393331234567", "smsc": smsc, "text": given})
		require.NoError(t, err)
		m, p := rd.read(body, Caller{}, "")
		require.Nil(t, p)
		require.Equal(t, given, join(t, m.Parts, text.Alphabet(rd.smscs[smsc].DefaultAlphabet)))
	})
}

func BenchmarkReader_long(b *testing.B) {
	rd := testReader()
	body := fmt.Appendf(nil, `{"to":"+393331234567","text":%q}`, strings.Repeat(longText, 10))
	b.ReportAllocs()
	for b.Loop() {
		if _, p := rd.read(body, Caller{Owner: "uid:0"}, ""); p != nil {
			b.Fatal(p)
		}
	}
}
