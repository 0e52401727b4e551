package smpp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// Field is one field of a PDU in words.
type Field struct {
	Name  string // the specification's
	Value string // readable on one line; "" for a Secret

	// Text marks octets of a message text: short_message, message_payload, and what could not be
	// taken apart and may hold one. Value is their hex; Octets is for who knows the alphabet.
	Text bool
	// Secret marks a password; neither Value nor Octets tell it.
	Secret bool

	Octets []byte // as received, a part of the PDU; nil for a Secret
	Offset int    // of Octets within the PDU
}

// Fields explains a PDU field by field, in the order of the wire: header, body, TLVs, then a row named
// note for each fault that was tolerated and, where the body or the frame is broken, a row named error and
// one named undecoded with the octets from the fault on. A user data header, where esm_class says that the
// text begins with one, is a row of its own. It does not panic, whatever the octets.
func Fields(pdu []byte) []Field {
	if len(pdu) < HeaderLen {
		return appendUndecoded([]Field{broken(checkFrame(pdu))}, pdu, 0)
	}
	rows := headerFields(pdu)
	if err := checkFrame(pdu); err != nil {
		return appendUndecoded(append(rows, broken(err)), pdu, HeaderLen)
	}
	udhi := false
	c := codec{see: func(f field) {
		switch {
		case f.name == "esm_class":
			udhi = pdu[f.start]&esmClassUDHI != 0
		case udhi && (f.kind == kindText || f.kind == kindTLV && f.tag == TagMessagePayload):
			if words, n := explainHeader(pdu[f.start:f.end]); n > 0 {
				rows = append(rows, Field{Name: "user_data_header", Value: words, Octets: pdu[f.start : f.start+n], Offset: f.start})
				f.start += n
			}
		}
		rows = append(rows, explain(pdu, f))
	}}
	err := decode(&c, pdu, blank(ParseHeader(pdu).CommandID))
	for _, note := range c.notes {
		rows = append(rows, Field{Name: "note", Value: note})
	}
	if err != nil {
		rows = append(rows, broken(err))
		if body, ok := errors.AsType[*BodyError](err); ok {
			rows = appendUndecoded(rows, pdu, body.Offset)
		}
	}
	return rows
}

func headerFields(pdu []byte) []Field {
	h := ParseHeader(pdu)
	row := func(name, value string, offset int) Field {
		return Field{Name: name, Value: value, Octets: pdu[offset : offset+4], Offset: offset}
	}
	return []Field{
		row("command_length", strconv.FormatUint(uint64(h.CommandLength), 10), 0),
		row("command_id", named(h.CommandID.String(), uint32(h.CommandID), 8), 4),
		row("command_status", named(h.CommandStatus.String(), uint32(h.CommandStatus), 8), 8),
		row("sequence_number", strconv.FormatUint(uint64(h.SequenceNumber), 10), 12),
	}
}

func broken(err error) Field { return Field{Name: "error", Value: err.Error()} }

// appendUndecoded shows what could not be taken apart. In a bind or an outbind that may be the password.
func appendUndecoded(rows []Field, pdu []byte, offset int) []Field {
	rest := pdu[offset:]
	if len(rest) == 0 {
		return rows
	}
	if len(pdu) >= HeaderLen {
		switch blank(ParseHeader(pdu).CommandID).(type) {
		case *Bind, *Outbind:
			return append(rows, Field{Name: "undecoded", Secret: true, Offset: offset})
		}
	}
	return append(rows, Field{Name: "undecoded", Value: hex.EncodeToString(rest), Text: true, Octets: rest, Offset: offset})
}

func explain(pdu []byte, f field) Field {
	octets := pdu[f.start:f.end]
	row := Field{Name: f.name, Octets: octets, Offset: f.start}
	switch f.kind {
	case kindSecret:
		row.Octets, row.Secret = nil, true
	case kindString:
		row.Value = printable(octets)
	case kindText:
		row.Value, row.Text = hex.EncodeToString(octets), true
	case kindOctet:
		row.Value = explainOctet(f.name, octets[0])
	case kindStatus:
		status := binary.BigEndian.Uint32(octets)
		row.Value = named(Status(status).String(), status, 8)
	case kindTLV:
		row.Name, row.Value, row.Text = f.tag.String(), explainTLV(f.tag, octets), f.tag == TagMessagePayload
	}
	return row
}

// named is name with its number, unless the name is the number already.
func named(name string, n uint32, digits int) string {
	number := fmt.Sprintf("0x%0*X", digits, n)
	if name == "" || name == number {
		return number
	}
	return name + " (" + number + ")"
}

