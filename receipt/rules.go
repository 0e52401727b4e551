package receipt

import (
	"encoding/json"
	"time"
)

// Rules are one SMSC's reading rules, a plain value. The zero value is not usable: start from
// DefaultRules.
type Rules struct {
	Detect        Detect                  `json:"detect"`
	TLVID         IDRules                 `json:"tlv_id,omitempty"`   // for receipted_message_id
	TextID        IDRules                 `json:"text_id,omitempty"`  // for the id in the text
	Timezone      string                  `json:"timezone,omitempty"` // IANA name, as Europe/Rome; "" = unknown
	AcceptedFinal bool                    `json:"accepted_final,omitempty"`
	UnknownFinal  bool                    `json:"unknown_final,omitempty"`
	Believe       Believe                 `json:"state"`
	AddressCheck  AddressCheck            `json:"address_check"`
	States        map[string]MessageState `json:"states,omitempty"` // keys upper case
	Errors        map[string]string       `json:"errors,omitempty"`

	ClientRefTLV         uint16 `json:"client_ref_tlv,omitempty"` // 0 = none
	UserMessageReference bool   `json:"user_message_reference,omitempty"`

	zone *time.Location // of Timezone, once prepared
}

// Detect says when a PDU of class 0x00 is taken for a receipt.
type Detect string

// Detect values (CONTRACT: smscs[].rules.detect).
const (
	DetectESMClass Detect = "esm_class"
	DetectTLV      Detect = "tlv"
	DetectText     Detect = "text"
)

// Believe says which state counts when TLV and text differ and one is final.
type Believe string

// Believe values (smscs[].rules.state).
const (
	BelieveAgree Believe = "agree"
	BelieveTLV   Believe = "tlv"
	BelieveText  Believe = "text"
)

// AddressCheck says what a refused address check does.
type AddressCheck string

// AddressCheck values (smscs[].rules.address_check).
const (
	AddressHold AddressCheck = "hold"
	AddressFlag AddressCheck = "flag"
	AddressOff  AddressCheck = "off"
)

// DefaultRules are the rules of an SMSC whose configuration says nothing.
func DefaultRules() Rules {
	return Rules{Detect: DetectTLV, Believe: BelieveAgree, AddressCheck: AddressHold}
}

// Prepare loads the time zone once, instead of at every Decode of a receipt with dates. Rules that
// come out of JSON are prepared. An unknown zone is left as it is: its dates are without zone, and
// Validate says so.
func (r *Rules) Prepare() {
	r.zone, _ = loadZone(r.Timezone)
}

// UnmarshalJSON reads rules as they were stored and prepares them. Keys that are missing keep what r
// holds.
func (r *Rules) UnmarshalJSON(data []byte) error {
	type plain Rules
	if err := json.Unmarshal(data, (*plain)(r)); err != nil {
		return err
	}
	r.Prepare()
	return nil
}

// location is the zone of the SMSC's dates; nil where none is configured or it is not known here.
func (r *Rules) location() *time.Location {
	if r.Timezone == "" || r.zone != nil {
		return r.zone
	}
	zone, _ := loadZone(r.Timezone)
	return zone
}

func loadZone(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	return time.LoadLocation(name)
}
