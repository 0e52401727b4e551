package daemon

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/smpp"
	"esmed/store"
)

func encode(t require.TestingT, p smpp.PDU) []byte {
	pdu, err := smpp.Append(nil, p)
	require.NoError(t, err)
	return pdu
}

// texts are the octets that spans name.
func texts(pdu []byte, spans []store.Span) []string {
	var all []string
	for _, s := range spans {
		all = append(all, string(pdu[s.Start:s.End]))
	}
	return all
}

const receiptText = "id:5A3C sub:001 dlvrd:001 submit date:2611301200 done date:2611301204 stat:DELIVRD err:000 text:Your code is"

func TestTextSpans(t *testing.T) {
	payload := smpp.TLV{Tag: smpp.TagMessagePayload, Value: []byte("in the payload")}
	whole := func(pdu []byte) []string { return []string{string(pdu[smpp.HeaderLen:])} }
	tests := []struct {
		name string
		pdu  []byte
		want func(pdu []byte) []string
	}{
		{"a receipt: what it quotes", encode(t, &smpp.DeliverSM{ESMClass: 4, ShortMessage: []byte(receiptText)}),
			func([]byte) []string { return []string{"Your code is"} }},
		{"a mobile-originated message: all of it", encode(t, &smpp.DeliverSM{ShortMessage: []byte(receiptText)}),
			func([]byte) []string { return []string{receiptText} }},
		{"a message with text in both places: both, in order", encode(t, &smpp.DeliverSM{ShortMessage: []byte("short"), TLVs: smpp.TLVs{payload}}),
			func([]byte) []string { return []string{"short", "in the payload"} }},
		{"a data_sm: its payload", encode(t, &smpp.DataSM{TLVs: smpp.TLVs{{Tag: smpp.TagMessageState, Value: []byte{2}}, payload}}),
			func([]byte) []string { return []string{"in the payload"} }},
		{"a submit_sm: its text", encode(t, &smpp.SubmitSM{ShortMessage: []byte("short")}),
			func([]byte) []string { return []string{"short"} }},
		{"a submit_sm without text: nothing", encode(t, &smpp.SubmitSM{}), func([]byte) []string { return nil }},
		{"a body that cannot be taken apart: all of it", endPDU(append(header(smpp.CommandDeliverSM), "no NUL"...)), whole},
		{"a PDU of which only the beginning was kept: all of that", encode(t, &smpp.DeliverSM{ShortMessage: []byte("cut off here")})[:40], whole},
		{"a command that SMPP does not know: all of its body", endPDU(append(header(0x00010203), "who knows"...)), whole},
		{"a response: nothing", encode(t, &smpp.SubmitSMResp{MessageID: "5A3C"}), func([]byte) []string { return nil }},
		{"a response without its NUL: nothing", endPDU(append(header(smpp.CommandSubmitSMResp), "5A3C"...)), func([]byte) []string { return nil }},
		{"what follows a response's id", encode(t, &smpp.SubmitSMResp{MessageID: "5A3C", TLVs: smpp.TLVs{{Tag: smpp.TagAdditionalStatusInfoText, Value: []byte("info")}}}),
			func([]byte) []string { return []string{"\x00\x1d\x00\x04info"} }},
		{"an unknown response: all of its body", endPDU(append(header(0x80010203), "who knows"...)), whole},
		{"a generic_nack with a body: all of it", endPDU(append(header(smpp.CommandGenericNack), "who knows"...)), whole},
		{"an alert_notification: what follows its addresses", endPDU(append(encode(t, &smpp.AlertNotification{Source: smpp.Address{Addr: "1"}, ESME: smpp.Address{Addr: "2"}}), "stray"...)),
			func([]byte) []string { return []string{"stray"} }},
		{"a replace_sm: from its text on", encode(t, &smpp.ReplaceSM{MessageID: "5A3C", ShortMessage: []byte("Hi")}),
			func([]byte) []string { return []string{"Hi"} }},
		{"a bind: from its password on", encode(t, &smpp.Bind{Header: smpp.Header{CommandID: smpp.CommandBindReceiver}, SystemID: "esme", Password: "hush"}),
			func(pdu []byte) []string { return []string{string(pdu[smpp.HeaderLen+5:])} }},
		{"a receipt whose sm_length is too short: what it quotes behind it, but for four octets", lied(encode(t, &smpp.DeliverSM{ESMClass: 4, ShortMessage: []byte("id:7 stat:DELIVRD text:Your code is 4711")}), "\x28id", 28),
			func([]byte) []string { return []string{"our ", " is 4711"} }},
		{"a message whose sm_length is 0: all of it", lied(encode(t, &smpp.DeliverSM{ShortMessage: []byte("4711")}), "\x044711", 0),
			func([]byte) []string { return []string{"4711"} }},
		{"a receipt whose payload claims too much: the payload", lied(encode(t, &smpp.DeliverSM{ESMClass: 4, TLVs: smpp.TLVs{
			{Tag: smpp.TagReceiptedMessageID, Value: []byte("7\x00")}, {Tag: smpp.TagMessagePayload, Value: []byte("Your code is 4711")}}}), "\x11Your", 99),
			func([]byte) []string { return []string{"Your code is 4711"} }},
		{"stray octets behind a receipt", endPDU(append(encode(t, &smpp.DeliverSM{ESMClass: 4, ShortMessage: []byte("id:7 stat:DELIVRD")}), "Hi"...)),
			func([]byte) []string { return []string{"Hi"} }},
		{"stray octets behind a submit_sm", endPDU(append(encode(t, &smpp.SubmitSM{ShortMessage: []byte("Hi")}), "Your code"...)),
			func([]byte) []string { return []string{"Hi", "Your code"} }},
		{"a data_sm with the body of a deliver_sm: all but what reads as an empty TLV", asDataSM(encode(t, &smpp.DeliverSM{ShortMessage: []byte("Your code is 4711")})),
			func([]byte) []string { return []string{"\x00\x00\x11Your code is 4711"} }},
		{"an info text and what an SMSC adds of its own", encode(t, &smpp.DeliverSM{ESMClass: 4, TLVs: smpp.TLVs{
			{Tag: smpp.TagAdditionalStatusInfoText, Value: []byte("info")}, {Tag: smpp.TagReceiptedMessageID, Value: []byte("7\x00")}, {Tag: 0x1501, Value: []byte("own")}}}),
			func([]byte) []string { return []string{"info", "own"} }},
		{"no PDU at all: nothing", []byte{1, 2, 3}, func([]byte) []string { return nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want(tt.pdu), texts(tt.pdu, TextSpans(tt.pdu, nil)))
		})
	}
}

