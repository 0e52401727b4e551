package control

import (
	"errors"
	"fmt"

	"esmed/smpp/text"
	"esmed/statemachine"
)

// maxPayload is what message_payload holds, in octets: the length of a TLV is two octets (SMPP v3.4
// §3.2.4.1).
const maxPayload = 0xFFFF

// maxUserHeader is the longest user data header with its length octet: all of a short message's 140 octets
// (3GPP TS 23.040 §9.2.3.24).
const maxUserHeader = 140

// esmUDHI says that a short message begins with a user data header (SMPP v3.4 §5.2.12).
const esmUDHI = 0x40

// readBody reads what the message carries: a text in an alphabet, or octets as they are, after a user
// data header if there is one.
func (s *submission) readBody() {
	header := s.header()
	switch hasText, hasData := s.has(fieldText), s.has(fieldDataHex); {
	case hasText && hasData:
		s.wrong(fieldDataHex, "excludes text")
	case hasData:
		s.readData(header)
	case hasText:
		s.readText(header)
	default:
		s.wrong(fieldText, "must be given, or data_hex")
	}
}

// header reads udh_hex, whose first octet counts the others.
func (s *submission) header() []byte {
	header := s.octets(fieldUDHHex)
	if len(header) == 0 {
		return nil
	}
	if int(header[0]) != len(header)-1 || len(header) > maxUserHeader {
		s.wrong(fieldUDHHex, "must begin with its length octet and have that many octets more, %d at most", maxUserHeader-1)
		return nil
	}
	return header
}

// readData reads octets, which are never split: where they may be cut only their sender knows.
func (s *submission) readData(header []byte) {
	if s.has(fieldAlphabet) {
		s.wrong(fieldAlphabet, "goes with text; data_coding says what data_hex is")
	}
	octets, dataCoding := s.octets(fieldDataHex), byte(s.number(fieldDataCoding, 0xFF))
	room := text.AlphabetOf(dataCoding, s.defaultAlphabet()).Room(len(header))
	switch {
	case len(octets) <= room:
		s.onePart(header, octets, dataCoding)
	case header != nil:
		s.wrong(fieldDataHex, "is too long beside udh_hex: %d octets, of %d at most in one short message; send its parts yourself, each with its header", len(octets), room)
	case s.smsc.LongMessages == longPayload:
		s.payload(fieldDataHex, octets, dataCoding)
	default:
		s.wrong(fieldDataHex, "is longer than one short message: %d octets, of %d at most; send its parts yourself, each with its udh_hex, or to an SMSC with long_messages: payload", len(octets), room)
	}
}

// readText reads a text. What does not fit one short message is sent as the SMSC's long_messages says.
func (s *submission) readText(header []byte) {
	alphabet, ok := s.alphabet()
	if !ok {
		return
	}
	given := s.text(fieldText)
	octets, dataCoding, used, err := text.Encode(given, alphabet, s.defaultAlphabet())
	if err != nil {
		s.wrong(encodingField(err), "%s", encodingProblem(err))
		return
	}
	if s.has(fieldDataCoding) {
		dataCoding = byte(s.number(fieldDataCoding, 0xFF))
	}
	room := used.Room(len(header))
	switch {
	case len(octets) <= room:
		s.onePart(header, octets, dataCoding)
	case header != nil:
		s.wrong(fieldText, "is too long beside udh_hex: %d %s in %s, of %d at most in one short message; leave udh_hex out and it is split", len(octets), used.Unit(), used, room)
	case s.smsc.LongMessages == longPayload:
		s.payload(fieldText, octets, dataCoding)
	default:
		s.split(given, used, dataCoding)
	}
}

func (s *submission) defaultAlphabet() text.Alphabet { return text.Alphabet(s.smsc.DefaultAlphabet) }

// alphabet is the one that is asked for, by its name or by a data_coding; "" is the smallest that fits. A
// name beside a data_coding says what that means where nothing else does.
func (s *submission) alphabet() (a text.Alphabet, ok bool) {
	var announced text.Alphabet
	if s.has(fieldDataCoding) {
		announced = text.AlphabetOf(byte(s.number(fieldDataCoding, 0xFF)), s.defaultAlphabet())
	}
	if s.has(fieldAlphabet) {
		a = text.Alphabet(s.oneOf(fieldAlphabet, alphabetWords))
		if a != "" && announced != "" && a != announced {
			s.wrong(fieldDataCoding, "announces %s there, and alphabet is another: leave one of them out", announced)
			return "", false
		}
		return a, a != ""
	}
	if s.has(fieldDataCoding) && announced == "" {
		s.wrong(fieldDataCoding, "announces no alphabet that a text can be written in: give alphabet too, or data_hex")
		return "", false
	}
	return announced, true
}

var alphabetWords = []string{string(text.GSM7), string(text.ASCII), string(text.Latin1), string(text.UCS2)}

// onePart is a message that fits one submit_sm.
func (s *submission) onePart(header, octets []byte, dataCoding byte) {
	part := statemachine.PartContent{DataCoding: dataCoding, ShortMessage: octets}
	if header != nil {
		part.ESMClass, part.ShortMessage = esmUDHI, append(header, octets...)
	}
	s.m.part[0] = part
	s.m.Parts = s.m.part[:]
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
	var unencodable *text.UnencodableError
	switch {
	case errors.As(err, &unencodable):
		return fmt.Sprintf("cannot be written in %s: character %d is %U; leave alphabet and data_coding out and one is chosen that holds it",
			unencodable.Alphabet, unencodable.Position, unencodable.Rune)
	case errors.Is(err, text.ErrNoDataCoding):
		return "has no data_coding there: the SMSC's default_alphabet is another one"
	}
	return err.Error()
}
