package text

import (
	"errors"
	"fmt"
	"unicode/utf16"
)

// Values of data_coding (SMPP v3.4 §5.2.19).
const (
	codingDefault = 0x00
	codingASCII   = 0x01
	codingLatin1  = 0x03
	codingUCS2    = 0x08
)

// ErrNoDataCoding says that no data_coding announces an alphabet to this SMSC: GSM 7-bit has none but
// 0, the SMSC's default.
var ErrNoDataCoding = errors.New("text: no data_coding announces the alphabet")

// Encode writes s, of any length, in an alphabet for an SMSC whose data_coding 0 means defaultAlphabet.
// alphabet "" is the smallest that holds s; used says which it was. Errors are *UnencodableError and
// ErrNoDataCoding.
func Encode(s string, alphabet, defaultAlphabet Alphabet) (octets []byte, dataCoding byte, used Alphabet, err error) {
	var size int
	if used = alphabet; used == "" {
		used, size, err = smallest(s, defaultAlphabet)
	} else {
		size, err = used.Size(s)
	}
	if err != nil {
		return nil, 0, used, err
	}
	dataCoding, err = coding(used, defaultAlphabet)
	if err != nil {
		return nil, 0, used, err
	}
	return used.Append(make([]byte, 0, size), s), dataCoding, used, nil
}

// Append appends s, which Size or Encode has found to be encodable, to octets.
func (a Alphabet) Append(octets []byte, s string) []byte {
	for _, r := range s {
		switch {
		case a == GSM7:
			code := gsm7CodeOf(r)
			octets = append(octets, code.septets[:code.n]...)
		case a != UCS2:
			octets = append(octets, byte(r))
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				octets = append(octets, byte(unit>>8), byte(unit))
			}
		}
	}
	return octets
}

func coding(a, defaultAlphabet Alphabet) (byte, error) {
	if a == defaultAlphabet {
		return codingDefault, nil
	}
	switch a {
	case ASCII:
		return codingASCII, nil
	case Latin1:
		return codingLatin1, nil
	case UCS2:
		return codingUCS2, nil
	}
	return 0, fmt.Errorf("%w: %s, where data_coding 0 means %s", ErrNoDataCoding, a, defaultAlphabet)
}

// AlphabetOf says which alphabet a data_coding announces; "" for binary data and for codings that are
// not read here. Those of 3GPP TS 23.038 §4 count where SMPP leaves them to it (v3.4 §5.2.19), and where
// SMSCs add the class of a message, as 0 for a flash, to the coding of its alphabet.
func AlphabetOf(dataCoding byte, defaultAlphabet Alphabet) Alphabet {
	switch group := dataCoding >> 4; {
	case dataCoding == codingDefault, dataCoding&^0x03 == 0x10: // classes 0 to 3
		return defaultAlphabet
	case dataCoding == codingASCII:
		return ASCII
	case dataCoding == codingLatin1:
		return Latin1
	case dataCoding == codingUCS2, dataCoding&^0x03 == 0x18, group == 0xE: // classes 0 to 3; message waiting
		return UCS2
	case group == 0xC, group == 0xD, dataCoding&^0x03 == 0xF0: // message waiting; classes 0 to 3
		return GSM7
	}
	return ""
}

// Decode reads the octets of a short message without its header. It always gives a text: exact is
// false when something could not be read as announced (shown as U+FFFD, or as the nearest that 3GPP TS
// 23.038 prescribes) or when the data_coding announces no alphabet (octets are then shown one to one, as
// Latin-1).
func Decode(octets []byte, dataCoding byte, defaultAlphabet Alphabet) (s string, exact bool) {
	var runes []rune
	switch a := AlphabetOf(dataCoding, defaultAlphabet); a {
	case GSM7:
		runes, exact = decodeGSM7(octets)
	case UCS2:
		runes, exact = decodeUCS2(octets)
	default:
		runes, exact = decodeOctets(octets, a)
	}
	return string(runes), exact
}

func decodeOctets(octets []byte, a Alphabet) (runes []rune, exact bool) {
	runes, exact = make([]rune, len(octets)), a != ""
	for i, o := range octets {
		runes[i] = rune(o)
		switch {
		case a == ASCII && o > 0x7F:
			runes[i], exact = '\uFFFD', false
		case a == Latin1 && isC1(rune(o)):
			exact = false
		}
	}
	return runes, exact
}

func decodeUCS2(octets []byte) (runes []rune, exact bool) {
	units := make([]uint16, len(octets)/2)
	for i := range units {
		units[i] = uint16(octets[2*i])<<8 | uint16(octets[2*i+1])
	}
	runes, exact = utf16.Decode(units), len(octets)%2 == 0
	if len(octets)%2 == 1 {
		runes = append(runes, '\uFFFD')
	}
	return runes, exact && !loneSurrogate(units)
}

// loneSurrogate reports half a character, which utf16.Decode shows as U+FFFD.
func loneSurrogate(units []uint16) bool {
	for i := 0; i < len(units); i++ {
		switch u := units[i]; {
		case u >= 0xD800 && u < 0xDC00 && i+1 < len(units) && units[i+1] >= 0xDC00 && units[i+1] < 0xE000:
			i++
		case u >= 0xD800 && u < 0xE000:
			return true
		}
	}
	return false
}
