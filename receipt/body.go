package receipt

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// dataCodingUCS2 is the one data_coding that the reading depends on (SMPP v3.4 §5.2.19).
const dataCodingUCS2 = 8

// body is the text that a Delivery carries, and how it is read.
type body struct {
	in     Span   // where all of it is, header and all
	octets []byte // without a user data header and a byte order mark
	base   int    // where octets begin in what in names
	guard  int    // octets up to here decide whether there is a header, though there is none

	wide   bool   // UTF-16, two octets a character
	little bool   // of wide: least significant octet first
	view   []byte // one octet a character: itself up to 0xFF, else otherLetter or otherSign

	ascii  bool   // octets are known to be ASCII alone
	shared string // octets as a string, made when first asked for

	fields
}

// What stands in a view for characters over 0xFF. Only whether it is a letter matters.
const (
	otherLetter = 0xFF // a letter in Latin-1 too
	otherSign   = 0xF7 // none in Latin-1 either
)

// read chooses the body, takes its header off, decides its encoding and finds the fields. Notes on
// what was tolerated go to r.
func (b *body) read(d *Delivery, r *Receipt) {
	b.in, b.octets = chooseBody(d, r)
	if d.ESMClass&esmClassUDHI != 0 {
		b.takeHeaderOff(d.DataCoding, r)
	}
	if d.DataCoding == dataCodingUCS2 {
		b.readDeclaredWide(r)
	} else {
		b.view = b.octets
		b.scan(b.view)
		b.readUndeclaredWide(r)
	}
	b.ascii = !b.wide && isASCII(b.octets)
}

// chooseBody takes short_message, or else message_payload (testdata/receipts/payload.jsonl).
func chooseBody(d *Delivery, r *Receipt) (Span, []byte) {
	short := d.ShortMessage
	if d.CommandID == dataSM {
		short = nil
	}
	if len(short) > 1 || len(short) == 1 && short[0] != 0 {
		return Span{TLV: InShortMessage, End: len(short)}, short
	}
	for i := range d.TLVs {
		if d.TLVs[i].Tag != TagMessagePayload {
			continue
		}
		if len(short) == 1 {
			r.note("short_message of one NUL passed over for message_payload")
		}
		payload := d.TLVs[i].Value
		return Span{TLV: i, End: len(payload)}, payload
	}
	return Span{TLV: InShortMessage, End: len(short)}, short
}

// takeHeaderOff takes a user data header (3GPP TS 23.040 §9.2.3.24) off if it is one. A label at the
// very start is none: "id:" would be a header of 105 octets.
func (b *body) takeHeaderOff(dataCoding byte, r *Receipt) {
	if len(b.octets) == 0 {
		return
	}
	n := 1 + int(b.octets[0])
	switch {
	case labelAt(b.octets, 0) != noLabel || b.beginsWithWideLabel():
		r.note("no user data header in spite of esm_class: the text begins with a label")
	case n <= len(b.octets) && elementsAddUp(b.octets[1:n]) && !b.halvesCharacter(n, dataCoding):
		b.octets, b.base = b.octets[n:], n
	default:
		r.note("no user data header in spite of esm_class: its length does not fit")
		if n <= len(b.octets) {
			b.guard = n
		}
	}
}

// halvesCharacter reports whether an empty header would leave half a character of UCS-2 behind.
func (b *body) halvesCharacter(header int, dataCoding byte) bool {
	return header == 1 && dataCoding == dataCodingUCS2 && len(b.octets)%2 == 0
}

func elementsAddUp(header []byte) bool {
	for len(header) >= 2 {
		n := 2 + int(header[1])
		if n > len(header) {
			return false
		}
		header = header[n:]
	}
	return len(header) == 0
}

func (b *body) beginsWithWideLabel() bool {
	var start [32]byte
	if b.octets[0] != 0 {
		return false
	}
	n := min(len(b.octets)/2, len(start))
	return labelAt(appendView(start[:0], b.octets[:2*n], false), 0) != noLabel
}

// readUndeclaredWide goes over from octets to UTF-16 where that has a label before the first one found.
// What data_coding declares counts, unless the first label is found earlier by the other reading: some
// SMSCs declare UCS-2 and send ASCII, or the reverse (testdata/receipts/encoding.jsonl). That it is the
// first label, never a later one, that decides keeps the quoted text from having a say.
func (b *body) readUndeclaredWide(r *Receipt) {
	before := b.octets
	if b.first >= 0 {
		before = before[:b.first]
	}
	if !hasWideColon(before) {
		return
	}
	wide := *b
	wide.widen()
	first := firstLabel(wide.view)
	if first < 0 || b.first >= 0 && wide.offset(first) >= b.offset(b.first) {
		return
	}
	r.note("text read as UTF-16, which data_coding does not say")
	wide.noteWide(b.base, r)
	*b = wide
	b.scan(b.view)
}

