package smpptest

import (
	"slices"
	"time"

	"esmed/smpp"
)

// Submit is a submit_sm as it came (SMPP v3.4 §4.4.1).
type Submit struct {
	N              uint64 // 1 for the first submit_sm that this server saw
	Conn           int    // number of the connection, from 1
	SequenceNumber uint32
	At             time.Time // when it was read
	MessageID      string    // the id it was given, or is about to be given; "" when refused

	ServiceType        string
	Source, Dest       Address
	ESMClass           byte
	ProtocolID         byte
	PriorityFlag       byte
	ScheduleTime       string
	ValidityPeriod     string
	RegisteredDelivery byte
	ReplaceIfPresent   byte
	DataCoding         byte
	DefaultMsgID       byte
	ShortMessage       []byte // valid until OnSubmit returns; Server.Submits has copies
	TLVs               []TLV  // likewise

	number  uint64 // what MessageID was written from; 0 when refused
	written string // MessageID as it was written from number, before anybody changed it
}

func parseSubmit(octets []byte) (Submit, error) {
	b := body{rest: octets}
	s := Submit{ServiceType: b.cstring(), Source: b.address(), Dest: b.address(), ESMClass: b.octet()}
	s.ProtocolID, s.PriorityFlag = b.octet(), b.octet()
	s.ScheduleTime, s.ValidityPeriod = b.cstring(), b.cstring()
	s.RegisteredDelivery, s.ReplaceIfPresent, s.DataCoding, s.DefaultMsgID = b.octet(), b.octet(), b.octet(), b.octet()
	s.ShortMessage = b.octets(int(b.octet()))
	if b.bad {
		return s, errBody
	}
	s.TLVs = b.tlvs()
	return s, nil
}

// text is the message's text as submitted, undecoded: short_message or message_payload.
func (s *Submit) text() []byte {
	if v, ok := s.tlv(smpp.TagMessagePayload); ok && len(s.ShortMessage) == 0 {
		return v
	}
	return s.ShortMessage
}

func (s *Submit) tlv(tag smpp.Tag) ([]byte, bool) {
	for _, t := range s.TLVs {
		if t.Tag == tag {
			return t.Value, true
		}
	}
	return nil, false
}

// wantsReceipt reads registered_delivery (SMPP v3.4 §5.2.17, v5.0 §4.7.21) for an outcome.
func (s *Submit) wantsReceipt(delivered bool) bool {
	switch s.RegisteredDelivery & 3 {
	case 1:
		return true
	case 2:
		return !delivered
	case 3:
		return delivered
	default:
		return false
	}
}

// clone is a copy that shares no octets with the connection's buffer.
func (s Submit) clone() Submit {
	s.ShortMessage = slices.Clone(s.ShortMessage)
	s.TLVs = slices.Clone(s.TLVs)
	for i := range s.TLVs {
		s.TLVs[i].Value = slices.Clone(s.TLVs[i].Value)
	}
	return s
}
