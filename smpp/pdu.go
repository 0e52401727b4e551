package smpp

// PDU is a decoded or to be encoded PDU: one of the structs of this package, always by pointer.
type PDU interface {
	header() *Header
	// fields hands every field of the body, in the order of the wire, to c, which reads or writes it.
	fields(c *codec)
}

// SMEAddress is an SME's address (SMPP v3.4 §5.2.5-5.2.9).
type SMEAddress[T Octets] struct {
	TON, NPI byte
	Addr     T
}

// Address is an SMEAddress that stands by itself.
type Address = SMEAddress[string]

// Bind is bind_transceiver, bind_transmitter or bind_receiver, as its CommandID says (SMPP v3.4 §4.1).
type Bind struct {
	Header
	SystemID         string
	Password         string
	SystemType       string
	InterfaceVersion byte
	AddrTON, AddrNPI byte
	AddressRange     string

	TLVs  TLVs
	Notes []string
}

func (p *Bind) fields(c *codec) {
	cstring(c, "system_id", &p.SystemID, 0)
	secret(c, "password", &p.Password)
	cstring(c, "system_type", &p.SystemType, 0)
	c.octet("interface_version", &p.InterfaceVersion)
	c.octet("addr_ton", &p.AddrTON)
	c.octet("addr_npi", &p.AddrNPI)
	cstring(c, "address_range", &p.AddressRange, 0)
	c.tail(&p.TLVs, &p.Notes)
}

// BindResp is the answer to any of the binds, as its CommandID says (SMPP v3.4 §4.1.2).
type BindResp struct {
	Header
	SystemID string // of the SMSC

	TLVs  TLVs // sc_interface_version, from SMSCs that speak v3.4 or later
	Notes []string
}

func (p *BindResp) fields(c *codec) {
	lastCString(c, "system_id", &p.SystemID)
	c.tail(&p.TLVs, &p.Notes)
}

// Outbind asks the ESME to bind (SMPP v3.4 §4.1.7).
type Outbind struct {
	Header
	SystemID string
	Password string

	TLVs  TLVs
	Notes []string
}

func (p *Outbind) fields(c *codec) {
	cstring(c, "system_id", &p.SystemID, 0)
	secret(c, "password", &p.Password)
	c.tail(&p.TLVs, &p.Notes)
}

// QuerySM asks for a message's state (SMPP v3.4 §4.8.1).
type QuerySM struct {
	Header
	MessageID string
	Source    Address

	TLVs  TLVs
	Notes []string
}

func (p *QuerySM) fields(c *codec) {
	cstring(c, "message_id", &p.MessageID, 0)
	address(c, sourceAddr, &p.Source, maxAddress)
	c.tail(&p.TLVs, &p.Notes)
}

// QuerySMResp answers QuerySM (SMPP v3.4 §4.8.2). All is empty when the body was left out, as it is in
// a refusal.
type QuerySMResp struct {
	Header
	MessageID    string
	FinalDate    string // SMPP time, "" while the state is not final
	MessageState byte   // SMPP v3.4 §5.2.28
	ErrorCode    byte

	TLVs  TLVs
	Notes []string
}

func (p *QuerySMResp) fields(c *codec) {
	if !c.absent("message_id") {
		cstring(c, "message_id", &p.MessageID, 0)
		cstring(c, "final_date", &p.FinalDate, 0)
		c.octet("message_state", &p.MessageState)
		c.octet("error_code", &p.ErrorCode)
	}
	c.tail(&p.TLVs, &p.Notes)
}

// CancelSM asks for a message to be cancelled (SMPP v3.4 §4.9.1).
type CancelSM struct {
	Header
	ServiceType  string
	MessageID    string
	Source, Dest Address

	TLVs  TLVs
	Notes []string
}

func (p *CancelSM) fields(c *codec) {
	cstring(c, "service_type", &p.ServiceType, maxServiceType)
	cstring(c, "message_id", &p.MessageID, 0)
	address(c, sourceAddr, &p.Source, maxAddress)
	address(c, destAddr, &p.Dest, maxAddress)
	c.tail(&p.TLVs, &p.Notes)
}

// AlertNotification says that a mobile has become available (SMPP v3.4 §4.12.1). It has no answer.
type AlertNotification struct {
	Header
	Source, ESME Address

	TLVs  TLVs
	Notes []string
}

func (p *AlertNotification) fields(c *codec) {
	address(c, sourceAddr, &p.Source, maxLongAddress)
	address(c, esmeAddr, &p.ESME, maxLongAddress)
	c.tail(&p.TLVs, &p.Notes)
}

// Empty is a PDU whose body, if any, is TLVs: enquire_link, unbind, their answers, generic_nack,
// cancel_sm_resp, replace_sm_resp and cancel_broadcast_sm_resp.
type Empty struct {
	Header

	TLVs  TLVs
	Notes []string
}

func (p *Empty) fields(c *codec) { c.tail(&p.TLVs, &p.Notes) }

// Other is a PDU of a command that is not taken apart here; it may be one that SMPP does not know.
type Other struct {
	Header
	Body []byte // after decoding a part of the PDU, not a copy
}

func (p *Other) fields(c *codec) { c.rest("body", &p.Body) }

// blank is the empty struct for a command.
func blank(id CommandID) PDU {
	switch id {
	case CommandBindReceiver, CommandBindTransmitter, CommandBindTransceiver:
		return new(Bind)
	case CommandBindReceiverResp, CommandBindTransmitterResp, CommandBindTransceiverResp:
		return new(BindResp)
	case CommandOutbind:
		return new(Outbind)
	case CommandSubmitSM:
		return new(SubmitSM)
	case CommandSubmitSMResp:
		return new(SubmitSMResp)
	case CommandDeliverSM:
		return new(DeliverSM)
	case CommandDeliverSMResp:
		return new(DeliverSMResp)
	case CommandDataSM:
		return new(DataSM)
	case CommandDataSMResp:
		return new(DataSMResp)
	case CommandSubmitMulti:
		return new(SubmitMulti)
	case CommandSubmitMultiResp:
		return new(SubmitMultiResp)
	case CommandBroadcastSM:
		return new(BroadcastSM)
	case CommandBroadcastSMResp:
		return new(BroadcastSMResp)
	case CommandQueryBroadcastSM:
		return new(QueryBroadcastSM)
	case CommandQueryBroadcastSMResp:
		return new(QueryBroadcastSMResp)
	case CommandCancelBroadcastSM:
		return new(CancelBroadcastSM)
	case CommandQuerySM:
		return new(QuerySM)
	case CommandQuerySMResp:
		return new(QuerySMResp)
	case CommandCancelSM:
		return new(CancelSM)
	case CommandReplaceSM:
		return new(ReplaceSM)
	case CommandAlertNotification:
		return new(AlertNotification)
	case CommandEnquireLink, CommandEnquireLinkResp, CommandUnbind, CommandUnbindResp,
		CommandCancelSMResp, CommandReplaceSMResp, CommandCancelBroadcastSMResp, CommandGenericNack:
		return new(Empty)
	}
	return new(Other)
}
