package smpp

// BroadcastSM is broadcast_sm (SMPP v5.0 §4.4.1). Where to and what are TLVs.
type BroadcastSM struct {
	Header
	ServiceType          string
	Source               Address
	MessageID            string
	PriorityFlag         byte
	ScheduleDeliveryTime string
	ValidityPeriod       string
	ReplaceIfPresentFlag byte
	DataCoding           byte
	SMDefaultMsgID       byte

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *BroadcastSM) fields(c *codec) {
	cstring(c, "service_type", &p.ServiceType, maxServiceType)
	address(c, sourceAddr, &p.Source, maxAddress)
	cstring(c, "message_id", &p.MessageID, 0)
	c.octet("priority_flag", &p.PriorityFlag)
	cstring(c, "schedule_delivery_time", &p.ScheduleDeliveryTime, maxTime)
	cstring(c, "validity_period", &p.ValidityPeriod, maxTime)
	c.octet("replace_if_present_flag", &p.ReplaceIfPresentFlag)
	c.octet("data_coding", &p.DataCoding)
	c.octet("sm_default_msg_id", &p.SMDefaultMsgID)
	c.tail(&p.TLVs, &p.Notes)
}

// BroadcastSMResp is broadcast_sm_resp (SMPP v5.0 §4.4.1).
type BroadcastSMResp SMResp[string]

func (p *BroadcastSMResp) fields(c *codec) { (*SMResp[string])(p).fields(c) }

// QueryBroadcastSM is query_broadcast_sm (SMPP v5.0 §4.6.1).
type QueryBroadcastSM struct {
	Header
	MessageID string
	Source    Address

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *QueryBroadcastSM) fields(c *codec) {
	cstring(c, "message_id", &p.MessageID, 0)
	address(c, sourceAddr, &p.Source, maxAddress)
	c.tail(&p.TLVs, &p.Notes)
}

// QueryBroadcastSMResp is query_broadcast_sm_resp (SMPP v5.0 §4.6.1). State, areas and their success are TLVs.
type QueryBroadcastSMResp SMResp[string]

func (p *QueryBroadcastSMResp) fields(c *codec) { (*SMResp[string])(p).fields(c) }

// CancelBroadcastSM is cancel_broadcast_sm (SMPP v5.0 §4.6.2).
type CancelBroadcastSM struct {
	Header
	ServiceType string
	MessageID   string
	Source      Address

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *CancelBroadcastSM) fields(c *codec) {
	cstring(c, "service_type", &p.ServiceType, maxServiceType)
	cstring(c, "message_id", &p.MessageID, 0)
	address(c, sourceAddr, &p.Source, maxAddress)
	c.tail(&p.TLVs, &p.Notes)
}
