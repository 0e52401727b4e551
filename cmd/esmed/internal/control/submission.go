package control

import (
	"encoding/json"
	"errors"
	"strconv"
)

// Submission is a message to submit, and a line of a batch. Only To (or Dest) is always needed; what is
// left out is as the SMSC's configuration says. Text and DataHex exclude each other.
type Submission struct {
	To   string `json:"to,omitempty" doc:"+ or 00 and digits: international; other digits are read in the SMSC's dest.country"`
	From string `json:"from,omitempty" doc:"Letters: 5/0; + or 00, or 7 to 15 digits of which the first is not 0: 1/1; other digits: 0/1"`
	Text string `json:"text,omitempty" doc:"Longer than one short message: split, or sent in message_payload, as the SMSC's long_messages says"`
	SMSC string `json:"smsc,omitempty"`
	Ref  string `json:"ref,omitempty" doc:"Yours; a repeat by the same owner is the same message"`

	Source *SubmissionAddress `json:"source,omitempty" doc:"Overrides from"`
	Dest   *SubmissionAddress `json:"dest,omitempty" doc:"Sent as given; addr defaults to to, and else must name the same number"`

	Validity             string `json:"validity,omitempty" doc:"A duration, RFC 3339 or SMPP time"`
	ScheduleDeliveryTime string `json:"schedule_delivery_time,omitempty" doc:"A duration, RFC 3339 or SMPP time"`

	RegisteredDelivery   RegisteredDelivery `json:"registered_delivery,omitempty"`
	Alphabet             string             `json:"alphabet,omitempty" doc:"gsm7, latin1, ascii or ucs2; the smallest that holds the text when left out"`
	DataCoding           *int               `json:"data_coding,omitempty" minimum:"0" maximum:"255" doc:"Sent as given; chooses the alphabet that it announces"`
	DataHex              string             `json:"data_hex,omitempty" doc:"The message's octets, in place of text; never split"`
	UDHHex               string             `json:"udh_hex,omitempty" doc:"A user data header, with its length octet"`
	ServiceType          string             `json:"service_type,omitempty"`
	ProtocolID           int                `json:"protocol_id,omitempty" minimum:"0" maximum:"255"`
	PriorityFlag         int                `json:"priority_flag,omitempty" minimum:"0" maximum:"3"`
	ReplaceIfPresentFlag int                `json:"replace_if_present_flag,omitempty" minimum:"0" maximum:"1"`
	TLVs                 []SubmissionTLV    `json:"tlvs,omitempty"`
	InDoubt              string             `json:"in_doubt,omitempty" enum:"hold,resend"`
	CallbackURL          string             `json:"callback_url,omitempty"`
}

// SubmissionAddress is an address with what it is to be sent as.
type SubmissionAddress struct {
	Addr string `json:"addr,omitempty"`
	TON  int    `json:"ton" minimum:"0" maximum:"255"`
	NPI  int    `json:"npi" minimum:"0" maximum:"255"`
}

// SubmissionTLV is an optional parameter to send as it is.
type SubmissionTLV struct {
	Tag int    `json:"tag" minimum:"1" maximum:"65535"`
	Hex string `json:"hex"`
}

// RegisteredDelivery is the receipt asked for: final, failure or none, or the octet in decimal, which
// is a number in JSON. "" leaves it to the SMSC's configuration.
type RegisteredDelivery string

// MarshalJSON writes an octet as a number.
func (r RegisteredDelivery) MarshalJSON() ([]byte, error) {
	if n, err := strconv.ParseUint(string(r), 10, 8); err == nil {
		return strconv.AppendUint(nil, n, 10), nil
	}
	return json.Marshal(string(r))
}

// UnmarshalJSON reads a word, or an octet from a number.
func (r *RegisteredDelivery) UnmarshalJSON(b []byte) error {
	var octet uint8
	if json.Unmarshal(b, &octet) == nil && string(b) != "null" {
		*r = RegisteredDelivery(strconv.Itoa(int(octet)))
		return nil
	}
	var word string
	if err := json.Unmarshal(b, &word); err != nil {
		return errors.New("registered_delivery must be final, failure, none or the octet")
	}
	*r = RegisteredDelivery(word)
	return nil
}
