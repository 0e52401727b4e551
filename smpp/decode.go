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
// It does not panic, whatever the octets. Who knows the command, and reads many, has the structs' own Decode,
// and the views that allocate nothing.
func Decode(pdu []byte) (PDU, error) {
	if err := checkFrame(pdu); err != nil {
		return nil, err
	}
	p := blank(ParseHeader(pdu).CommandID)
	return p, decode(new(codec), pdu, p)
}

func decode(c *codec, pdu []byte, p PDU) error {
	if c.begin(pdu, p.header()) {
		p.fields(c)
	}
	return c.err
}

// begin points c at the body of pdu and reads the header into h. It reports whether there is a body to read:
// one of which only the beginning was kept could not be trusted.
func (c *codec) begin(pdu []byte, h *Header) bool {
	if c.err = checkFrame(pdu); c.err != nil {
		return false
	}
	*h = ParseHeader(pdu)
	c.buf, c.off, c.head = pdu, HeaderLen, *h
	if int(h.CommandLength) > len(pdu) {
		c.fail("body", "only %d of %d octets were kept", len(pdu), h.CommandLength)
	}
	return c.err == nil
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