// printable is text as it stands when it is printable ASCII, and quoted with escapes when not.
func printable(octets []byte) string {
	for _, b := range octets {
		if b < 0x20 || b > 0x7E {
			return strconv.QuoteToASCII(string(octets))
		}
	}
	return string(octets)
}

func explainOctet(name string, b byte) string {
	switch name {
	case "esm_class":
		return named(esmClassName(b), uint32(b), 2)
	case "data_coding", "registered_delivery", "interface_version", "protocol_id":
		return named("", uint32(b), 2)
	case "dest_flag":
		return plainNamed(destinationNames[:], b)
	case "message_state":
		return named(messageStateName(b), uint32(b), 2)
	case "source_addr_ton", "dest_addr_ton", "addr_ton", "esme_addr_ton":
		return plainNamed(tonNames[:], b)
	case "source_addr_npi", "dest_addr_npi", "addr_npi", "esme_addr_npi":
		return plainNamed(npiNames[:], b)
	}
	return strconv.Itoa(int(b))
}

func explainTLV(tag Tag, value []byte) string {
	switch {
	case tag == TagReceiptedMessageID || tag == TagAdditionalStatusInfoText:
		for len(value) > 0 && value[len(value)-1] == 0 {
			value = value[:len(value)-1]
		}
		return printable(value)
	case tag == TagMessageState && len(value) == 1:
		return named(messageStateName(value[0]), uint32(value[0]), 2)
	case tag == TagNetworkErrorCode && len(value) == 3:
		return fmt.Sprintf("network type %d, error %d", value[0], be16(value[1:]))
	case tag == TagSCInterfaceVersion && len(value) == 1:
		return named("", uint32(value[0]), 2)
	case integerTags[tag] && len(value) == 1:
		return strconv.Itoa(int(value[0]))
	case integerTags[tag] && len(value) == 2:
		return strconv.Itoa(int(be16(value)))
	}
	return hex.EncodeToString(value)
}

// integerTags are shown as decimal numbers when they have one or two octets.
var integerTags = map[Tag]bool{
	TagUserMessageReference: true, TagSourcePort: true, TagDestinationPort: true, TagSARMsgRefNum: true,
	TagSARTotalSegments: true, TagSARSegmentSeqNum: true, TagNumberOfMessages: true, TagUserResponseCode: true,
	TagMoreMessagesToSend: true, TagDeliveryFailureReason: true, TagCongestionState: true, TagMSAvailabilityStatus: true,
	TagDPFResult: true, TagSetDPF: true, TagPayloadType: true, TagLanguageIndicator: true,
}

// esmClassName is the message type of bits 5-2, with UDHI and reply path (SMPP v3.4 §5.2.12).
func esmClassName(b byte) string {
	name := ""
	switch b & 0x3C {
	case 0x00:
		name = "message"
	case 0x04:
		name = "delivery receipt"
	case 0x08:
		name = "delivery acknowledgement"
	case 0x10:
		name = "user acknowledgement"
	case 0x18:
		name = "conversation abort"
	case 0x20:
		name = "intermediate notification"
	default:
		name = "reserved type"
	}
	if b&0x40 != 0 {
		name += ", UDHI"
	}
	if b&0x80 != 0 {
		name += ", reply path"
	}
	return name
}

// messageStateName is the state of SMPP v3.4 §5.2.28 (v5.0 adds SCHEDULED and SKIPPED).
func messageStateName(b byte) string {
	names := [...]string{"SCHEDULED", "ENROUTE", "DELIVERED", "EXPIRED", "DELETED", "UNDELIVERABLE", "ACCEPTED", "UNKNOWN", "REJECTED", "SKIPPED"}
	if int(b) < len(names) {
		return names[b]
	}
	return ""
}

var (
	tonNames = [...]string{"unknown", "international", "national", "network specific", "subscriber number", "alphanumeric", "abbreviated"}
	npiNames = [...]string{0: "unknown", 1: "ISDN", 3: "data", 4: "telex", 6: "land mobile", 8: "national", 9: "private", 10: "ERMES", 14: "internet", 18: "WAP client id"}

	destinationNames = [...]string{DestinationAddress: "SME address", DestinationList: "distribution list"}
)

func plainNamed(names []string, b byte) string {
	if int(b) < len(names) && names[b] != "" {
		return fmt.Sprintf("%d (%s)", b, names[b])
	}
	return strconv.Itoa(int(b))
}
