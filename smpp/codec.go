package smpp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// codec goes once through the fields of a PDU, which the PDU's fields method names in the order of the
// wire, and reads them from buf or writes them to it. After the first fault it does nothing more.
type codec struct {
	buf      []byte // the PDU; when writing, all that is written so far
	start    int    // where in buf the PDU begins, when writing
	off      int    // the next octet to read
	encoding bool
	head     Header
	notes    []string
	err      error
	see      func(field) // told of each field that was read; may be nil
}

// field is what Fields is told of one field.
type field struct {
	name       string
	kind       fieldKind
	start, end int // its octets within the PDU, without a closing NUL
	tag        Tag // of kindTLV
}

type fieldKind int

const (
	kindOctet fieldKind = iota
	kindString
	kindSecret
	kindText
	kindTLV
	kindStatus
)

func (c *codec) fail(name, format string, args ...any) {
	at := c.off
	if c.encoding {
		at = len(c.buf) - c.start
	}
	c.err = &BodyError{CommandID: c.head.CommandID, Field: name, Offset: at, Reason: fmt.Sprintf(format, args...)}
}

// refuse is fail for the octet that was just read, or is about to be written.
func (c *codec) refuse(name, format string, args ...any) {
	if !c.encoding {
		c.off--
	}
	c.fail(name, format, args...)
}

// maxNotes bounds what one PDU can make us write down; what follows the first few faults says little.
const maxNotes = 16

func (c *codec) note(format string, args ...any) {
	if len(c.notes) < maxNotes {
		c.notes = append(c.notes, fmt.Sprintf(format, args...))
	}
}

// read takes the next n octets as the field name, and skips the skip octets behind them.
func (c *codec) read(name string, kind fieldKind, n, skip int) []byte {
	b := c.buf[c.off : c.off+n : c.off+n]
	if c.see != nil {
		c.see(field{name: name, kind: kind, start: c.off, end: c.off + n})
	}
	c.off += n + skip
	return b
}

func (c *codec) octet(name string, p *byte) {
	switch {
	case c.err != nil:
	case c.encoding:
		c.buf = append(c.buf, *p)
	case c.off == len(c.buf):
		c.fail(name, "the body ends before it")
	default:
		*p = c.read(name, kindOctet, 1, 0)[0]
	}
}

func (c *codec) status(name string, p *Status) {
	switch {
	case c.err != nil:
	case c.encoding:
		c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(*p))
	case len(c.buf)-c.off < 4:
		c.fail(name, "the body ends before it, or within it")
	default:
		*p = Status(binary.BigEndian.Uint32(c.read(name, kindStatus, 4, 0)))
	}
}

// cstring is a C-octet string. limit is its longest form to write, with the NUL; 0 means no limit.
func cstring[T Octets](c *codec, name string, p *T, limit int) {
	terminated(c, name, kindString, p, limit)
}

func secret(c *codec, name string, p *string) { terminated(c, name, kindSecret, p, 0) }

func terminated[T Octets](c *codec, name string, kind fieldKind, p *T, limit int) {
	if c.err != nil {
		return
	}
	if c.encoding {
		putCString(c, name, *p, limit)
		return
	}
	n := bytes.IndexByte(c.buf[c.off:], 0)
	if n < 0 {
		c.fail(name, "no NUL ends it")
		return
	}
	*p = T(c.read(name, kind, n, 1))
}

func putCString[T Octets](c *codec, name string, value T, limit int) {
	if limit > 0 && len(value) >= limit {
		c.fail(name, "%d octets, at most %d are allowed", len(value), limit-1)
		return
	}
	start := len(c.buf)
	c.buf = append(c.buf, value...)
	if bytes.IndexByte(c.buf[start:], 0) >= 0 {
		c.buf = c.buf[:start]
		c.fail(name, "contains a NUL")
		return
	}
	c.buf = append(c.buf, 0)
}

// lastCString is the C-octet string that ends a response's body. It may be left out altogether, and
// without its NUL it is the whole rest.
func lastCString[T Octets](c *codec, name string, p *T) {
	if c.err != nil || c.absent(name) {
		return
	}
	if c.encoding || bytes.IndexByte(c.buf[c.off:], 0) >= 0 {
		cstring(c, name, p, 0)
		return
	}
	c.note("%s has no NUL: the whole rest is taken", name)
	*p = T(c.read(name, kindString, len(c.buf)-c.off, 0))
}

// absent says whether a response that is read has no body; first is the body's first field.
func (c *codec) absent(first string) bool {
	if c.encoding || c.err != nil || c.off < len(c.buf) {
		return false
	}
	if c.head.CommandStatus == StatusOK {
		c.note("the body is missing: no %s", first)
	}
	return true
}

