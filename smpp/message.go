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

// SubmitSM is submit_sm (SMPP v3.4 §4.4.1).
type SubmitSM struct {
	Header
	ServiceType          string
	Source, Dest         Address
	ESMClass             byte
	ProtocolID           byte
	PriorityFlag         byte
	ScheduleDeliveryTime string // SMPP time of 16 characters, or ""
	ValidityPeriod       string // the same
	RegisteredDelivery   byte
	ReplaceIfPresentFlag byte
	DataCoding           byte
	SMDefaultMsgID       byte
	ShortMessage         []byte // at most 254 octets; after decoding a part of the PDU, not a copy; nil when empty
	ShortMessageOffset   int    // of ShortMessage within the PDU it was decoded from; not read when encoding

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *SubmitSM) fields(c *codec) {
	c.cstring("service_type", &p.ServiceType, maxServiceType)
	c.address(sourceAddr, &p.Source, maxAddress)
	c.address(destAddr, &p.Dest, maxAddress)
	c.octet("esm_class", &p.ESMClass)
	c.octet("protocol_id", &p.ProtocolID)
	c.octet("priority_flag", &p.PriorityFlag)
	c.cstring("schedule_delivery_time", &p.ScheduleDeliveryTime, maxTime)
	c.cstring("validity_period", &p.ValidityPeriod, maxTime)
	c.octet("registered_delivery", &p.RegisteredDelivery)
	c.octet("replace_if_present_flag", &p.ReplaceIfPresentFlag)
	c.octet("data_coding", &p.DataCoding)
	c.octet("sm_default_msg_id", &p.SMDefaultMsgID)
	c.shortMessage(&p.ShortMessage, &p.ShortMessageOffset)
	c.tail(&p.TLVs, &p.Notes)
}

// DeliverSM is deliver_sm (SMPP v3.4 §4.6.1). It has the fields of submit_sm, some of them unused.
type DeliverSM SubmitSM

func (p *DeliverSM) fields(c *codec) { (*SubmitSM)(p).fields(c) }

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
	c.cstring("service_type", &p.ServiceType, maxServiceType)
	c.address(sourceAddr, &p.Source, maxLongAddress)
	c.address(destAddr, &p.Dest, maxLongAddress)
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
	c.cstring("message_id", &p.MessageID, 0)
	c.address(sourceAddr, &p.Source, maxAddress)
	c.cstring("schedule_delivery_time", &p.ScheduleDeliveryTime, maxTime)
	c.cstring("validity_period", &p.ValidityPeriod, maxTime)
	c.octet("registered_delivery", &p.RegisteredDelivery)
	c.octet("sm_default_msg_id", &p.SMDefaultMsgID)
	c.shortMessage(&p.ShortMessage, &p.ShortMessageOffset)
	c.tail(&p.TLVs, &p.Notes)
}

// SubmitSMResp is submit_sm_resp (SMPP v3.4 §4.4.2).
type SubmitSMResp struct {
	Header
	// MessageID is the SMSC's, exactly as received; "" when the body was left out, as it is in a
	// refusal. Without its NUL it is the whole rest of the body.
	MessageID string

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *SubmitSMResp) fields(c *codec) {
	c.lastCString("message_id", &p.MessageID)
	c.tail(&p.TLVs, &p.Notes)
}

// DataSMResp is data_sm_resp (SMPP v3.4 §4.7.2). From us its MessageID is empty.
type DataSMResp SubmitSMResp

func (p *DataSMResp) fields(c *codec) { (*SubmitSMResp)(p).fields(c) }

// DeliverSMResp is deliver_sm_resp (SMPP v3.4 §4.6.2). Its MessageID is unused and empty.
type DeliverSMResp SubmitSMResp

func (p *DeliverSMResp) fields(c *codec) { (*SubmitSMResp)(p).fields(c) }
