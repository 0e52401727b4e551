package receipt

// Delivery holds the fields of one delivered PDU (deliver_sm or data_sm) that a receipt can be read
// from. The octets are as received; of them a Receipt keeps NetworkErrorCode and MessageStateRaw. Its strings are copies.
type Delivery struct {
	CommandID  uint32 // 0x00000005 deliver_sm, 0x00000103 data_sm; anything else is undecodable
	ESMClass   byte   // SMPP v3.4 §5.2.12
	DataCoding byte   // SMPP v3.4 §5.2.19
	Source     Address
	Dest       Address

	ShortMessage []byte // nil in a data_sm
	TLVs         []TLV  // in wire order, repeated tags kept

	// Raw is the PDU's body after the 16-octet header, as kept. It is all there is when Broken is
	// set: the body could not be taken apart, and the reading is Undecodable.
	Raw    []byte
	Broken bool

	Notes []string // what the PDU decoder tolerated; copied in front of the receipt's own notes
}

// Address is an SME address as received (SMPP v3.4 §5.2.5-5.2.9).
type Address struct {
	Addr     string
	TON, NPI byte
}

// TLV is one optional parameter as received.
type TLV struct {
	Tag   uint16
	Value []byte
}

// Tags of the optional parameters that are read here (SMPP v3.4 §5.3.2).
const (
	TagReceiptedMessageID   uint16 = 0x001E
	TagUserMessageReference uint16 = 0x0204
	TagNetworkErrorCode     uint16 = 0x0423
	TagMessagePayload       uint16 = 0x0424
	TagMessageState         uint16 = 0x0427
)