func TestDecodePDU(t *testing.T) {
	t.Run("what is no delivery is broken", func(t *testing.T) {
		require.True(t, DecodePDU(nil).Broken)
		require.True(t, DecodePDU(encode(t, &smpp.SubmitSM{})).Broken)
	})
	t.Run("a data_sm has its TLVs and no short_message", func(t *testing.T) {
		d := DecodePDU(encode(t, &smpp.DataSM{
			ESMClass: 4, Source: smpp.Address{Addr: "1", TON: 2, NPI: 3},
			TLVs: smpp.TLVs{{Tag: smpp.TagReceiptedMessageID, Value: []byte("5A3C\x00")}},
		}))
		require.False(t, d.Broken)
		require.Nil(t, d.ShortMessage)
		require.Equal(t, receipt.Address{Addr: "1", TON: 2, NPI: 3}, d.Source)
		require.Equal(t, []receipt.TLV{{Tag: receipt.TagReceiptedMessageID, Value: []byte("5A3C\x00")}}, d.TLVs)
	})
}

// Whatever comes to stand in the spans, and whatever the octets are, the same receipt is read.
func TestTextSpans_coverNothingThatIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pdu := drawPDU(t)
		spans := TextSpans(pdu, nil)
		last := smpp.HeaderLen
		for _, s := range spans {
			require.GreaterOrEqual(t, s.Start, last, "in order, behind the header")
			require.Greater(t, s.End, s.Start)
			last = s.End
		}
		require.LessOrEqual(t, last, len(pdu))

		before := receipt.Decode(DecodePDU(pdu), nil)
		sealed := slices.Clone(pdu)
		for _, s := range spans {
			copy(sealed[s.Start:s.End], rapid.SliceOfN(rapid.Byte(), s.End-s.Start, s.End-s.Start).Draw(t, "sealed"))
		}
		if !before.IsEvidence() {
			return
		}
		require.Equal(t, spans, TextSpans(sealed, nil))
		after := receipt.Decode(DecodePDU(sealed), nil)
		before.Text, after.Text = "", ""
		require.Equal(t, before, after)
	})
}

