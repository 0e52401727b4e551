package smpptest

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutext"
)

// Alphabet is what a data_coding says that octets mean.
type Alphabet string

// Alphabets. Binary octets are no text.
const (
	GSM7   Alphabet = "gsm7" // a septet an octet
	ASCII  Alphabet = "ascii"
	Latin1 Alphabet = "latin1"
	UCS2   Alphabet = "ucs2"
	Binary Alphabet = "binary"
)

// alphabetOf reads a data_coding: SMPP's own values (v3.4 §5.2.19), then those of GSM with a message
// class (3GPP TS 23.038 §4). zero is what 0 means to the SMSC.
func alphabetOf(dataCoding byte, zero Alphabet) Alphabet {
	switch {
	case dataCoding == 0:
		return zero
	case dataCoding == 1:
		return ASCII
	case dataCoding == 3:
		return Latin1
	case dataCoding == 8:
		return UCS2
	case dataCoding&0xF4 == 0xF0, dataCoding&0xDC == 0x10:
		return GSM7
	case dataCoding&0xDC == 0x18:
		return UCS2
	}
	return Binary
}

// decodeText reads octets as a handset that has nothing but them. fault is "" or what it cannot read.
func decodeText(octets []byte, a Alphabet) (text, fault string) {
	switch a {
	case GSM7:
		return string(pdutext.GSM7(octets).Decode()), gsm7Fault(octets)
	case UCS2:
		return decodeUCS2(octets)
	case Binary:
		return "", ""
	}
	runes := make([]rune, len(octets))
	for i, o := range octets {
		runes[i] = rune(o)
		if a == ASCII && o > 0x7F {
			fault = "an octet over 0x7F in ASCII"
		}
	}
	return string(runes), fault
}

// gsm7Extended are the septets after an escape that mean something (3GPP TS 23.038 §6.2.1.1).
const gsm7Extended = "\x0A\x14\x28\x29\x2F\x3C\x3D\x3E\x40\x65"

func gsm7Fault(octets []byte) string {
	escaped := false
	for _, o := range octets {
		switch {
		case o > 0x7F:
			return "an octet over 0x7F in GSM 7-bit"
		case escaped && strings.IndexByte(gsm7Extended, o) < 0:
			return "an escape before what the extension table does not have"
		}
		escaped = !escaped && o == 0x1B
	}
	if escaped {
		return "an escape with nothing after it"
	}
	return ""
}

func decodeUCS2(octets []byte) (text, fault string) {
	units := make([]uint16, len(octets)/2)
	for i := range units {
		units[i] = uint16(octets[2*i])<<8 | uint16(octets[2*i+1])
	}
	runes := utf16.Decode(units) // with U+FFFD in place of half a pair
	if len(octets)%2 == 1 || !slices.Equal(utf16.Encode(runes), units) {
		return string(runes), "half a character in UCS-2"
	}
	return string(runes), ""
}
