package daemon

import (
	"slices"

	"esmed/receipt"
	"esmed/smpp"
	"esmed/store"
)

// DecodePDU takes a PDU that an SMSC delivered (header included) apart into what receipts are read
// from. It fits store.Config.Decode. A body that cannot be taken apart, or was kept only in part, makes
// a Delivery that is Broken; so does a command that delivers nothing. The Delivery's octets are pdu's.
func DecodePDU(pdu []byte) receipt.Delivery {
	d, _ := delivery(pdu)
	return d
}

// TextSpans names the octets of a PDU that are message text, in order and without overlap, under an
// SMSC's rules (nil: the default ones). It fits store.Config.TextSpans. Of requests of deliver_sm and
// data_sm it is what package receipt says, of submit_sm the whole short_message and message_payload. Of
// a request that cannot be taken apart, or that SMPP does not know, it is the whole body, since any of it
// may be text; of all others nothing.
func TextSpans(pdu []byte, rules *receipt.Rules) []store.Span {
	if len(pdu) <= smpp.HeaderLen {
		return nil
	}
	switch id := smpp.ParseHeader(pdu).CommandID; id {
	case smpp.CommandDeliverSM, smpp.CommandDataSM:
		return deliverySpans(pdu, rules)
	case smpp.CommandSubmitSM:
		return submitSpans(pdu)
	default:
		if decoded, err := smpp.Decode(pdu); err == nil {
			if _, unknown := decoded.(*smpp.Other); !unknown {
				return nil
			}
		}
		if id.IsResponse() {
			return nil
		}
		return wholeBody(pdu)
	}
}

// offsets say where the parts of a delivery stand in its PDU.
type offsets struct {
	shortMessage int
	tlvs         []int
}

func (o offsets) of(s receipt.Span) store.Span {
	base := smpp.HeaderLen
	switch {
	case s.TLV >= 0:
		base = o.tlvs[s.TLV]
	case s.TLV == receipt.InShortMessage:
		base = o.shortMessage
	}
	return store.Span{Start: base + s.Start, End: base + s.End}
}

func delivery(pdu []byte) (receipt.Delivery, offsets) {
	d := receipt.Delivery{Broken: true}
	if len(pdu) < smpp.HeaderLen {
		return d, offsets{}
	}
	d.CommandID, d.Raw = uint32(smpp.ParseHeader(pdu).CommandID), pdu[smpp.HeaderLen:]
	decoded, err := smpp.Decode(pdu)
	if err != nil {
		return d, offsets{}
	}
	switch p := decoded.(type) {
	case *smpp.DeliverSM:
		d.ESMClass, d.DataCoding, d.ShortMessage, d.Notes = p.ESMClass, p.DataCoding, p.ShortMessage, p.Notes
		return withTLVs(d, p.Source, p.Dest, p.TLVs, p.ShortMessageOffset)
	case *smpp.DataSM:
		d.ESMClass, d.DataCoding, d.Notes = p.ESMClass, p.DataCoding, p.Notes
		return withTLVs(d, p.Source, p.Dest, p.TLVs, 0)
	}
	return d, offsets{}
}

func withTLVs(d receipt.Delivery, source, dest smpp.Address, tlvs smpp.TLVs, shortMessage int) (receipt.Delivery, offsets) {
	o := offsets{shortMessage: shortMessage}
	d.Broken = false
	d.Source = receipt.Address{Addr: source.Addr, TON: source.TON, NPI: source.NPI}
	d.Dest = receipt.Address{Addr: dest.Addr, TON: dest.TON, NPI: dest.NPI}
	if len(tlvs) > 0 {
		d.TLVs, o.tlvs = make([]receipt.TLV, len(tlvs)), make([]int, len(tlvs))
	}
	for i, t := range tlvs {
		d.TLVs[i], o.tlvs[i] = receipt.TLV{Tag: uint16(t.Tag), Value: t.Value}, t.Offset
	}
	return d, o
}

func deliverySpans(pdu []byte, rules *receipt.Rules) []store.Span {
	d, o := delivery(pdu)
	texts := receipt.TextSpans(d, rules)
	if len(texts) == 0 {
		return nil
	}
	spans := make([]store.Span, len(texts))
	for i, s := range texts {
		spans[i] = o.of(s)
	}
	return ordered(spans)
}

func submitSpans(pdu []byte) []store.Span {
	decoded, err := smpp.Decode(pdu)
	p, ok := decoded.(*smpp.SubmitSM)
	if err != nil || !ok {
		return wholeBody(pdu)
	}
	var spans []store.Span
	if n := len(p.ShortMessage); n > 0 {
		spans = append(spans, store.Span{Start: p.ShortMessageOffset, End: p.ShortMessageOffset + n})
	}
	for _, t := range p.TLVs {
		if t.Tag == smpp.TagMessagePayload && len(t.Value) > 0 {
			spans = append(spans, store.Span{Start: t.Offset, End: t.Offset + len(t.Value)})
		}
	}
	return ordered(spans)
}

func ordered(spans []store.Span) []store.Span {
	slices.SortFunc(spans, func(a, b store.Span) int { return a.Start - b.Start })
	return spans
}

func wholeBody(pdu []byte) []store.Span {
	return []store.Span{{Start: smpp.HeaderLen, End: len(pdu)}}
}
