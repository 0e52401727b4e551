package control

import (
	"encoding/binary"

	"esmed/receipt"
	"esmed/smpp/text"
	"esmed/statemachine"
)

// Words of an SMSC's long_messages and long_receipts. Those that are not here, udh and each, are what ""
// means too.
const (
	longSAR     = "sar"
	longPayload = "payload"

	receiptsLast  = "last"
	receiptsFirst = "first"
)

// Tags of a part's place in its message (SMPP v3.4 §5.3.2.22 to §5.3.2.24).
const (
	tagSARReference = 0x020C
	tagSARTotal     = 0x020E
	tagSARSegment   = 0x020F
)

// payload makes one submit_sm of a message that is longer than a short message: the SMSC splits it.
func (s *submission) payload(field int, octets []byte, dataCoding byte) {
	if len(octets) > maxPayload {
		s.wrong(field, "is longer than message_payload can be: %d octets, of %d at most", len(octets), maxPayload)
		return
	}
	s.m.part[0] = statemachine.PartContent{DataCoding: dataCoding, ShortMessage: octets, Payload: true}
	s.m.Parts = s.m.part[:]
}

// split makes the parts of a text. Also where TLVs say their places, they leave room for the header that
// the SMSC makes of these.
func (s *submission) split(given string, a text.Alphabet, dataCoding byte) {
	texts := a.Split(given, a.Room(text.HeaderLen))
	if len(texts) > text.MaxParts {
		s.wrong(fieldText, "is too long: it would need %d parts in %s, of %d at most", len(texts), a, text.MaxParts)
		return
	}
	if s.number(fieldReplace, 1) == 1 {
		// It replaces what has the same source, destination and service_type (SMPP v3.4 §5.2.18).
		s.wrong(fieldReplace, "cannot be set for a text in %d parts: each would replace the one before it", len(texts))
	}
	reference := s.reader.ids.reference()
	s.m.Parts = make([]statemachine.PartContent, len(texts))
	for i, t := range texts {
		part := &s.m.Parts[i]
		part.DataCoding, part.NoReceipt = dataCoding, !s.smsc.asksReceipt(i+1, len(texts))
		octets := make([]byte, 0, text.HeaderLen+a.Room(text.HeaderLen))
		if s.smsc.LongMessages == longSAR {
			part.TLVs = sarTLVs(reference, len(texts), i+1)
		} else {
			part.ESMClass, octets = esmUDHI, text.AppendHeader(octets, reference, len(texts), i+1)
		}
		part.ShortMessage = a.Append(octets, t)
	}
}

// sarTLVs say which part of which text a submit_sm carries.
func sarTLVs(reference uint16, parts, n int) []receipt.TLV {
	return []receipt.TLV{
		{Tag: tagSARReference, Value: binary.BigEndian.AppendUint16(nil, reference)},
		{Tag: tagSARTotal, Value: []byte{byte(parts)}},
		{Tag: tagSARSegment, Value: []byte{byte(n)}},
	}
}

// asksReceipt reports whether a part, from 1, of several is one whose receipt is asked for.
func (s *SMSC) asksReceipt(part, parts int) bool {
	switch s.LongReceipts {
	case receiptsLast:
		return part == parts
	case receiptsFirst:
		return part == 1
	}
	return true
}
