package text

import (
	"fmt"
	"unicode/utf8"
)

// Alphabet names an alphabet as configuration and API do.
type Alphabet string

// Alphabets.
const (
	GSM7   Alphabet = "gsm7"
	ASCII  Alphabet = "ascii"
	Latin1 Alphabet = "latin1"
	UCS2   Alphabet = "ucs2"
)

// ParseAlphabet reads an alphabet's name. "" is an error.
func ParseAlphabet(name string) (Alphabet, error) {
	switch a := Alphabet(name); a {
	case GSM7, ASCII, Latin1, UCS2:
		return a, nil
	}
	return "", fmt.Errorf("text: alphabet must be gsm7, latin1, ascii or ucs2 (got %q)", name)
}

// Sizes of one short message, in septets and in octets (3GPP TS 23.040 §9.2.3.16).
const (
	maxSeptets = 160
	maxOctets  = 140
)

// Room is how many of the alphabet's units one short message holds beside a user data header of so many
// octets: of 160 septets, of which the first after a header begins at a whole septet, or of 140 octets,
// in UCS-2 an even number of them. Without an alphabet ("") they are octets.
func (a Alphabet) Room(header int) int {
	switch a {
	case GSM7:
		return maxSeptets - (header*8+6)/7
	case UCS2:
		return (maxOctets - header) &^ 1
	}
	return maxOctets - header
}

// Unit is what Size and Room count: "septets" or "octets". A septet stands in an octet of its own in a
// short_message.
func (a Alphabet) Unit() string {
	if a == GSM7 {
		return "septets"
	}
	return "octets"
}

// Size is the number of septets (GSM7) or octets that s takes. It is an *UnencodableError when the
// alphabet cannot hold s.
func (a Alphabet) Size(s string) (int, error) {
	size, n := 0, 0
	for i, r := range s {
		n++
		width := a.width(r)
		if width == 0 || r == utf8.RuneError && invalidAt(s[i:]) {
			return 0, &UnencodableError{Alphabet: a, Rune: r, Position: n}
		}
		size += width
	}
	return size, nil
}

// width is the number of units that r takes, 0 when the alphabet does not have it.
func (a Alphabet) width(r rune) int {
	switch a {
	case GSM7:
		return int(gsm7CodeOf(r).n)
	case ASCII:
		return oneIf(r <= 0x7F)
	case Latin1:
		return oneIf(r <= 0xFF && !isC1(r))
	case UCS2:
		if r > 0xFFFF {
			return 4
		}
		return 2
	}
	return 0
}

// smallest is the first of the default alphabet, Latin-1 and UCS-2 that holds s, and the size of s in it.
func smallest(s string, defaultAlphabet Alphabet) (a Alphabet, size int, err error) {
	for _, a = range []Alphabet{defaultAlphabet, Latin1, UCS2} {
		if size, err = a.Size(s); err == nil {
			return a, size, nil
		}
	}
	return "", 0, err
}

// isC1 reports a control character that ISO 8859-1 leaves undefined. Its octet is read as Windows-1252 by
// many, who show another character.
func isC1(r rune) bool { return r >= 0x80 && r < 0xA0 }

// invalidAt reports whether s begins with an octet that is no UTF-8, rather than with U+FFFD itself.
func invalidAt(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == 1
}

func oneIf(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

// UnencodableError says which character an alphabet cannot hold. It does not quote the text.
type UnencodableError struct {
	Alphabet Alphabet
	Rune     rune // U+FFFD where the text is not UTF-8
	Position int  // in characters, from 1
}

func (e *UnencodableError) Error() string {
	return fmt.Sprintf("text: character %d (%U) cannot be written in %s", e.Position, e.Rune, e.Alphabet)
}
