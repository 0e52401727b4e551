package smpp

import "fmt"

// Decode takes a whole PDU apart and is tolerant: what an SMSC may get wrong without making a field
// doubtful is read and noted in the PDU's Notes. Slices of the result are parts of pdu, strings are
// copies. There are three outcomes:
//
//   - nil: the PDU is read.
//   - a *BodyError: the frame is whole, the body is bad or was kept only in part. The PDU returned holds
//     the header and the fields before the fault.
//   - an error that wraps ErrFraming, and no PDU: these octets are not one PDU.
//
// It does not panic, whatever the octets.
func Decode(pdu []byte) (PDU, error) {
	if err := checkFrame(pdu); err != nil {
		return nil, err
	}
	p := blank(ParseHeader(pdu).CommandID)
	var c codec
	err := decode(&c, pdu, p)
	return p, err
}

// Decode is the function Decode for a PDU known to be a deliver_sm. Everything in p is overwritten; the
// slice of its TLVs is used again, so that decoding into the same p allocates only the strings.
func (p *DeliverSM) Decode(pdu []byte) error {
	if err := checkFrame(pdu); err != nil {
		return err
	}
	*p = DeliverSM{TLVs: p.TLVs}
	var c codec
	c.begin(pdu, &p.Header)
	p.fields(&c)
	return c.err
}

// Decode is the function Decode for a PDU known to be a submit_sm_resp; see DeliverSM.Decode.
func (p *SubmitSMResp) Decode(pdu []byte) error {
	if err := checkFrame(pdu); err != nil {
		return err
	}
	*p = SubmitSMResp{TLVs: p.TLVs}
	var c codec
	c.begin(pdu, &p.Header)
	p.fields(&c)
	return c.err
}

func decode(c *codec, pdu []byte, p PDU) error {
	c.begin(pdu, p.header())
	p.fields(c)
	return c.err
}

// begin points c at the body of pdu, whose header has been checked, and reads the header into h. A PDU
// of which only the beginning was kept has no body that could be trusted.
func (c *codec) begin(pdu []byte, h *Header) {
	*h = ParseHeader(pdu)
	c.buf, c.off, c.head = pdu, HeaderLen, *h
	if int(h.CommandLength) > len(pdu) {
		c.fail("body", "only %d of %d octets were kept", len(pdu), h.CommandLength)
	}
}

// checkFrame says whether pdu is one PDU, or the beginning of one.
func checkFrame(pdu []byte) error {
	if len(pdu) < HeaderLen {
		return fmt.Errorf("%w: %d octets are no PDU", ErrFraming, len(pdu))
	}
	n := ParseHeader(pdu).CommandLength
	if err := checkLength(n); err != nil {
		return err
	}
	if int(n) < len(pdu) {
		return fmt.Errorf("%w: command_length is %d, there are %d octets", ErrFraming, n, len(pdu))
	}
	return nil
}

func checkLength(n uint32) error {
	if n < HeaderLen || n > MaxCommandLength {
		return fmt.Errorf("%w: command_length is %d", ErrFraming, n)
	}
	return nil
}