// addressNames are the specification's names for the three fields of an address.
type addressNames struct{ ton, npi, addr string }

var (
	sourceAddr = addressNames{"source_addr_ton", "source_addr_npi", "source_addr"}
	destAddr   = addressNames{"dest_addr_ton", "dest_addr_npi", "destination_addr"}
	esmeAddr   = addressNames{"esme_addr_ton", "esme_addr_npi", "esme_addr"}
)

func address[T Octets](c *codec, names addressNames, p *SMEAddress[T], limit int) {
	c.octet(names.ton, &p.TON)
	c.octet(names.npi, &p.NPI)
	cstring(c, names.addr, &p.Addr, limit)
}

func (c *codec) shortMessage(p *[]byte, offset *int) {
	if c.err != nil {
		return
	}
	n := byte(min(len(*p), maxShortMessage))
	if c.encoding && len(*p) > maxShortMessage {
		c.fail("sm_length", "%d octets, at most %d are allowed", len(*p), maxShortMessage)
		return
	}
	c.octet("sm_length", &n)
	if c.err != nil {
		return
	}
	if c.encoding {
		c.buf = append(c.buf, *p...)
		return
	}
	*p, *offset = nil, 0
	if left := len(c.buf) - c.off; int(n) > left {
		c.refuse("sm_length", "claims %d octets of %d left", n, left)
		return
	}
	if n > 0 {
		*offset = c.off
		*p = c.read("short_message", kindText, int(n), 0)
	}
}

func (c *codec) rest(name string, p *[]byte) {
	if c.encoding {
		c.buf = append(c.buf, *p...)
		return
	}
	*p = c.read(name, kindText, len(c.buf)-c.off, 0)
}

// tail is the optional parameters, and what was tolerated up to here.
func (c *codec) tail(tlvs *TLVs, notes *[]string) {
	if c.encoding {
		c.putTLVs(*tlvs)
		return
	}
	*tlvs = c.readTLVs((*tlvs)[:0])
	*notes = c.notes
}

const tlvHeaderLen = 4

func (c *codec) readTLVs(into TLVs) TLVs {
	if c.err != nil {
		return into
	}
	var seen tagSet
	for len(c.buf)-c.off >= tlvHeaderLen {
		tag, n := Tag(be16(c.buf[c.off:])), int(be16(c.buf[c.off+2:]))
		if left := len(c.buf) - c.off - tlvHeaderLen; n > left {
			c.note("TLV %s claims %d octets of %d left: dropped", tag, n, left)
			c.off = len(c.buf)
			return into
		}
		c.off += tlvHeaderLen
		if c.see != nil {
			c.see(field{name: "", kind: kindTLV, tag: tag, start: c.off, end: c.off + n})
		}
		if seen.add(into, tag) {
			c.note("TLV %s again: the first is used", tag)
		}
		into = append(into, TLV{Tag: tag, Value: c.buf[c.off : c.off+n : c.off+n], Offset: c.off})
		c.off += n
	}
	if left := len(c.buf) - c.off; left > 0 {
		c.note("stray octets at the end: %d ignored", left)
		c.off = len(c.buf)
	}
	return into
}

func (c *codec) putTLVs(tlvs TLVs) {
	if c.err != nil {
		return
	}
	byTag := func(a, b TLV) int { return int(a.Tag) - int(b.Tag) }
	if !slices.IsSortedFunc(tlvs, byTag) {
		tlvs = slices.Clone(tlvs)
		slices.SortStableFunc(tlvs, byTag)
	}
	for _, t := range tlvs {
		if len(t.Value) > 0xFFFF {
			c.fail(t.Tag.String(), "%d octets, at most 65535 are allowed", len(t.Value))
			return
		}
		c.buf = append(c.buf, byte(t.Tag>>8), byte(t.Tag), byte(len(t.Value)>>8), byte(len(t.Value)))
		c.buf = append(c.buf, t.Value...)
	}
}

// tagSet tells repeated tags. A PDU may hold thousands of TLVs, so that looking back each time would
// take a peer's PDU quadratic time.
type tagSet struct{ many map[Tag]struct{} }

// fewTags is how many TLVs are looked through one by one; real PDUs hold fewer.
const fewTags = 16

// add says whether tag is one of have, the TLVs added before.
func (s *tagSet) add(have TLVs, tag Tag) bool {
	if len(have) < fewTags {
		_, again := have.Find(tag)
		return again
	}
	if s.many == nil {
		s.many = make(map[Tag]struct{})
		for _, t := range have {
			s.many[t.Tag] = struct{}{}
		}
	}
	_, again := s.many[tag]
	s.many[tag] = struct{}{}
	return again
}

func be16(b []byte) uint16 { return uint16(b[0])<<8 | uint16(b[1]) }
