package receipt

import "fmt"

// kindNames are the words of kind in JSON, by Kind.
var kindNames = [...]string{
	Undecodable: "undecodable", Message: "message", DeliveryReceipt: "delivery_receipt", SMEAck: "sme_ack",
	UserAck: "user_ack", ConversationAbort: "conversation_abort", Intermediate: "intermediate",
}

// String gives the kind's word, as delivery_receipt.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// MarshalText gives String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes the words of String.
func (k *Kind) UnmarshalText(text []byte) error {
	for i, name := range kindNames {
		if name == string(text) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("receipt: %q is no kind", text)
}

// What esm_class says in its bits 2 to 5 (SMPP v3.4 §5.2.12); the others do not matter here.
const (
	classMask         = 0x3C
	classMessage      = 0x00
	classReceipt      = 0x04
	classSMEAck       = 0x08
	classReceiptAndAc = 0x0C // reserved
	classUserAck      = 0x10
	classAbort        = 0x18
	classIntermediate = 0x20

	esmClassUDHI = 0x40
)

// classify says what r, whose fields have all been read, is. stateTLV: message_state is there, with
// whatever value (testdata/receipts/esm_class.jsonl).
func (r *Receipt) classify(class byte, stateTLV bool, rules *Rules) Kind {
	inText := r.TextID != "" || r.RawStat != ""
	readable := inText || r.TLVID != "" || r.TLVState != NoState
	switch class {
	case classMessage:
		return r.classifyMessage(stateTLV, rules)
	case classSMEAck:
		return SMEAck
	case classUserAck:
		return UserAck
	case classAbort:
		return ConversationAbort
	}
	switch {
	case !readable:
		return Undecodable
	case class == classReceipt:
		return DeliveryReceipt
	case class == classIntermediate:
		return Intermediate
	case class == classReceiptAndAc && inText:
		r.note("reserved esm_class with the text of a receipt read as delivery_receipt")
		return DeliveryReceipt
	}
	r.note("reserved esm_class read as intermediate, so that nothing is final early")
	return Intermediate
}

// classifyMessage is for class 0x00. A subscriber can type a receipt but cannot set its TLVs.
func (r *Receipt) classifyMessage(stateTLV bool, rules *Rules) Kind {
	switch {
	case rules.Detect == DetectESMClass:
		return Message
	case r.TLVID != "" && stateTLV:
		r.note("esm_class of a message with receipted_message_id and message_state read as delivery_receipt")
		return DeliveryReceipt
	case rules.Detect == DetectText && r.ID != "" && r.TextState != NoState:
		r.note("esm_class of a message with an id and a known stat in its text read as delivery_receipt")
		return DeliveryReceipt
	}
	return Message
}
