package control

import (
	"fmt"
	"slices"

	"esmed/receipt"
)

var tlvNames = []string{"tag", "hex"}

// readTLVs reads the optional parameters that are sent as they are (SMPP v3.4 §5.3).
func (s *submission) readTLVs() {
	raw := s.values[fieldTLVs].raw
	if raw == nil {
		return
	}
	if raw[0] != '[' {
		s.wrong(fieldTLVs, "must be an array")
		return
	}
	for n, element := range elements(raw) {
		if s.smsc.InterfaceVersion < smppV34 {
			s.wrong(fieldTLVs, "cannot be sent: %s has an interface_version below 0x34", s.smsc.Name)
			return
		}
		s.readTLV(n, element)
	}
}

// smppV34 is the first interface_version with optional parameters.
const smppV34 = 0x34

// maxTLV is the longest value that is taken; the length field could name 65535 octets.
const maxTLV = 8 << 10

// tagMessagePayload carries a message in place of short_message (SMPP v3.4 §5.3.2.32).
const tagMessagePayload = 0x0424

func (s *submission) readTLV(n int, raw []byte) {
	path := fmt.Sprintf("%s[%d]", fieldNames[fieldTLVs], n)
	if raw[0] != '{' {
		s.note(path, "must be an object with tag and hex")
		return
	}
	f := readFields(raw, path+".", tlvNames, s.problems)
	tag := uint16(f.number(0, 0xFFFF))
	octets := f.octets(1)
	switch {
	case tag == 0:
		f.wrong(0, "must be given, from 1 to 65535")
	case tag == tagMessagePayload:
		f.wrong(0, "is message_payload: give text or data_hex in its place")
	case len(s.m.Parts) > 1 && (tag == tagSARReference || tag == tagSARTotal || tag == tagSARSegment):
		f.wrong(0, "says which part of a text this is, and esmed splits this one itself: leave it out")
	case slices.Contains(s.smsc.OwnTLVs, tag):
		f.wrong(0, "is one that esmed sets itself for %s", s.smsc.Name)
	case len(octets) > maxTLV:
		f.wrong(1, "is longer than %d octets", maxTLV)
	}
	s.m.TLVs = append(s.m.TLVs, receipt.TLV{Tag: tag, Value: octets})
}
