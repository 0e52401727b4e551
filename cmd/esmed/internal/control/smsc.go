package control

import (
	"time"

	"esmed/receipt"
)

// SMSC is what a submission needs of an SMSC's configuration (smscs[]).
type SMSC struct {
	Name             string
	Account          string
	InterfaceVersion byte     // below 0x34 no TLV may be sent
	OwnTLVs          []uint16 // tags that are set for every message there (client_ref_tlv and the like)

	Source  receipt.Address // when a submission names none
	DestTON byte            // of numbers in international form
	DestNPI byte
	Country string // ISO 3166 code, to read national numbers; "" = they are refused

	RegisteredDelivery byte   // the octet, when a submission names none
	DefaultAlphabet    string // what data_coding 0 means there: gsm7 | latin1 | ascii
	LongMessages       string // how a text goes that does not fit one short message: udh | sar | payload
	LongReceipts       string // which of its parts ask for a receipt: each | last | first
	DeliveryWindow     time.Duration
}
