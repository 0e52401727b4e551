package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"esmed/smpp/text"

	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEncode(t *testing.T) {
	tests := []struct {
		name            string
		text            string
		alphabet, deflt text.Alphabet
		octets          string
		coding          byte
		used            text.Alphabet
		wantErr         string
	}{
		{name: "plain text goes out in the default alphabet", text: "Hi @", deflt: text.GSM7, octets: "Hi \x00", coding: 0, used: text.GSM7},
		{name: "an extension takes two septets", text: "5€ [x]", deflt: text.GSM7, octets: "5\x1be \x1b<x\x1b>", coding: 0, used: text.GSM7},
		{name: "what GSM does not have goes out in Latin-1", text: "ç`", deflt: text.GSM7, octets: "\xe7`", coding: 3, used: text.Latin1},
		{name: "what Latin-1 does not have goes out in UCS-2", text: "ç€", deflt: text.GSM7, octets: "\x00\xe7\x20\xac", coding: 8, used: text.UCS2},
		{name: "a control character that Latin-1 does not define goes out in UCS-2", text: "a\u0080", deflt: text.Latin1, octets: "\x00a\x00\x80", coding: 8, used: text.UCS2},
		{name: "an emoji is a surrogate pair", text: "😀", deflt: text.GSM7, octets: "\xd8\x3d\xde\x00", coding: 8, used: text.UCS2},
		{name: "Latin-1 as default has data_coding 0", text: "é", deflt: text.Latin1, octets: "\xe9", coding: 0, used: text.Latin1},
		{name: "ASCII as default cannot hold an accent", text: "é", deflt: text.ASCII, octets: "\xe9", coding: 3, used: text.Latin1},
		{name: "a chosen alphabet is kept", text: "abc", alphabet: text.UCS2, deflt: text.GSM7, octets: "\x00a\x00b\x00c", coding: 8, used: text.UCS2},
		{name: "chosen ASCII beside a GSM default", text: "a@", alphabet: text.ASCII, deflt: text.GSM7, octets: "a@", coding: 1, used: text.ASCII},
		{name: "an empty text", text: "", deflt: text.GSM7, octets: "", coding: 0, used: text.GSM7},
		{name: "a chosen alphabet is never left", text: "naïve", alphabet: text.GSM7, deflt: text.GSM7, wantErr: "text: character 3 (U+00EF) cannot be written in gsm7"},
		{name: "the euro is not of Latin-1", text: "€", alphabet: text.Latin1, deflt: text.GSM7, wantErr: "text: character 1 (U+20AC) cannot be written in latin1"},
		{name: "no data_coding means GSM but the default's", text: "a", alphabet: text.GSM7, deflt: text.Latin1, wantErr: "text: no data_coding announces the alphabet: gsm7, where data_coding 0 means latin1"},
		{name: "no UTF-8", text: "a\xff", deflt: text.GSM7, wantErr: "text: character 2 (U+FFFD) cannot be written in ucs2"},
		{name: "the replacement character itself is a character", text: "\uFFFD", deflt: text.GSM7, octets: "\xff\xfd", coding: 8, used: text.UCS2},
		{name: "an alphabet that is none", text: "a", alphabet: "klingon", deflt: text.GSM7, wantErr: "text: character 1 (U+0061) cannot be written in klingon"},
		{name: "the GSM alphabet, also where Latin-1 would take fewer octets", text: strings.Repeat("[", 81), deflt: text.GSM7, octets: strings.Repeat("\x1b<", 81), coding: 0, used: text.GSM7},
		{name: "of any length", text: strings.Repeat("я", 71), deflt: text.GSM7, octets: strings.Repeat("\x04\x4f", 71), coding: 8, used: text.UCS2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			octets, coding, used, err := text.Encode(tt.text, tt.alphabet, tt.deflt)
			if tt.wantErr != "" {
				require.EqualError(t, err, tt.wantErr)
				require.Nil(t, octets)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []byte(tt.octets), octets)
			require.Equal(t, tt.coding, coding)
			require.Equal(t, tt.used, used)
			s, exact := text.Decode(octets, coding, tt.deflt)
			require.True(t, exact)
			require.Equal(t, tt.text, s)
		})
	}
}

func TestEncode_errorsCanBeTakenApart(t *testing.T) {
	var unencodable *text.UnencodableError
	_, _, _, err := text.Encode("ab☃", text.Latin1, text.GSM7)
	require.ErrorAs(t, err, &unencodable)
	require.Equal(t, text.UnencodableError{Alphabet: text.Latin1, Rune: '☃', Position: 3}, *unencodable)

	_, _, _, err = text.Encode("a", text.GSM7, text.ASCII)
	require.ErrorIs(t, err, text.ErrNoDataCoding)
}

