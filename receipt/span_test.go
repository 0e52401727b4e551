package receipt_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
)

// replaced is d with other octets, repeated as needed, in its text spans.
func replaced(d receipt.Delivery, spans []receipt.Span, other []byte) receipt.Delivery {
	d.ShortMessage = slices.Clone(d.ShortMessage)
	d.TLVs = slices.Clone(d.TLVs)
	for _, s := range spans {
		if s.TLV == receipt.InRaw {
			continue
		}
		value := d.ShortMessage
		if s.TLV >= 0 {
			value = slices.Clone(d.TLVs[s.TLV].Value)
			d.TLVs[s.TLV].Value = value
		}
		for i := s.Start; i < s.End && len(other) > 0; i++ {
			value[i] = other[(i-s.Start)%len(other)]
		}
	}
	return d
}

// checkSpans holds TextSpans to its promise.
func checkSpans(t require.TestingT, d receipt.Delivery, other []byte) {
	spans := receipt.TextSpans(d, nil)
	was := receipt.Decode(d, nil)
	is := receipt.Decode(replaced(d, spans, other), nil)
	switch {
	case was.IsEvidence():
		was.Text, is.Text = "", ""
		require.Equal(t, was, is)
	case was.Kind != receipt.Undecodable && was.Kind != receipt.Message:
		require.Equal(t, []string{was.Kind.String(), was.ID}, []string{is.Kind.String(), is.ID})
	}
}

