package smpptest

import (
	"bytes"
	"time"

	"esmed/smpp"
)

// Kind says why the SMSC sent something; the truth carries it.
type Kind string

// Kinds.
const (
	Final          Kind = "final"           // a final receipt, the first of its message
	Duplicate      Kind = "duplicate"       // the same octets again
	Contradiction  Kind = "contradiction"   // another final state after the final
	Intermediate   Kind = "intermediate"    // an intermediate notification
	UnknownID      Kind = "unknown"         // a receipt for an id that was never given
	MO             Kind = "mo"              // a mobile-originated message
	MOLikeReceipt  Kind = "mo_like_receipt" // one whose text reads like a receipt
	Garbage        Kind = "garbage"         // a body that cannot be taken apart, or says nothing
	UnknownCommand Kind = "unknown_command"
	Oversize       Kind = "oversize"
	Raw            Kind = "raw" // octets written by Server.WriteRaw
)

// Delivery is one request of the SMSC, normally made by Server.Receipt and then changed at will.
type Delivery struct {
	Kind    Kind
	Command smpp.CommandID // command_id; 0 = deliver_sm

	ESMClass     byte
	DataCoding   byte
	Source, Dest Address
	ShortMessage []byte // at most 254 octets in a deliver_sm; in a data_sm it becomes message_payload
	TLVs         []TLV
	Trailing     []byte // octets after the last TLV
	Body         []byte // if not nil: all octets after the header, instead of the fields above

	// What the truth says about it.
	N            uint64 // the submit that it is about; 0 = none
	TLVID        string
	TextID       string
	Word         string // stat of the text
	State        string // state that is reported, as DELIVERED; "" if it says none
	MessageState int    // value of message_state; -1 when the TLV is absent
}

// append writes the request, with sequence_number 0, over b, which is empty.
func (d *Delivery) append(b []byte) []byte {
	command := d.Command
	if command == 0 {
		command = smpp.CommandDeliverSM
	}
	if cap(b) == 0 {
		b = make([]byte, 0, 288)
	}
	b = appendHeader(b, command, smpp.StatusOK, 0)
	switch {
	case d.Body != nil:
		b = append(b, d.Body...)
	case command == smpp.CommandDataSM:
		b = d.appendDataSM(b)
	default:
		b = d.appendDeliverSM(b)
	}
	return endPDU(append(b, d.Trailing...), 0)
}

// appendDeliverSM writes the body of SMPP v3.4 §4.6.1.
func (d *Delivery) appendDeliverSM(b []byte) []byte {
	b = appendCString(b, "")
	b = appendAddress(appendAddress(b, d.Source), d.Dest)
	b = append(b, d.ESMClass, 0, 0, 0, 0, 0, 0, d.DataCoding, 0, byte(len(d.ShortMessage)))
	b = append(b, d.ShortMessage...)
	return d.appendTLVs(b)
}

// appendDataSM writes the body of SMPP v3.4 §4.7.1.
func (d *Delivery) appendDataSM(b []byte) []byte {
	b = appendCString(b, "")
	b = appendAddress(appendAddress(b, d.Source), d.Dest)
	b = append(b, d.ESMClass, 0, d.DataCoding)
	b = d.appendTLVs(b)
	if len(d.ShortMessage) > 0 {
		b = appendTLV(b, smpp.TagMessagePayload, d.ShortMessage...)
	}
	return b
}

func (d *Delivery) appendTLVs(b []byte) []byte {
	for _, t := range d.TLVs {
		b = appendTLV(b, t.Tag, t.Value...)
	}
	return b
}

// messageStates are the words of a receipt's text and the values of message_state that go with them
// (SMPP v3.4 Appendix B, §5.2.28).
var messageStates = map[string]struct {
	value int
	name  string
}{
	"SCHEDULED": {0, "SCHEDULED"}, "ENROUTE": {1, "ENROUTE"}, "DELIVRD": {2, "DELIVERED"}, "EXPIRED": {3, "EXPIRED"},
	"DELETED": {4, "DELETED"}, "UNDELIV": {5, "UNDELIVERABLE"}, "ACCEPTD": {6, "ACCEPTED"}, "UNKNOWN": {7, "UNKNOWN"},
	"REJECTD": {8, "REJECTED"}, "SKIPPED": {9, "SKIPPED"},
}

const (
	quotedText = 20 // characters of the message that a receipt quotes, SMPP v3.4 Appendix B
	badDate    = "2613459960"
)

// template is what a receipt is made from.
type template struct {
	form             ReceiptForm
	tlvID, textID    string
	word, state      string // state: for words that are not SMPP's
	source, dest     Address
	submitted, done  time.Time
	quote            []byte
	class            byte
	dataSM, badDates bool
}

// delivery fills the template in: TLVs first, then the text of SMPP v3.4 Appendix B.
func (t *template) delivery() Delivery {
	d := Delivery{ESMClass: t.class, Source: t.source, Dest: t.dest, Word: t.word, State: t.state, MessageState: -1}
	known, ok := messageStates[t.word]
	if ok {
		d.State = known.name
	}
	if t.dataSM {
		d.Command = smpp.CommandDataSM
	}
	if t.form != TextOnly {
		d.TLVs = make([]TLV, 0, 3)
		values := append(append(make([]byte, 0, len(t.tlvID)+2), t.tlvID...), 0, byte(known.value))
		id, state := values[:len(t.tlvID)+1:len(t.tlvID)+1], values[len(t.tlvID)+1:]
		if t.tlvID != "" {
			d.TLVID = t.tlvID
			d.TLVs = append(d.TLVs, TLV{smpp.TagReceiptedMessageID, id})
		}
		if ok {
			d.MessageState = known.value
			d.TLVs = append(d.TLVs, TLV{smpp.TagMessageState, state})
		}
	}
	if t.form != TLVOnly {
		d.TextID = t.textID
		d.ShortMessage = t.text()
	}
	return d
}

func (t *template) text() []byte {
	b := make([]byte, 0, 160)
	if t.textID != "" {
		b = append(append(append(b, "id:"...), t.textID...), ' ')
	}
	dlvrd, code := "000", "001"
	if t.word == "DELIVRD" {
		dlvrd = "001"
	}
	if t.word == "DELIVRD" || t.class == ClassIntermediate {
		code = "000"
	}
	b = append(append(b, "sub:001 dlvrd:"...), dlvrd...)
	b = t.appendDate(append(b, " submit date:"...), t.submitted)
	b = t.appendDate(append(b, " done date:"...), t.done)
	b = append(append(b, " stat:"...), t.word...)
	b = append(append(b, " err:"...), code...)
	b = append(append(b, " text:"...), t.quote...)
	return b[:min(len(b), maxShortText)]
}

func (t *template) appendDate(b []byte, at time.Time) []byte {
	if t.badDates {
		return append(b, badDate...)
	}
	return at.UTC().AppendFormat(b, "060102150405")
}

// quotable is the beginning of a message's text as a receipt quotes it: nothing unless it is plain ASCII.
func quotable(s *Submit) []byte {
	text := s.text()
	text = text[:min(len(text), quotedText)]
	if s.ESMClass&0x40 != 0 || bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil
	}
	return bytes.Clone(text)
}