func TestDecode_whatIsNotAsAnnounced(t *testing.T) {
	tests := []struct {
		name   string
		octets string
		coding byte
		deflt  text.Alphabet
		want   string
	}{
		{"an octet over 0x7F in GSM", "a\x80", 0, text.GSM7, "a\uFFFD"},
		{"an escape at the end", "a\x1b", 0, text.GSM7, "a "},
		{"an escape before an octet over 0x7F", "\x1b\xff", 0, text.GSM7, " \uFFFD"},
		{"two escapes", "\x1b\x1ba", 0, text.GSM7, " a"},
		{"an unknown extension is its basic character", "\x1bA", 0, text.GSM7, "A"},
		{"an octet over 0x7F in ASCII", "a\xe9", 1, text.GSM7, "a\uFFFD"},
		{"an octet that Latin-1 does not define", "a\x80", 3, text.GSM7, "a\u0080"},
		{"half a character of UCS-2", "\x00a\x00", 8, text.GSM7, "a\uFFFD"},
		{"a lone high surrogate", "\xd8\x3d\x00a", 8, text.GSM7, "\uFFFDa"},
		{"a lone low surrogate", "\xde\x00", 8, text.GSM7, "\uFFFD"},
		{"binary data", "\x00\xff", 4, text.GSM7, "\x00ÿ"},
		{"a reserved coding", "a", 0x42, text.GSM7, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, exact := text.Decode([]byte(tt.octets), tt.coding, tt.deflt)
			require.False(t, exact)
			require.Equal(t, tt.want, s)
		})
	}
}

func TestAlphabetOf(t *testing.T) {
	tests := []struct {
		name        string
		from, to    byte
		deflt, want text.Alphabet
	}{
		{"0 is what the SMSC says", 0x00, 0x00, text.Latin1, text.Latin1},
		{"IA5", 0x01, 0x01, text.GSM7, text.ASCII},
		{"octets", 0x02, 0x02, text.GSM7, ""},
		{"Latin-1", 0x03, 0x03, text.GSM7, text.Latin1},
		{"octets, and alphabets that are not read here", 0x04, 0x07, text.GSM7, ""},
		{"UCS-2", 0x08, 0x08, text.GSM7, text.UCS2},
		{"others", 0x09, 0x0F, text.GSM7, ""},
		{"a class, in the SMSC's default", 0x10, 0x13, text.ASCII, text.ASCII},
		{"a class, of octets", 0x14, 0x17, text.GSM7, ""},
		{"a class, in UCS-2", 0x18, 0x1B, text.GSM7, text.UCS2},
		{"reserved", 0x1C, 0xBF, text.GSM7, ""},
		{"message waiting", 0xC0, 0xDF, text.Latin1, text.GSM7},
		{"message waiting, in UCS-2", 0xE0, 0xEF, text.Latin1, text.UCS2},
		{"a class, in the GSM alphabet whatever the default is", 0xF0, 0xF3, text.Latin1, text.GSM7},
		{"a class, of octets, and reserved", 0xF4, 0xFF, text.GSM7, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for coding := int(tt.from); coding <= int(tt.to); coding++ {
				require.Equal(t, tt.want, text.AlphabetOf(byte(coding), tt.deflt), "%#x", coding)
			}
		})
	}
}

// specified is 3GPP TS 23.038 V17 §6.2.1, "GSM 7 bit Default Alphabet", by code point.
var specified = []rune{
	0x0040, 0x00A3, 0x0024, 0x00A5, 0x00E8, 0x00E9, 0x00F9, 0x00EC, 0x00F2, 0x00C7, 0x000A, 0x00D8, 0x00F8, 0x000D, 0x00C5, 0x00E5,
	0x0394, 0x005F, 0x03A6, 0x0393, 0x039B, 0x03A9, 0x03A0, 0x03A8, 0x03A3, 0x0398, 0x039E, -1, 0x00C6, 0x00E6, 0x00DF, 0x00C9,
	0x0020, 0x0021, 0x0022, 0x0023, 0x00A4, 0x0025, 0x0026, 0x0027, 0x0028, 0x0029, 0x002A, 0x002B, 0x002C, 0x002D, 0x002E, 0x002F,
	0x0030, 0x0031, 0x0032, 0x0033, 0x0034, 0x0035, 0x0036, 0x0037, 0x0038, 0x0039, 0x003A, 0x003B, 0x003C, 0x003D, 0x003E, 0x003F,
	0x00A1, 0x0041, 0x0042, 0x0043, 0x0044, 0x0045, 0x0046, 0x0047, 0x0048, 0x0049, 0x004A, 0x004B, 0x004C, 0x004D, 0x004E, 0x004F,
	0x0050, 0x0051, 0x0052, 0x0053, 0x0054, 0x0055, 0x0056, 0x0057, 0x0058, 0x0059, 0x005A, 0x00C4, 0x00D6, 0x00D1, 0x00DC, 0x00A7,
	0x00BF, 0x0061, 0x0062, 0x0063, 0x0064, 0x0065, 0x0066, 0x0067, 0x0068, 0x0069, 0x006A, 0x006B, 0x006C, 0x006D, 0x006E, 0x006F,
	0x0070, 0x0071, 0x0072, 0x0073, 0x0074, 0x0075, 0x0076, 0x0077, 0x0078, 0x0079, 0x007A, 0x00E4, 0x00F6, 0x00F1, 0x00FC, 0x00E0,
}

