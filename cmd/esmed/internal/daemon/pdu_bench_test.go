package daemon

import (
	"testing"

	"esmed/smpp"
)

func BenchmarkReception(b *testing.B) {
	pdu := encode(b, &smpp.DeliverSM{
		ESMClass: 4, Source: smpp.Address{TON: 1, NPI: 1, Addr: "393331234567"}, Dest: smpp.Address{TON: 5, Addr: "ACME"},
		ShortMessage: []byte(receiptText), TLVs: smpp.TLVs{
			{Tag: smpp.TagReceiptedMessageID, Value: []byte("0194b2f0-7c1e-7a52-9d3f-1b2c3d4e5f60\x00")}, {Tag: smpp.TagMessageState, Value: []byte{2}},
		},
	})
	b.Run("DecodePDU", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			DecodePDU(pdu)
		}
	})
	b.Run("TextSpans", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			TextSpans(pdu, nil)
		}
	})
}
