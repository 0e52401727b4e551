package receipt

// ParserVersion names the reading rules compiled in. It changes whenever Decode would read any PDU
// differently under the same Rules, and is stored beside each decision.
const ParserVersion = "1"

// Kind says what a delivered PDU is, by esm_class & 0x3C (SMPP v3.4 §5.2.12).
type Kind uint8

// Kinds. The zero Kind is Undecodable, so that a forgotten value never passes for a receipt.
const (
	Undecodable Kind = iota
	Message
	DeliveryReceipt
	SMEAck
	UserAck
	ConversationAbort
	Intermediate
)

// Receipt is what was read of one Delivery. Strings are as received but for trailing NULs and
// surrounding blanks, which are taken off; octets over 0x7F are mapped one to one (Latin-1).
type Receipt struct {
	Kind Kind

	ID     string // TLV id, else text id; "" when there is neither, or for a Message
	TLVID  string // receipted_message_id; "" when absent or empty
	TextID string // the text's id; "" when absent or empty

	RawStat   string       // the text's stat, as received
	TextState MessageState // what RawStat maps to, by SMPP's words or the SMSC's own; NoState if nothing
	TLVState  MessageState // message_state, when exactly one octet 0-9; else NoState
	State     MessageState // TLVState, else TextState (before Rules.State is asked)
	StateRule string       // "message_state", "stat", "rules.states" or ""

	Err              string // the text's err only
	ErrWord          string // Rules.Errors[Err], or ""
	NetworkErrorCode []byte // the TLV's value as received, the Delivery's own octets; nil when absent
	MessageStateRaw  []byte // the TLV's value as received, the Delivery's own octets; nil when absent

	Sub, Dlvrd     string
	SubmitDateRaw  string
	DoneDateRaw    string
	SubmitDate     Date
	DoneDate       Date
	Text           string // what follows the text label; the whole body for the other kinds
	ClientRef      string // value of Rules.ClientRefTLV; "" when absent or not configured
	UserMessageRef *uint16

	Source, Dest Address
	Notes        []string // tolerant readings that were needed, in order
}

// IsEvidence reports whether the receipt can say something about a submitted message: a delivery
// receipt or an intermediate notification.
func (r *Receipt) IsEvidence() bool { return r.Kind == DeliveryReceipt || r.Kind == Intermediate }