func TestGSM7_isTheSpecificationsTable(t *testing.T) {
	for septet, r := range specified {
		if r < 0 {
			continue
		}
		octets, _, _, err := text.Encode(string(r), text.GSM7, text.GSM7)
		require.NoError(t, err)
		require.Equal(t, []byte{byte(septet)}, octets, "%U", r)
		require.Equal(t, string(r), string(pdutext.GSM7(octets).Decode()), "second opinion")
	}
	for septet, r := range map[byte]rune{0x0A: 0x0C, 0x14: '^', 0x28: '{', 0x29: '}', 0x2F: '\\', 0x3C: '[', 0x3D: '~', 0x3E: ']', 0x40: '|', 0x65: 0x20AC} {
		octets, _, _, err := text.Encode(string(r), text.GSM7, text.GSM7)
		require.NoError(t, err)
		require.Equal(t, []byte{0x1B, septet}, octets, "%U", r)
		require.Equal(t, string(r), string(pdutext.GSM7(octets).Decode()), "second opinion")
	}
	encodable := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if _, err := text.GSM7.Size(string(r)); err == nil {
			encodable++
		}
	}
	require.Equal(t, 127+10, encodable, "nothing else is in the alphabet")
}

func TestEncode_agreesWithTheSecondOpinionInUCS2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringN(0, 30, 70).Draw(t, "text")
		octets, _, _, err := text.Encode(s, text.UCS2, text.GSM7)
		require.NoError(t, err)
		require.Equal(t, pdutext.UCS2(s).Encode(), octets)
	})
}

func TestEncode_properties(t *testing.T) {
	alphabets := []text.Alphabet{"", text.GSM7, text.ASCII, text.Latin1, text.UCS2}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("aZ@€[é\nçя😀\uFFFD")), 0, 200, -1).Draw(t, "text")
		alphabet := rapid.SampledFrom(alphabets).Draw(t, "alphabet")
		deflt := rapid.SampledFrom(alphabets[1:4]).Draw(t, "default")
		octets, coding, used, err := text.Encode(s, alphabet, deflt)
		if err != nil {
			require.Nil(t, octets)
			return
		}
		size, err := used.Size(s)
		require.NoError(t, err)
		require.Len(t, octets, size)
		got, exact := text.Decode(octets, coding, deflt)
		require.True(t, exact)
		require.Equal(t, s, got)
	})
}

func TestParseAlphabet(t *testing.T) {
	for _, name := range []string{"gsm7", "latin1", "ascii", "ucs2"} {
		a, err := text.ParseAlphabet(name)
		require.NoError(t, err)
		require.Equal(t, name, string(a))
	}
	for _, name := range []string{"", "GSM7", "utf8"} {
		_, err := text.ParseAlphabet(name)
		require.Error(t, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("Hi \x00\x1be"), byte(0))
	f.Add([]byte("\xd8\x3d\xde\x00"), byte(8))
	f.Add([]byte("\xe9\xff"), byte(3))
	f.Add([]byte{0x1B, 0x1B}, byte(0xF0))
	f.Fuzz(func(t *testing.T, octets []byte, coding byte) {
		for _, deflt := range []text.Alphabet{text.GSM7, text.Latin1, text.ASCII} {
			s, exact := text.Decode(octets, coding, deflt)
			require.True(t, utf8.ValidString(s))
			if !exact {
				continue
			}
			again, _, _, err := text.Encode(s, text.AlphabetOf(coding, deflt), deflt)
			if err != nil { // a message class may say GSM to an SMSC whose default is another
				require.ErrorIs(t, err, text.ErrNoDataCoding)
				continue
			}
			require.Equal(t, octets, append([]byte{}, again...), "what was read exactly is written the same")
		}
	})
}
