package capture

import (
	"esmed/receipt"
	"esmed/smpp/text"
	"esmed/statemachine"
)

// Rules are what PDUs are read and judged under.
type Rules struct {
	// SMSC is whose rules they are. Of a capture, every server that an ESME talks to is a message centre and an
	// account of its own under these rules, unless SMSC.SMSC names one: then all are that one.
	SMSC     statemachine.SMSCRules
	Alphabet text.Alphabet // what data_coding 0 means there
	// Decode takes a delivered PDU apart, as the daemon does.
	Decode func(pdu []byte) receipt.Delivery
}

// NewRules are the rules of an SMSC; alphabet is its default_alphabet.
func NewRules(smsc statemachine.SMSCRules, alphabet string, decode func(pdu []byte) receipt.Delivery) *Rules {
	return &Rules{SMSC: smsc, Alphabet: text.Alphabet(alphabet), Decode: decode}
}

// named is the rules under a name of their own.
func (r *Rules) named(smsc string) statemachine.SMSCRules {
	s := r.SMSC
	if s.SMSC == "" {
		s.SMSC, s.Account = smsc, smsc
	}
	return s
}
