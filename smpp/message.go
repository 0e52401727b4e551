package smpp

// Longest fields of the specification in octets, the closing NUL included. They are kept to when
// writing; when reading any length is taken. What an SMSC gave us (a message_id), or may ask of us
// beyond the specification (system_id, password), has no limit here.
const (
	maxServiceType  = 6
	maxAddress      = 21
	maxLongAddress  = 65
	maxTime         = 17
	maxShortMessage = 254
)

// Octets is how the C-octet strings of a PDU are held: as strings of their own or, where it is read in place,
// as parts of the octets it was read from.
type Octets interface{ string | []byte }

// SM is what submit_sm and deliver_sm consist of (SMPP v3.4 §4.4.1, §4.6.1); the latter leaves some fields
// unused.
type SM[T Octets] struct {
	Header
	ServiceType          T
	Source, Dest         SMEAddress[T]
	ESMClass             byte
	ProtocolID           byte
	PriorityFlag         byte
	ScheduleDeliveryTime T // SMPP time of 16 characters, or ""
	ValidityPeriod       T // the same
	RegisteredDelivery   byte
	ReplaceIfPresentFlag byte
	DataCoding           byte
	SMDefaultMsgID       byte
	ShortMessage         []byte // at most 254 octets; after decoding a part of the PDU, not a copy; nil when empty
	ShortMessageOffset   int    // of ShortMessage within the PDU it was decoded from; not read when encoding

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *SM[T]) fields(c *codec) {
	cstring(c, "service_type", &p.ServiceType, maxServiceType)
	address(c, sourceAddr, &p.Source, maxAddress)
	address(c, destAddr, &p.Dest, maxAddress)
	p.fieldsBehindDest(c)
}

func (p *SM[T]) fieldsBehindDest(c *codec) {
	c.octet("esm_class", &p.ESMClass)
	c.octet("protocol_id", &p.ProtocolID)
	c.octet("priority_flag", &p.PriorityFlag)
	cstring(c, "schedule_delivery_time", &p.ScheduleDeliveryTime, maxTime)
	cstring(c, "validity_period", &p.ValidityPeriod, maxTime)
	c.octet("registered_delivery", &p.RegisteredDelivery)
	c.octet("replace_if_present_flag", &p.ReplaceIfPresentFlag)
	c.octet("data_coding", &p.DataCoding)
	c.octet("sm_default_msg_id", &p.SMDefaultMsgID)
	c.shortMessage(&p.ShortMessage, &p.ShortMessageOffset)
	c.tail(&p.TLVs, &p.Notes)
}

// SubmitSM is submit_sm (SMPP v3.4 §4.4.1).
type SubmitSM SM[string]

func (p *SubmitSM) fields(c *codec) { (*SM[string])(p).fields(c) }

// DeliverSM is deliver_sm (SMPP v3.4 §4.6.1).
type DeliverSM SM[string]

func (p *DeliverSM) fields(c *codec) { (*SM[string])(p).fields(c) }

// DataSM is data_sm (SMPP v3.4 §4.7.1). Its text is in message_payload.
type DataSM struct {
	Header
	ServiceType        string
	Source, Dest       Address
	ESMClass           byte
	RegisteredDelivery byte
	DataCoding         byte

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *DataSM) fields(c *codec) {
	cstring(c, "service_type", &p.ServiceType, maxServiceType)
	address(c, sourceAddr, &p.Source, maxLongAddress)
	address(c, destAddr, &p.Dest, maxLongAddress)
	c.octet("esm_class", &p.ESMClass)
	c.octet("registered_delivery", &p.RegisteredDelivery)
	c.octet("data_coding", &p.DataCoding)
	c.tail(&p.TLVs, &p.Notes)
}

// ReplaceSM is replace_sm (SMPP v3.4 §4.10.1).
type ReplaceSM struct {
	Header
	MessageID            string
	Source               Address
	ScheduleDeliveryTime string
	ValidityPeriod       string
	RegisteredDelivery   byte
	SMDefaultMsgID       byte
	ShortMessage         []byte // as in SubmitSM
	ShortMessageOffset   int

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *ReplaceSM) fields(c *codec) {
	cstring(c, "message_id", &p.MessageID, 0)
	address(c, sourceAddr, &p.Source, maxAddress)
	cstring(c, "schedule_delivery_time", &p.ScheduleDeliveryTime, maxTime)
	cstring(c, "validity_period", &p.ValidityPeriod, maxTime)
	c.octet("registered_delivery", &p.RegisteredDelivery)
	c.octet("sm_default_msg_id", &p.SMDefaultMsgID)
	c.shortMessage(&p.ShortMessage, &p.ShortMessageOffset)
	c.tail(&p.TLVs, &p.Notes)
}

// SMResp is what the responses to submit_sm, deliver_sm and data_sm consist of (SMPP v3.4 §4.4.2, §4.6.2,
// §4.7.2).
type SMResp[T Octets] struct {
	Header
	// MessageID is the SMSC's, exactly as received; "" when the body was left out, as it is in a
	// refusal. Without its NUL it is the whole rest of the body.
	MessageID T

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *SMResp[T]) fields(c *codec) {
	lastCString(c, "message_id", &p.MessageID)
	c.tail(&p.TLVs, &p.Notes)
}

// SubmitSMResp is submit_sm_resp (SMPP v3.4 §4.4.2).
type SubmitSMResp SMResp[string]

func (p *SubmitSMResp) fields(c *codec) { (*SMResp[string])(p).fields(c) }

// DataSMResp is data_sm_resp (SMPP v3.4 §4.7.2). From us its MessageID is empty.
type DataSMResp SMResp[string]

func (p *DataSMResp) fields(c *codec) { (*SMResp[string])(p).fields(c) }

// DeliverSMResp is deliver_sm_resp (SMPP v3.4 §4.6.2). Its MessageID is unused and empty.
type DeliverSMResp SMResp[string]

func (p *DeliverSMResp) fields(c *codec) { (*SMResp[string])(p).fields(c) }
