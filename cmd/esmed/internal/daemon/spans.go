package daemon

import (
	"bytes"
	"slices"

	"esmed/receipt"
	"esmed/smpp"
	"esmed/store"
)

// TextSpans names the octets of a PDU that are or may be message text, in order and without overlap, under
// an SMSC's rules (nil: the default ones). It fits store.Config.TextSpans.
//
//   - deliver_sm and data_sm: what package receipt says, and what follows the last field or TLV that is
//     whole. Of a TLV that claims more octets than there are, tag and length stay, so that whatever comes
//     to stand behind them is no TLV either; but not in a message or an undecodable one, of which nothing
//     need be read again.
//   - submit_sm: short_message, message_payload, and likewise what follows the last TLV.
//   - Anything else, responses too: all that follows the last field that SMPP defines for its body, TLVs
//     included, so that ids and addresses stay. A password and a text count as no such field.
//   - What cannot be taken apart, or was kept only in part: all of the body.
func TextSpans(pdu []byte, rules *receipt.Rules) []store.Span {
	if len(pdu) <= smpp.HeaderLen {
		return nil
	}
	switch smpp.ParseHeader(pdu).CommandID {
	case smpp.CommandDeliverSM, smpp.CommandDataSM:
		return deliverySpans(pdu, rules)
	case smpp.CommandSubmitSM:
		return submitSpans(pdu)
	case smpp.CommandSubmitSMResp:
		if end := bytes.IndexByte(pdu[smpp.HeaderLen:], 0); end == len(pdu)-smpp.HeaderLen-1 {
			return nil // the usual one: a message_id and no more
		}
	}
	return span(fieldsEnd(pdu), len(pdu))
}

func deliverySpans(pdu []byte, rules *receipt.Rules) []store.Span {
	var (
		room      [usualTLVs]smpp.TLV
		delivered [usualTLVs]receipt.TLV
	)
	sm := smpp.DeliverSMView{TLVs: room[:0]}
	d := delivery(pdu, &sm) // no text is found by its addresses
	d.TLVs = appendDelivered(delivered[:0], sm.TLVs)
	inDelivery := receipt.TextSpans(d, rules)
	spans := make([]store.Span, 0, len(inDelivery)+1)
	for _, s := range inDelivery {
		base := smpp.HeaderLen
		switch {
		case s.TLV >= 0:
			base = sm.TLVs[s.TLV].Offset
		case s.TLV == receipt.InShortMessage:
			base = sm.ShortMessageOffset
		}
		spans = append(spans, store.Span{Start: base + s.Start, End: base + s.End})
	}
	if len(d.Notes) > 0 { // else every octet belongs to a field
		rest := strayStart(pdu)
		if len(pdu)-rest >= tlvHeaderLen && mustReadAgain(d, rules) {
			rest += tlvHeaderLen
		}
		spans = append(spans, span(rest, len(pdu))...)
	}
	return ordered(spans)
}

// mustReadAgain reports whether more than the kind of d counts.
func mustReadAgain(d receipt.Delivery, rules *receipt.Rules) bool {
	r := receipt.Decode(d, rules)
	return r.Kind != receipt.Message && r.Kind != receipt.Undecodable
}

// tlvHeaderLen is that of a TLV's tag and length (SMPP v3.4 §3.2.4.1).
const tlvHeaderLen = 4

func submitSpans(pdu []byte) []store.Span {
	var room [usualTLVs]smpp.TLV
	p := smpp.SubmitSMView{TLVs: room[:0]}
	if p.Decode(pdu) != nil {
		return span(smpp.HeaderLen, len(pdu))
	}
	spans := span(p.ShortMessageOffset, p.ShortMessageOffset+len(p.ShortMessage))
	for _, t := range p.TLVs {
		if t.Tag == smpp.TagMessagePayload {
			spans = append(spans, span(t.Offset, t.Offset+len(t.Value))...)
		}
	}
	if len(p.Notes) > 0 {
		spans = append(spans, span(strayStart(pdu), len(pdu))...)
	}
	return ordered(spans)
}

// strayStart is where the octets begin that belong to no field and no whole TLV, in a body that could be
// taken apart; len(pdu) when there are none.
func strayStart(pdu []byte) int {
	start := smpp.HeaderLen
	for _, f := range smpp.Fields(pdu) {
		if f.Octets != nil {
			start = max(start, f.Offset+len(f.Octets))
		}
	}
	return start
}

// fieldsEnd is where the fields end that SMPP defines for the body, up to the first that is a text, a
// secret or broken.
func fieldsEnd(pdu []byte) int {
	end := smpp.HeaderLen
	for _, f := range smpp.Fields(pdu) {
		switch {
		case f.Octets == nil && !f.Secret || f.Offset < smpp.HeaderLen:
			continue // a note, a field of the header
		case f.Text || f.Secret || f.Offset > end+1: // between fields there is a NUL at most, before a TLV its header
			return terminated(pdu, end)
		}
		end = f.Offset + len(f.Octets)
	}
	return terminated(pdu, end)
}

// terminated takes the NUL behind a field with it.
func terminated(pdu []byte, end int) int {
	if end > smpp.HeaderLen && end < len(pdu) && pdu[end] == 0 {
		return end + 1
	}
	return end
}

// span is none when it would be empty.
func span(start, end int) []store.Span {
	if start >= end {
		return nil
	}
	return []store.Span{{Start: start, End: end}}
}

func ordered(spans []store.Span) []store.Span {
	slices.SortFunc(spans, func(a, b store.Span) int { return a.Start - b.Start })
	return spans
}
