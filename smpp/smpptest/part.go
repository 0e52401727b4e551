package smpptest

import (
	"encoding/binary"
	"fmt"

	"esmed/smpp"
)

// Joining says how the submits of one message are known to belong together.
type Joining string

// Joinings.
const (
	Single  Joining = "single"  // one submit_sm with short_message
	Payload Joining = "payload" // one with message_payload
	UDH8    Joining = "udh8"    // a header with an 8-bit reference (3GPP TS 23.040 §9.2.3.24.1)
	UDH16   Joining = "udh16"   // one with a 16-bit reference (§9.2.3.24.8)
	SAR     Joining = "sar"     // sar_* TLVs (SMPP v3.4 §5.3.2.22 to 24)
)

// part is what one submit_sm says about its place in a message.
type part struct {
	by       Joining
	ref      uint16
	of, n    int    // parts, and which this is, from 1; 1 and 1 of a message that is whole
	octets   []byte // of the text, without a header
	inHeader []byte // the header without what joins
	fault    string // "" or what is wrong with it
}

const classUDHI byte = 0x40 // esm_class: the text begins with a user data header (SMPP v3.4 §5.2.12)

// Elements of a user data header that join (3GPP TS 23.040 §9.2.3.24).
const (
	elementRef8  = 0x00
	elementRef16 = 0x08
)

func (s *Submit) part() part {
	p := part{by: Single, of: 1, n: 1, octets: s.text()}
	if _, ok := s.tlv(smpp.TagMessagePayload); ok {
		p.by = Payload
		if len(s.ShortMessage) > 0 {
			p.fault = "both short_message and message_payload"
		}
	}
	if s.ESMClass&classUDHI != 0 {
		p.readHeader()
	}
	p.readSAR(s)
	if p.fault == "" && (p.n < 1 || p.n > p.of) {
		p.fault = fmt.Sprintf("part %d of %d", p.n, p.of)
	}
	return p
}

// readHeader takes the user data header off the text.
func (p *part) readHeader() {
	b := body{rest: p.octets}
	h := body{rest: b.octets(int(b.octet()))}
	for len(h.rest) > 0 && !h.bad {
		whole := h.rest
		id := h.octet()
		data := h.octets(int(h.octet()))
		switch {
		case id == elementRef8 && len(data) == 3:
			p.by, p.ref, p.of, p.n = UDH8, uint16(data[0]), int(data[1]), int(data[2])
		case id == elementRef16 && len(data) == 4:
			p.by, p.ref, p.of, p.n = UDH16, binary.BigEndian.Uint16(data), int(data[2]), int(data[3])
		default:
			p.inHeader = append(p.inHeader, whole[:len(whole)-len(h.rest)]...)
		}
	}
	p.octets = b.rest
	if b.bad || h.bad {
		p.fault = "a user data header that is longer than its text"
	}
}

func (p *part) readSAR(s *Submit) {
	ref, some := s.tlv(smpp.TagSARMsgRefNum)
	of, _ := s.tlv(smpp.TagSARTotalSegments)
	n, _ := s.tlv(smpp.TagSARSegmentSeqNum)
	switch {
	case !some && of == nil && n == nil:
	case len(ref) != 2 || len(of) != 1 || len(n) != 1:
		p.fault = "sar_* TLVs that are not all there"
	case p.by == UDH8 || p.by == UDH16:
		p.fault = "both a header and sar_* TLVs that join"
	default:
		p.by, p.ref, p.of, p.n = SAR, binary.BigEndian.Uint16(ref), int(of[0]), int(n[0])
	}
}

// several says whether the part is one of several, and by what they are joined, as the truth writes it.
func (p *part) several() (by string, ok bool) {
	switch p.by {
	case UDH8, UDH16, SAR:
		return fmt.Sprintf("%s:%d", p.by, p.ref), true
	}
	return "", false
}
