package smpptest

import (
	"bytes"
	"encoding/binary"
	"errors"

	"esmed/smpp"
)

// esm_class types of a delivered message (SMPP v3.4 §5.2.12).
const (
	ClassReceipt      byte = 0x04
	ClassIntermediate byte = 0x20
)

const (
	headerLen    = 16
	maxFrame     = 1 << 20 // the longest PDU an ESME may send here
	maxShortText = 254     // octets of short_message, SMPP v3.4 §5.2.22
)

// Address is an SME address (SMPP v3.4 §5.2.5-5.2.9).
type Address struct {
	Addr     string
	TON, NPI byte
}

// TLV is an optional parameter (SMPP v3.4 §3.2.4.1).
type TLV struct {
	Tag   smpp.Tag
	Value []byte
}

// header is a PDU's header; length counts the header's own 16 octets.
type header struct {
	length  uint32
	command smpp.CommandID
	status  smpp.Status
	seq     uint32
}

func readHeader(b []byte) header {
	return header{
		binary.BigEndian.Uint32(b), smpp.CommandID(binary.BigEndian.Uint32(b[4:])),
		smpp.Status(binary.BigEndian.Uint32(b[8:])), binary.BigEndian.Uint32(b[12:]),
	}
}

// appendHeader opens a PDU in b; endPDU sets its length once the body is there.
func appendHeader(b []byte, command smpp.CommandID, status smpp.Status, seq uint32) []byte {
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(command))
	b = binary.BigEndian.AppendUint32(b, uint32(status))
	return binary.BigEndian.AppendUint32(b, seq)
}

// endPDU sets the command_length of the PDU that begins at start.
func endPDU(b []byte, start int) []byte {
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start))
	return b
}

func appendEmptyPDU(b []byte, command smpp.CommandID, status smpp.Status, seq uint32) []byte {
	return endPDU(appendHeader(b, command, status, seq), len(b))
}

func appendCString(b []byte, s string) []byte { return append(append(b, s...), 0) }

func appendAddress(b []byte, a Address) []byte {
	return appendCString(append(b, a.TON, a.NPI), a.Addr)
}

func appendTLV(b []byte, tag smpp.Tag, value ...byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(tag))
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	return append(b, value...)
}

var errBody = errors.New("smpptest: body cannot be taken apart")

// body reads the fields of a PDU's body in order. After the first that is not there, bad is set and
// every further field reads as zero.
type body struct {
	rest []byte
	bad  bool
}

func (b *body) cstring() string {
	end := bytes.IndexByte(b.rest, 0)
	if end < 0 {
		b.bad, b.rest = true, nil
		return ""
	}
	s := string(b.rest[:end])
	b.rest = b.rest[end+1:]
	return s
}

func (b *body) octets(n int) []byte {
	if n > len(b.rest) {
		b.bad, b.rest = true, nil
		return nil
	}
	v := b.rest[:n:n]
	b.rest = b.rest[n:]
	return v
}

func (b *body) octet() byte {
	if v := b.octets(1); v != nil {
		return v[0]
	}
	return 0
}

func (b *body) address() Address {
	a := Address{TON: b.octet(), NPI: b.octet()}
	a.Addr = b.cstring()
	return a
}

// tlvs reads what is left as optional parameters and stops at the first that is incomplete.
func (b *body) tlvs() []TLV {
	var out []TLV
	for len(b.rest) >= 4 {
		tag, n := smpp.Tag(binary.BigEndian.Uint16(b.rest)), int(binary.BigEndian.Uint16(b.rest[2:]))
		b.rest = b.rest[4:]
		v := b.octets(n)
		if b.bad {
			break
		}
		out = append(out, TLV{tag, v})
	}
	return out
}
