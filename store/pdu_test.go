package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"esmed/receipt"
)

// A codec of its own for the PDUs of these tests: deliver_sm and submit_sm with their fixed fields, a
// short_message and nothing else but optional parameters (SMPP v3.4 §4.4.1, §4.6.1).

const (
	submitSM  = 0x00000004
	deliverSM = 0x00000005
)

func requestPDU(command uint32, class byte, source, dest, text string, tlvs ...receipt.TLV) []byte {
	b := make([]byte, 16)
	b = append(b, 0, 1, 1)                                           // service_type, source TON and NPI
	b = append(append(b, source...), 0, 1, 1)                        // and dest TON and NPI
	b = append(append(b, dest...), 0, class, 0, 0, 0, 0, 1, 0, 0, 0) // up to sm_default_msg_id
	b = append(append(b, byte(len(text))), text...)
	for _, t := range tlvs {
		b = binary.BigEndian.AppendUint16(b, t.Tag)
		b = binary.BigEndian.AppendUint16(b, uint16(len(t.Value)))
		b = append(b, t.Value...)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	binary.BigEndian.PutUint32(b[4:], command)
	return b
}

func receiptPDU(id, stat, dest, text string, class byte) []byte {
	body := fmt.Sprintf("id:%s sub:001 dlvrd:001 submit date:2611301200 done date:2611301204 stat:%s err:000 text:%s", id, stat, text)
	return requestPDU(deliverSM, class, dest, "ACME", body, receipt.TLV{Tag: receipt.TagReceiptedMessageID, Value: append([]byte(id), 0)})
}

// decodePDU is Config.Decode. textAt is where the short_message begins.
func decodePDU(pdu []byte) receipt.Delivery {
	d, _ := takeApart(pdu)
	return d
}

func takeApart(pdu []byte) (d receipt.Delivery, textAt int) {
	if len(pdu) < 16 {
		return receipt.Delivery{Raw: pdu, Broken: true}, 0
	}
	broken := receipt.Delivery{CommandID: binary.BigEndian.Uint32(pdu[4:]), Raw: pdu[16:], Broken: true}
	d = broken
	d.Broken = false
	at := 16
	str := func() (s string) {
		n := bytes.IndexByte(pdu[min(at, len(pdu)):], 0)
		if n < 0 {
			at = len(pdu) + 1
			return ""
		}
		s = string(pdu[at : at+n])
		at += n + 1
		return s
	}
	str()
	at += 2
	d.Source.Addr = str()
	at += 2
	d.Dest.Addr = str()
	if at+10 > len(pdu) {
		return broken, 16
	}
	d.ESMClass, d.DataCoding = pdu[at], pdu[at+7]
	n := int(pdu[at+9])
	at += 10
	if at+n > len(pdu) {
		return broken, 16
	}
	textAt = at
	d.ShortMessage = pdu[at : at+n]
	for at += n; at+4 <= len(pdu); {
		tag, size := binary.BigEndian.Uint16(pdu[at:]), int(binary.BigEndian.Uint16(pdu[at+2:]))
		if at+4+size > len(pdu) {
			return broken, 16
		}
		d.TLVs = append(d.TLVs, receipt.TLV{Tag: tag, Value: pdu[at+4 : at+4+size]})
		at += 4 + size
	}
	return d, textAt
}

// textSpans is Config.TextSpans.
func textSpans(pdu []byte, rules *receipt.Rules) []Span {
	d, textAt := takeApart(pdu)
	if d.CommandID == submitSM {
		return []Span{{textAt, textAt + len(d.ShortMessage)}}
	}
	var spans []Span
	for _, s := range receipt.TextSpans(d, rules) {
		switch s.TLV {
		case receipt.InShortMessage:
			spans = append(spans, Span{textAt + s.Start, textAt + s.End})
		case receipt.InRaw:
			spans = append(spans, Span{min(16, len(pdu)) + s.Start, min(16, len(pdu)) + s.End})
		}
	}
	return spans
}
