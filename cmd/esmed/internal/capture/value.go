package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"esmed/receipt"
	"esmed/smpp"
)

// value is one field of a PDU as a log says it.
type value struct {
	name string
	kind valueKind
	num  uint64 // of a number
	text []byte // of octets
	word string // of a word: a name that stands for a number, or a string without quotes
}

type valueKind int

const (
	absent valueKind = iota
	number
	octets
	word
)

// octets is the value as the octets of a string.
func (v *value) octets() []byte {
	switch v.kind {
	case octets:
		return v.text
	case word:
		return []byte(v.word)
	case number: // a string without quotes, of digits
		return fmt.Append(nil, v.num)
	}
	return nil
}

// number is the value as a number, by its field where it is a word.
func (v *value) number() (uint64, error) {
	said := v.word
	switch v.kind {
	case absent:
		return 0, nil
	case number:
		return v.num, nil
	case octets:
		said = string(v.text)
	}
	n, ok := wordNumber(v.name, said)
	if !ok {
		return 0, fmt.Errorf("%s is %q, which is no number that is known for it", v.name, said)
	}
	return n, nil
}

// The names of numbers that smpp.pdu prints.
var (
	tonWords = map[string]uint64{
		"UNKNOWN": 0, "INTERNATIONAL": 1, "NATIONAL": 2, "NETWORK_SPECIFIC": 3, "SUBSCRIBER_NUMBER": 4, "ALPHANUMERIC": 5,
		"ABBREVIATED": 6,
	}
	npiWords = map[string]uint64{
		"UNKNOWN": 0, "ISDN": 1, "DATA": 3, "TELEX": 4, "LAND_MOBILE": 6, "NATIONAL": 8, "PRIVATE": 9, "ERMES": 10,
		"INTERNET": 14, "WAP_CLIENT_ID": 18,
	}
	otherWords = map[string]uint64{
		"LEVEL_0": 0, "LEVEL_1": 1, "LEVEL_2": 2, "LEVEL_3": 3, "DO_NOT_REPLACE": 0, "REPLACE": 1,
		"NO_MORE_MESSAGES": 0, "MORE_MESSAGES": 1,
	}
	// Those that a field is put together from.
	partWords = map[string]map[string]uint64{
		"esm_class": {
			"DATAGRAM": 0x01, "FORWARD": 0x02, "STORE_AND_FORWARD": 0x03, "SMSC_DELIVERY_RECEIPT": 0x04,
			"DELIVERY_ACKNOWLEDGEMENT": 0x08, "MANUAL_ACKNOWLEDGMENT": 0x10, "CONVERSATION_ABORT": 0x18,
			"INTERMEDIATE_DELIVERY_NOTIFICATION": 0x20, "UDHI_INDICATOR_SET": 0x40, "SET_REPLY_PATH": 0x80,
		},
		"registered_delivery": {
			"SMSC_DELIVERY_RECEIPT_REQUESTED": 0x01, "SMSC_DELIVERY_RECEIPT_REQUESTED_FOR_FAILURE": 0x02,
			"SME_DELIVERY_ACK_REQUESTED": 0x04, "SME_MANUAL_ACK_REQUESTED": 0x08,
		},
		"data_coding": {
			"IA5_ASCII": 0x01, "OCTET_UNSPECIFIED": 0x02, "LATIN_1": 0x03, "OCTET_UNSPECIFIED_COMMON": 0x04, "JIS": 0x05,
			"CYRILLIC": 0x06, "ISO_8859_8": 0x07, "UCS2": 0x08, "PICTOGRAM": 0x09, "ISO_2022_JP": 0x0A,
			"EXTENDED_KANJI_JIS": 0x0D, "KS_C_5601": 0x0E, "GSM_MESSAGE_CLASS": 0xF0, "DATA_8BIT": 0x04, "CLASS_1": 0x01,
			"CLASS_2": 0x02, "CLASS_3": 0x03,
		},
	}
)

// nameWord is a word of a composed value.
var nameWord = regexp.MustCompile(`\w+`)

// wordNumber is the number that a word stands for in a field.
func wordNumber(field, said string) (uint64, bool) {
	if parts, ok := partWords[field]; ok {
		return composed(field, said, parts), true
	}
	var n uint64
	var ok bool
	switch {
	case field == "command_status":
		status, err := smpp.ParseStatus(said)
		return uint64(status), err == nil
	case field == "message_state":
		state, known := receipt.ParseMessageState(said)
		return uint64(state) - 1, known // one more than on the wire
	case strings.HasSuffix(field, "_ton"):
		n, ok = tonWords[said]
	case strings.HasSuffix(field, "_npi"):
		n, ok = npiWords[said]
	default:
		n, ok = otherWords[said]
	}
	return n, ok
}

// composed reads a field that is put together from named parts.
func composed(field, said string, parts map[string]uint64) uint64 {
	var n uint64
	for _, name := range nameWord.FindAllString(said, -1) {
		n |= parts[name]
	}
	if field == "registered_delivery" && strings.Contains(said, "intermediateNotification: True") {
		n |= 0x10
	}
	return n
}

// errMeaning: what a TLV's value means on the wire is not known.
var errMeaning = errors.New("what its value is in octets is not known")

// wide are the TLVs that hold numbers of more than one octet.
var wide = map[smpp.Tag]int{
	smpp.TagUserMessageReference: 2, smpp.TagSourcePort: 2, smpp.TagDestinationPort: 2, smpp.TagSARMsgRefNum: 2,
	smpp.TagDestTelematicsID: 2, smpp.TagSMSSignal: 2, smpp.TagQoSTimeToLive: 4,
}

// tlv is the value as that of a TLV.
func (v *value) tlv(tag smpp.Tag) ([]byte, error) {
	switch v.kind {
	case number:
	case octets:
		if n, ok := wordNumber(v.name, string(v.text)); ok && tag == smpp.TagMessageState {
			return []byte{byte(n)}, nil
		}
		if tag == smpp.TagReceiptedMessageID || tag == smpp.TagAdditionalStatusInfoText {
			return append(append([]byte(nil), v.text...), 0), nil // C-octet strings
		}
		return v.text, nil
	default:
		n, ok := wordNumber(v.name, v.word)
		if !ok {
			return nil, errMeaning
		}
		return []byte{byte(n)}, nil
	}
	width := max(wide[tag], 1)
	if width < 8 && v.num>>(8*width) != 0 {
		return nil, fmt.Errorf("%d does not fit its %d octets", v.num, width)
	}
	all := binary.BigEndian.AppendUint64(nil, v.num)
	return all[len(all)-width:], nil
}
