package receipt

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// The two requests that bring receipts (SMPP v3.4 §5.1.2.1).
const (
	deliverSM uint32 = 0x00000005
	dataSM    uint32 = 0x00000103
)

// Decode reads d under rules; nil rules are DefaultRules. It never fails: what cannot be read is
// Undecodable. TLVs come first and the text second, and both are kept. It is a pure function of its
// arguments and safe for concurrent use.
//
// Of an Undecodable, the id, state, dates, counts, err and text are empty even where one could be
// read; of a Message, an acknowledgement or an abort likewise, but for Text, which is the whole body
// as it came, TLVID, and the acknowledgements' and abort's ID. The raw values of TLVs stay with all
// of them.
func Decode(d Delivery, rules *Rules) Receipt {
	r := Receipt{Source: d.Source, Dest: d.Dest, Notes: slices.Clone(d.Notes)}
	if !d.readable() {
		return r
	}
	if rules == nil {
		defaults := DefaultRules()
		rules = &defaults
	}
	var b body
	r.begin(&d, rules, &b)
	if r.IsEvidence() {
		r.readText(&b, rules)
	} else {
		r.withoutReceipt(&b)
	}
	return r
}

// begin reads a readable delivery as far as its kind depends on it, and gives the body and where its fields are.
func (r *Receipt) begin(d *Delivery, rules *Rules, b *body) {
	stateTLV := r.readTLVs(d, rules)
	b.read(d, r)
	r.readIDs(d, b)
	r.readStates(b, rules)
	r.Kind = r.classify(d.ESMClass&classMask, stateTLV, rules)
}

// readable reports whether d's fields mean anything.
func (d *Delivery) readable() bool {
	return !d.Broken && (d.CommandID == deliverSM || d.CommandID == dataSM)
}

func (r *Receipt) note(text string) {
	r.Notes = append(r.Notes, text)
}

// readTLVs takes the optional parameters that stand for themselves and reports whether there is a
// message_state, with whatever value.
func (r *Receipt) readTLVs(d *Delivery, rules *Rules) (stateTLV bool) {
	if v, ok := d.tlv(TagMessageState); ok {
		r.MessageStateRaw = present(v)
		if len(v) == 1 {
			r.TLVState, _ = FromWire(v[0])
		}
		if r.TLVState == NoState {
			r.note("message_state is not one octet from 0 to 9")
		}
		stateTLV = len(v) > 0
	}
	if v, ok := d.tlv(TagNetworkErrorCode); ok {
		r.NetworkErrorCode = present(v)
	}
	if v, ok := d.tlv(TagUserMessageReference); ok && len(v) == 2 {
		reference := binary.BigEndian.Uint16(v)
		r.UserMessageRef = &reference
	}
	if rules.ClientRefTLV != 0 {
		v, _ := d.tlv(rules.ClientRefTLV)
		r.ClientRef = MessageID(v)
	}
	return stateTLV
}

// tlv is the value of the first optional parameter with this tag.
func (d *Delivery) tlv(tag uint16) (value []byte, ok bool) {
	for i := range d.TLVs {
		if d.TLVs[i].Tag == tag {
			return d.TLVs[i].Value, true
		}
	}
	return nil, false
}

// present gives v, never nil: an empty value is there.
func present(v []byte) []byte {
	if v == nil {
		return []byte{}
	}
	return v
}

// readIDs reads receipted_message_id first and the text's id second (testdata/receipts/ids.jsonl).
func (r *Receipt) readIDs(d *Delivery, b *body) {
	r.TextID = b.str(b.at[labelID])
	value, _ := d.tlv(TagReceiptedMessageID)
	octets := trimmed(value)
	if string(octets) == r.TextID && isASCII(octets) {
		r.TLVID = r.TextID // mostly they are one, and so is the string
	} else {
		r.TLVID = latin1(octets)
	}
	r.ID = cmp.Or(r.TLVID, r.TextID)
}

// readStates reads message_state first and the text's stat second, and keeps both.
func (r *Receipt) readStates(b *body, rules *Rules) {
	r.RawStat = b.str(b.at[labelStat])
	r.TextState, r.StateRule = rules.textState(r.RawStat)
	r.State = r.TextState
	if r.TLVState != NoState {
		r.State, r.StateRule = r.TLVState, "message_state"
	}
}

// readText reads the other fields of the text.
func (r *Receipt) readText(b *body, rules *Rules) {
	r.Err = b.str(b.at[labelErr])
	r.ErrWord = rules.Errors[r.Err]
	r.Sub, r.Dlvrd = b.str(b.at[labelSub]), b.str(b.at[labelDlvrd])
	r.SubmitDateRaw, r.DoneDateRaw = b.str(b.at[labelSubmitDate]), b.str(b.at[labelDoneDate])
	r.SubmitDate, r.DoneDate = rules.date(r.SubmitDateRaw), rules.date(r.DoneDateRaw)
	r.Text = b.str(trim(b.view, b.text))
	if b.skipped {
		r.note("text label followed by another label passed over")
	}
	if b.spaced {
		r.note("blank between a label and its value passed over")
	}
	if b.underbar {
		r.note("label with an underscore read as one with a blank")
	}
}

// withoutReceipt takes back what only a receipt has and gives the other kinds their body.
func (r *Receipt) withoutReceipt(b *body) {
	r.ID, r.TextID = "", ""
	r.RawStat, r.StateRule = "", ""
	r.State, r.TextState, r.TLVState = NoState, NoState, NoState
	switch r.Kind {
	case Undecodable:
		r.TLVID = ""
		return
	case SMEAck, UserAck, ConversationAbort:
		r.ID = r.TLVID
	}
	r.Text = b.str(span{0, len(b.view)})
}

// MessageID reads the octets of a message_id or receipted_message_id as Decode does: trailing NULs
// and surrounding blanks are taken off, octets are mapped one to one. "" for an empty one. The id of
// a submit_sm_resp goes through it before ResponseKeys, so that both sides are read alike.
func MessageID(octets []byte) string { return latin1(trimmed(octets)) }

// trimmed is an id without the blanks and NULs at its ends.
func trimmed(octets []byte) []byte {
	s := trim(octets, span{0, len(octets)})
	return octets[s.Start:s.End]
}
