package config

import (
	"strings"

	"esmed/receipt"
)

// ReceiptRules are the SMSC's reading rules as package receipt takes them, prepared. Only those of a
// valid configuration can be used.
func (s *SMSC) ReceiptRules() receipt.Rules {
	r := receipt.Rules{
		Detect:        receipt.Detect(s.Rules.Detect),
		TLVID:         s.Rules.MessageID.TLV,
		TextID:        s.Rules.MessageID.Text,
		Timezone:      s.Rules.Timezone,
		AcceptedFinal: s.Rules.Accepted == "final",
		UnknownFinal:  s.Rules.Unknown == "final",
		Believe:       receipt.Believe(s.Rules.State),
		AddressCheck:  receipt.AddressCheck(s.Rules.AddressCheck),
		Errors:        s.Rules.Errors,

		ClientRefTLV:         s.ClientRefTLV,
		UserMessageReference: s.UserMessageReference,
	}
	if len(s.Rules.States) > 0 {
		r.States = make(map[string]receipt.MessageState, len(s.Rules.States))
		for word, state := range s.Rules.States {
			r.States[strings.ToUpper(word)], _ = receipt.ParseMessageState(state)
		}
	}
	r.Prepare()
	return r
}
