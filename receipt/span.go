package receipt

// Span says which octets of a Delivery are user text.
type Span struct {
	TLV        int // index in Delivery.TLVs, or InShortMessage, or InRaw
	Start, End int // octets of that value, End not included
}

// Values of Span.TLV for what is no TLV.
const (
	InShortMessage = -1
	InRaw          = -2
)

// TextSpans says which octets of d are user text, so that they can be sealed where d is kept. Nil
// rules are DefaultRules. No span is empty, and none overlaps another.
//
//   - A receipt or intermediate notification: what follows its text label, in whichever encoding that
//     was found. Nothing where there is no such label: the text may then hold any field.
//   - A Message, acknowledgement or abort: the whole body behind the user data header.
//   - An Undecodable: the whole body; of a PDU that could not be taken apart, all of Raw.
//   - A TLV that Decode does not read, such as additional_status_info_text, an SMSC's own, or a
//     message_payload behind another body: all of its value. Who keeps the key still has what it says.
//     What is read stays: receipted_message_id, message_state, network_error_code,
//     user_message_reference and the SMSC's ClientRefTLV.
//
// A receipt's words outside its labels and before the text label stay too, since a label that came to
// stand there would be read.
//
// Whatever octets come to stand in the spans, Decode reads the same receipt or intermediate
// notification but for its Text, and the same kind and id of an acknowledgement or abort. Where not all
// labels were met before the text, this costs the span its first character or characters: they show
// that no label follows the text label at once.
func TextSpans(d Delivery, rules *Rules) []Span {
	if !d.readable() {
		return appendSpan(nil, Span{TLV: InRaw, End: len(d.Raw)})
	}
	if rules == nil {
		defaults := DefaultRules()
		rules = &defaults
	}
	var r Receipt
	var b body
	r.begin(&d, rules, &b)
	text := b.in
	switch {
	case r.IsEvidence():
		text.Start = b.textStart()
	case r.Kind != Undecodable:
		text.Start = b.base
	}
	spans := appendSpan(nil, text)
	for i := range d.TLVs {
		if i != b.in.TLV && !rules.reads(d.TLVs[i].Tag) {
			spans = appendSpan(spans, Span{TLV: i, End: len(d.TLVs[i].Value)})
		}
	}
	return spans
}

// reads reports whether a TLV of that tag, which is not the body, can be a field of a Receipt.
func (r *Rules) reads(tag uint16) bool {
	switch tag {
	case TagReceiptedMessageID, TagMessageState, TagNetworkErrorCode, TagUserMessageReference:
		return true
	}
	return r.ClientRefTLV != 0 && tag == r.ClientRefTLV
}

func appendSpan(spans []Span, s Span) []Span {
	if s.Start >= s.End {
		return spans
	}
	return append(spans, s)
}

// textStart is the octet from which a receipt's text can be anything without another field being
// read.
func (b *body) textStart() int {
	if !b.has(labelText) {
		return b.in.End
	}
	at := b.text.Start
	if b.seen != 1<<noLabel-1 {
		at = skipBlanks(b.view, at)
		at = min(at+b.couldBegin(b.view[at:])+1, len(b.view))
	}
	if at == len(b.view) {
		return b.in.End
	}
	return max(b.offset(at), b.guard)
}

// couldBegin is how many of w's first characters could begin a label that was not met yet.
func (f *fields) couldBegin(w []byte) int {
	most := 0
	for l := range labelText {
		if !f.has(l) {
			most = max(most, beginsLabel(w, labelWords[l]))
		}
	}
	return most
}

// beginsLabel is how many of w's first characters could begin word.
func beginsLabel(w []byte, word string) int {
	at := 0
	for i := 0; i < len(word) && at < len(w); i++ {
		switch c := w[at]; {
		case word[i] == ' ' && isBlank(c):
			at = skipBlanks(w, at)
		case word[i] == ' ' && c == '_', c|0x20 == word[i]:
			at++
		default:
			return at
		}
	}
	return at
}
