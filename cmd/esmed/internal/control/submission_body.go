package control

import (
	"errors"
	"fmt"

	"esmed/smpp/text"
	"esmed/statemachine"
)

// Limits of what one submit_sm carries: sm_length (SMPP v3.4 §5.2.21), and what of a text fits beside a
// user data header into 140 octets (3GPP TS 23.040 §9.2.3.24).
const (
	maxShortMessage = 254
	maxUserData     = 140
	septetBits      = 7
)

// esmUDHI says that a short message begins with a user data header (SMPP v3.4 §5.2.12).
const esmUDHI = 0x40

// readBody reads what the message carries: a text in an alphabet, or octets as they are, after a user
// data header if there is one.
func (s *submission) readBody() {
	header := s.header()
	part := statemachine.PartContent{}
	if header != nil {
		part.ESMClass = esmUDHI
	}
	switch hasText, hasData := s.has(fieldText), s.has(fieldDataHex); {
	case hasText && hasData:
		s.wrong(fieldDataHex, "excludes text")
	case hasData:
		part.ShortMessage, part.DataCoding = s.data(header)
	case hasText:
		part.ShortMessage, part.DataCoding = s.encode(header)
	default:
		s.wrong(fieldText, "must be given, or data_hex")
	}
	s.m.Parts = []statemachine.PartContent{part}
}

// header reads udh_hex, whose first octet counts the others.
func (s *submission) header() []byte {
	header := s.octets(fieldUDHHex)
	if len(header) == 0 {
		return nil
	}
	if int(header[0]) != len(header)-1 || len(header) > maxUserData {
		s.wrong(fieldUDHHex, "must begin with its length octet and have that many octets more")
		return nil
	}
	return header
}

func (s *submission) data(header []byte) (octets []byte, dataCoding byte) {
	if s.has(fieldAlphabet) {
		s.wrong(fieldAlphabet, "goes with text; data_coding says what data_hex is")
	}
	octets = append(header, s.octets(fieldDataHex)...)
	if len(octets) > maxShortMessage {
		s.wrong(fieldDataHex, "is longer than one short message: %d octets with its header, of %d at most", len(octets), maxShortMessage)
	}
	return octets, byte(s.number(fieldDataCoding, 0xFF))
}

func (s *submission) encode(header []byte) (octets []byte, dataCoding byte) {
	def := text.Alphabet(s.smsc.DefaultAlphabet)
	alphabet, ok := s.alphabet(def)
	if !ok {
		return nil, 0
	}
	octets, dataCoding, used, err := text.Encode(s.text(fieldText), alphabet, def)
	if err != nil {
		s.wrong(encodingField(err), "%s", encodingProblem(err))
		return nil, 0
	}
	if room := roomBeside(header, used); len(octets) > room {
		s.wrong(fieldText, "is too long beside udh_hex: %d %s, of %d at most", len(octets), used.Unit(), room)
	}
	if s.has(fieldDataCoding) {
		dataCoding = byte(s.number(fieldDataCoding, 0xFF))
	}
	return append(header, octets...), dataCoding
}

// alphabet is the one that is asked for, by its name or by a data_coding; "" is the smallest that fits.
func (s *submission) alphabet(def text.Alphabet) (a text.Alphabet, ok bool) {
	if name := s.oneOf(fieldAlphabet, string(text.GSM7), string(text.ASCII), string(text.Latin1), string(text.UCS2)); name != "" || s.has(fieldAlphabet) {
		return text.Alphabet(name), name != ""
	}
	if !s.has(fieldDataCoding) {
		return "", true
	}
	a = text.AlphabetOf(byte(s.number(fieldDataCoding, 0xFF)), def)
	if a == "" {
		s.wrong(fieldDataCoding, "announces no alphabet that a text can be written in: give alphabet too, or data_hex")
	}
	return a, a != ""
}

// roomBeside is how many units of an alphabet fit beside a header. Septets begin at a whole septet.
func roomBeside(header []byte, a text.Alphabet) int {
	if a == text.GSM7 {
		return a.Limit() - (len(header)*8+septetBits-1)/septetBits
	}
	return a.Limit() - len(header)
}

// encodingField is the field that an error of text.Encode is about.
func encodingField(err error) int {
	if errors.Is(err, text.ErrNoDataCoding) {
		return fieldAlphabet
	}
	return fieldText
}

// encodingProblem says what is wrong without quoting the text, as a predicate of the field.
func encodingProblem(err error) string {
	var long *text.TooLongError
	var unencodable *text.UnencodableError
	switch {
	case errors.As(err, &long):
		return fmt.Sprintf("does not fit one short message: %d %s in %s, of %d at most", long.Size, long.Alphabet.Unit(), long.Alphabet, long.Limit)
	case errors.As(err, &unencodable):
		return fmt.Sprintf("cannot be written in %s: character %d is %U", unencodable.Alphabet, unencodable.Position, unencodable.Rune)
	case errors.Is(err, text.ErrNoDataCoding):
		return "has no data_coding there"
	}
	return err.Error()
}