// readDeclaredWide reads UTF-16, unless octets have a label before the first one found.
func (b *body) readDeclaredWide(r *Receipt) {
	octets := *b
	if labelAt(b.octets, 0) != noLabel {
		b.readOctets(octets, r)
		return
	}
	b.widen()
	b.scan(b.view)
	before := octets.octets
	if b.first >= 0 {
		before = before[:b.offset(b.first)-octets.base]
	}
	if firstLabel(before) < 0 {
		b.noteWide(octets.base, r)
		return
	}
	b.readOctets(octets, r)
}

func (b *body) readOctets(octets body, r *Receipt) {
	r.note("text read as octets, though data_coding says UCS-2")
	*b = octets
	b.view = b.octets
	b.scan(b.view)
}

// widen makes b's reading UTF-16: big-endian, unless a byte order mark says otherwise.
func (b *body) widen() {
	b.wide = true
	if len(b.octets) >= 2 {
		switch mark := [2]byte(b.octets); mark {
		case [2]byte{0xFE, 0xFF}, [2]byte{0xFF, 0xFE}:
			b.little = mark[0] == 0xFF
			b.octets, b.base = b.octets[2:], b.base+2
		}
	}
	b.octets = b.octets[:len(b.octets)&^1]
	b.view = appendView(make([]byte, 0, len(b.octets)/2), b.octets, b.little)
}

// noteWide notes what widen passed over in a body that began at base.
func (b *body) noteWide(base int, r *Receipt) {
	if b.base > base {
		r.note("byte order mark passed over")
	}
	if b.base+len(b.octets) < b.in.End {
		r.note("odd last octet of UCS-2 dropped")
	}
}

// hasWideColon is a cheap test that lets the usual receipt do without a second view.
func hasWideColon(octets []byte) bool {
	return bytes.Contains(octets, []byte{0, ':'}) || bytes.Contains(octets, []byte{':', 0})
}

// appendView appends an octet for each whole character of UTF-16.
func appendView(view, octets []byte, little bool) []byte {
	for ; len(octets) >= 2; octets = octets[2:] {
		u := uint16(octets[0])<<8 | uint16(octets[1])
		if little {
			u = u<<8 | u>>8
		}
		switch {
		case u <= 0xFF:
			view = append(view, byte(u))
		case unicode.IsLetter(rune(u)) || unicode.IsDigit(rune(u)):
			view = append(view, otherLetter)
		default:
			view = append(view, otherSign)
		}
	}
	return view
}

// offset is where character i begins in what b.in names.
func (b *body) offset(i int) int {
	if b.wide {
		i *= 2
	}
	return b.base + i
}

// shareLimit is the size up to which the fields share one string of the whole body. Over it a short
// id must not keep a long text alive.
const shareLimit = 512

// str gives characters as a string: octets mapped one to one, or UTF-16.
func (b *body) str(s span) string {
	if s.Start == s.End {
		return ""
	}
	view := b.view[s.Start:s.End]
	switch {
	case !b.ascii && b.wide && !isASCII(view):
		return b.wideString(s)
	case !b.ascii:
		return latin1(view)
	case len(b.octets) > shareLimit:
		return string(view)
	}
	if b.shared == "" {
		b.shared = string(b.octets)
	}
	return b.shared[s.Start:s.End]
}

func (b *body) wideString(s span) string {
	units := make([]uint16, 0, s.End-s.Start)
	for o := b.octets[2*s.Start : 2*s.End]; len(o) >= 2; o = o[2:] {
		u := uint16(o[0])<<8 | uint16(o[1])
		if b.little {
			u = u<<8 | u>>8
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}

// trim takes blanks and NULs off both ends of s.
func trim(v []byte, s span) span {
	for s.Start < s.End && isBlank(v[s.Start]) {
		s.Start++
	}
	for s.Start < s.End && isBlank(v[s.End-1]) {
		s.End--
	}
	return s
}

// latin1 maps octets to characters one to one.
func latin1(octets []byte) string {
	if isASCII(octets) {
		return string(octets)
	}
	out := make([]byte, 0, 2*len(octets))
	for _, c := range octets {
		out = utf8.AppendRune(out, rune(c))
	}
	return string(out)
}

func isASCII(octets []byte) bool {
	for ; len(octets) >= 8; octets = octets[8:] {
		if binary.LittleEndian.Uint64(octets)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range octets {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
