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

// Sizes of one short message, and of one part of several, whose header takes six octets
// (3GPP TS 23.040 §9.2.3.24.1).
const (
	maxSeptets, maxPartSeptets = 160, 153
	maxOctets, maxPartOctets   = 140, 134
)

// Limit is how much of the alphabet's units one short message holds: 160 septets, or 140 octets.
func (a Alphabet) Limit() int {
	if a == GSM7 {
		return maxSeptets
	}
	return maxOctets
}

// Unit is what Size and Limit count: "septets" or "octets".
func (a Alphabet) Unit() string {
	if a == GSM7 {
		return "septets"
	}
	return "octets"
}

func (a Alphabet) partLimit() int {
	if a == GSM7 {
		return maxPartSeptets
	}
	return maxPartOctets
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
		return len(gsm7Octets[r])
	case ASCII:
		return oneIf(r <= 0x7F)
	case Latin1:
		return oneIf(r <= 0xFF)
	case UCS2:
		if r > 0xFFFF {
			return 4
		}
		return 2
	}
	return 0
}

// Parts is the number of short messages that s needs: 1, or the parts of a concatenated one, which
// never begin in the middle of a character.
func (a Alphabet) Parts(s string) (int, error) {
	size, err := a.Size(s)
	if err != nil {
		return 0, err
	}
	if size <= a.Limit() {
		return 1, nil
	}
	parts, room := 1, a.partLimit()
	for _, r := range s {
		width := a.width(r)
		if width > room {
			parts, room = parts+1, a.partLimit()
		}
		room -= width
	}
	return parts, nil
}

// smallest is the first of the default alphabet, Latin-1 and UCS-2 that holds s.
func smallest(s string, defaultAlphabet Alphabet) (Alphabet, error) {
	var err error
	for _, a := range []Alphabet{defaultAlphabet, Latin1, UCS2} {
		if _, err = a.Size(s); err == nil {
			return a, nil
		}
	}
	return "", err
}

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

// TooLongError says that a text does not fit one short message.
type TooLongError struct {
	Alphabet    Alphabet
	Size, Limit int // septets for GSM7, else octets
	Parts       int // short messages that it would need
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("text: %d %s in %s are more than the %d of one short message: it would need %d parts",
		e.Size, e.Alphabet.Unit(), e.Alphabet, e.Limit, e.Parts)
}