func TestTextSpans(t *testing.T) {
	whole := "id:7 sub:001 dlvrd:001 submit date:2403151204 done date:2403151206 stat:DELIVRD err:000 text:"
	tests := []struct {
		name string
		d    receipt.Delivery
		want []string
	}{
		{"all labels", deliver(4, whole+" Made up"), []string{" Made up"}},
		{"all labels, a text that begins like one", deliver(4, whole+"stat:x"), []string{"stat:x"}},
		{"one label missing costs a character", deliver(4, "id:7 stat:DELIVRD text: Made up"), []string{"ade up"}},
		{"and as many as could begin a label", deliver(4, "id:7 text:States"), []string{"s"}},
		{"of a label of two words too", deliver(4, "id:7 text:done  datum"), []string{"m"}},
		{"a text that is all the beginning of a label", deliver(4, "id:7 text:sta"), nil},
		{"a text of blanks", deliver(4, "id:7 text:   "), nil},
		{"no text label", deliver(4, "id:7 stat:DELIVRD"), nil},
		{"a text label passed over", deliver(4, "text: id:7"), nil},
		{"UCS-2", coded(8, deliver(4, string(ucs2(whole+"Hi")))), []string{"\x00H\x00i"}},
		{"UCS-2 of odd length", coded(8, deliver(4, string(ucs2(whole+"Hi"))+"x")), []string{"\x00H\x00ix"}},
		{"UCS-2 behind a header and a byte order mark", coded(8, deliver(0x44, "\x05\x00\x03\x2a\x01\x01\xfe\xff"+string(ucs2(whole+"Hi")))), []string{"\x00H\x00i"}},
		{"payload", deliver(4, "", tlvID("7"), payload(whole+"Hi")), []string{"Hi"}},
		{"payload beside a body", deliver(4, whole+"Hi", payload("Ho")), []string{"Hi", "Ho"}},
		{"TLVs that are not read, wherever they stand", deliver(4, whole+"Hi", receipt.TLV{Tag: 0x001D, Value: []byte("info")}, tlvID("7"),
			receipt.TLV{Tag: 0x1501, Value: []byte("own")}, tlvState("\x02"), receipt.TLV{Tag: 0x0423, Value: []byte{3, 0, 1}},
			receipt.TLV{Tag: 0x0204, Value: []byte{0, 1}}, receipt.TLV{Tag: 0x1502}), []string{"Hi", "info", "own"}},
		{"a message", deliver(0, "Hi"), []string{"Hi"}},
		{"a message behind a header", deliver(0x40, "\x05\x00\x03\x2a\x01\x01Hi"), []string{"Hi"}},
		{"an empty message", deliver(0, ""), nil},
		{"an acknowledgement", deliver(0x10, "Yes", tlvID("7")), []string{"Yes"}},
		{"an undecodable body, header and all", deliver(0x44, "\x05\x00\x03\x2a\x01\x01Hi"), []string{"\x05\x00\x03\x2a\x01\x01Hi"}},
		{"a broken PDU", receipt.Delivery{CommandID: deliverSM, Broken: true, Raw: []byte("raw")}, []string{"raw"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range receipt.TextSpans(tt.d, nil) {
				got = append(got, string(spanned(tt.d, s)))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestTextSpans_theReferenceThatIsEchoedStays(t *testing.T) {
	rules := receipt.DefaultRules()
	rules.ClientRefTLV = 0x1501
	d := deliver(4, "id:7 stat:DELIVRD", receipt.TLV{Tag: 0x1501, Value: []byte("01JDXW")}, receipt.TLV{Tag: 0x1502, Value: []byte("x")})
	require.Equal(t, []receipt.Span{{TLV: 1, End: 1}}, receipt.TextSpans(d, &rules))
}

func spanned(d receipt.Delivery, s receipt.Span) []byte {
	switch s.TLV {
	case receipt.InShortMessage:
		return d.ShortMessage[s.Start:s.End]
	case receipt.InRaw:
		return d.Raw[s.Start:s.End]
	}
	return d.TLVs[s.TLV].Value[s.Start:s.End]
}

func TestTextSpans_property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDelivery(t)
		checkTruths(t, d)
		checkSpans(t, d, drawText(t, "other"))
		checkSpans(t, d, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "octets"))
	})
}

// drawDelivery draws what looks like a receipt, in any encoding and body.
func drawDelivery(t *rapid.T) receipt.Delivery {
	class := rapid.SampledFrom([]byte{0x04, 0x04, 0x20, 0x0C, 0x14, 0x00, 0x10}).Draw(t, "class")
	text := drawText(t, "text")
	switch rapid.IntRange(0, 3).Draw(t, "encoding") {
	case 0:
		text = ucs2(runes(string(text)))
	case 1:
		text = append([]byte{0xFE, 0xFF}, ucs2(runes(string(text)))...)
	}
	if rapid.Bool().Draw(t, "header") {
		class |= 0x40
		header := rapid.SampledFrom([]string{"\x05\x00\x03\x2a\x01\x01", "\x00", "\x40\x00\x10", "\x10"}).Draw(t, "octets")
		text = append([]byte(header), text...)
	}
	d := receipt.Delivery{CommandID: deliverSM, ESMClass: class, DataCoding: rapid.SampledFrom([]byte{0, 8}).Draw(t, "coding")}
	if rapid.Bool().Draw(t, "payload") {
		d.TLVs = append(d.TLVs, receipt.TLV{Tag: receipt.TagMessagePayload, Value: text})
	} else {
		d.ShortMessage = text
	}
	if rapid.Bool().Draw(t, "id") {
		d.TLVs = append(d.TLVs, tlvID("8\x00"))
	}
	if rapid.Bool().Draw(t, "state") {
		d.TLVs = append(d.TLVs, tlvState("\x02"))
	}
	if rapid.Bool().Draw(t, "more") {
		d.TLVs = append(d.TLVs, receipt.TLV{Tag: 0x001D, Value: []byte("id:9 stat:EXPIRED")}, receipt.TLV{Tag: 0x1501, Value: text})
	}
	return d
}

// drawText draws pieces of which receipts, and attacks on their reading, consist.
func drawText(t *rapid.T, name string) []byte {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		"id:", "sub:", "dlvrd:", "submit date:", "done_date:", "stat:", "err:", "text:", "Text:", " ", "\x00", "\r\n", "\xa0",
		"7", "DELIVRD", "EXPIRED", "2403151204", "2024-03-15 12:04", "sta", "submit ", "x", "é", ":", "_", "\x00i\x00d\x00:\x009 ",
		"\x00 \x00s\x00t\x00a\x00t\x00:\x00X", "id:7 stat:DELIVRD text:", usual,
	}), 0, 12).Draw(t, name)
	var b bytes.Buffer
	for _, p := range pieces {
		b.WriteString(p)
	}
	return b.Bytes()
}