func drawPDU(t *rapid.T) []byte {
	text := rapid.SampledFrom([]string{
		receiptText, "", "hello", "stat:DELIVRD id:7 text:", "id:7 stat:REJECTD text:id:8 stat:DELIVRD",
		"\x05\x00\x03\x01\x02\x01id:9 stat:EXPIRED text:long",
	}).Draw(t, "text") + rapid.StringN(0, 20, 40).Draw(t, "more")
	tlvs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) smpp.TLV {
		tag := rapid.SampledFrom([]smpp.Tag{
			smpp.TagReceiptedMessageID, smpp.TagMessageState, smpp.TagMessagePayload, smpp.TagNetworkErrorCode, 0x1400,
		}).Draw(t, "tag")
		return smpp.TLV{Tag: tag, Value: rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "value")}
	}), 0, 4).Draw(t, "tlvs")
	class := rapid.SampledFrom([]byte{0, 4, 0x20, 8, 0x44, 0x0C}).Draw(t, "esm_class")
	var pdu []byte
	if rapid.Bool().Draw(t, "data_sm") {
		tlvs = append(tlvs, smpp.TLV{Tag: smpp.TagMessagePayload, Value: []byte(text)})
		pdu = encode(t, &smpp.DataSM{ESMClass: class, TLVs: tlvs})
	} else {
		coding := rapid.SampledFrom([]byte{0, 3, 8}).Draw(t, "data_coding")
		pdu = encode(t, &smpp.DeliverSM{ESMClass: class, DataCoding: coding, ShortMessage: []byte(text), TLVs: tlvs})
	}
	switch rapid.IntRange(0, 6).Draw(t, "fault") {
	case 2: // a TLV whose length lies, or stray octets
		pdu = endPDU(append(pdu, rapid.SampledFrom([]string{"\x00\x1e\xff\xffid:7", "\x00", "\x04\x24\x00\x40id:8 stat:DELIVRD", "abc"}).Draw(t, "tail")...))
	case 3: // an sm_length that is too short
		if at := bytes.Index(pdu, []byte(text)); at > smpp.HeaderLen && text != "" {
			pdu[at-1] = byte(rapid.IntRange(0, len(text)-1).Draw(t, "sm_length"))
		}

	case 0:
		pdu = pdu[:rapid.IntRange(smpp.HeaderLen, len(pdu)).Draw(t, "cut")]
	case 1:
		i := rapid.IntRange(smpp.HeaderLen, len(pdu)-1).Draw(t, "at")
		pdu[i] = rapid.Byte().Draw(t, "octet")
	}
	return pdu
}

// lied is a PDU with another octet where that text is found.
func lied(pdu []byte, at string, octet byte) []byte {
	pdu[bytes.Index(pdu, []byte(at))] = octet
	return pdu
}

func asDataSM(pdu []byte) []byte {
	binary.BigEndian.PutUint32(pdu[4:], uint32(smpp.CommandDataSM))
	return pdu
}

func header(id smpp.CommandID) []byte {
	return smpp.AppendHeader(nil, smpp.Header{CommandLength: smpp.HeaderLen, CommandID: id, SequenceNumber: 1})
}

func endPDU(pdu []byte) []byte {
	binary.BigEndian.PutUint32(pdu, uint32(len(pdu)))
	return pdu
}

func FuzzTextSpans(f *testing.F) {
	f.Add(encode(f, &smpp.DeliverSM{ESMClass: 4, ShortMessage: []byte(receiptText)}))
	f.Add(encode(f, &smpp.SubmitSM{ShortMessage: []byte("text")}))
	f.Add(endPDU(append(header(smpp.CommandDataSM), "\x00\x00"...)))
	f.Fuzz(func(t *testing.T, pdu []byte) {
		last := 0
		for _, s := range TextSpans(pdu, nil) {
			if s.Start < last || s.End <= s.Start || s.End > len(pdu) {
				t.Fatal(fmt.Sprint(TextSpans(pdu, nil)))
			}
			last = s.End
		}
	})
}
