package capture

import (
	"encoding/binary"
	"fmt"
	"strings"

	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
)

// submitted is what of a submit_sm or data_sm matters to its message.
type submitted struct {
	source, dest       smpp.Address
	class              byte
	registeredDelivery byte
	body               []byte
	tlvs               smpp.TLVs
}

// submittedBy takes a submit apart as far as it can be.
func submittedBy(p *PDU) submitted {
	switch q := decoded(p).(type) {
	case *smpp.SubmitSM:
		return submitted{q.Source, q.Dest, q.ESMClass, q.RegisteredDelivery, q.ShortMessage, q.TLVs}
	case *smpp.DataSM:
		return submitted{q.Source, q.Dest, q.ESMClass, q.RegisteredDelivery, nil, q.TLVs}
	}
	return submitted{}
}

// partKey finds the message that a part belongs to: parts of one have its reference and both addresses in common.
type partKey struct {
	conn         *conn
	source, dest string
	reference    uint16
	sar          bool
	total        int
}

// part says which part of a message a submit carries, if it says so: by a user data header (3GPP TS 23.040
// §9.2.3.24) or by TLVs (SMPP v3.4 §5.3.2.22-24). number is 0 when it is a whole message.
func (s *submitted) part(c *conn) (key partKey, number int) {
	key = partKey{conn: c, source: s.source.Addr, dest: s.dest.Addr}
	body := s.body
	if t, ok := s.tlvs.Find(smpp.TagMessagePayload); ok && len(body) == 0 {
		body = t.Value
	}
	if s.class&udhi != 0 && len(body) > 0 && int(body[0]) < len(body) {
		key.reference, key.total, number = headerPart(body[1 : 1+int(body[0])])
	} else {
		key.reference, key.total, number = s.sarPart()
		key.sar = true
	}
	if number < 1 || number > key.total {
		return partKey{}, 0
	}
	return key, number
}

// headerPart finds the element of a user data header that joins parts.
func headerPart(elements []byte) (reference uint16, total, number int) {
	for len(elements) >= 2 && 2+int(elements[1]) <= len(elements) {
		data := elements[2 : 2+int(elements[1])]
		switch {
		case elements[0] == 0x00 && len(data) == 3:
			return uint16(data[0]), int(data[1]), int(data[2])
		case elements[0] == 0x08 && len(data) == 4:
			return binary.BigEndian.Uint16(data), int(data[2]), int(data[3])
		}
		elements = elements[2+len(data):]
	}
	return 0, 0, 0
}

func (s *submitted) sarPart() (reference uint16, total, number int) {
	ref, ok1 := s.tlvs.Find(smpp.TagSARMsgRefNum)
	of, ok2 := s.tlvs.Find(smpp.TagSARTotalSegments)
	nr, ok3 := s.tlvs.Find(smpp.TagSARSegmentSeqNum)
	if !ok1 || !ok2 || !ok3 || len(ref.Value) != 2 || len(of.Value) != 1 || len(nr.Value) != 1 {
		return 0, 0, 0
	}
	return binary.BigEndian.Uint16(ref.Value), int(of.Value[0]), int(nr.Value[0])
}

// submit takes a submit_sm or data_sm: a message of its own, a part of one that is known, or that part once more
// after it was refused.
func (b *Book) submit(p *PDU) error {
	s := submittedBy(p)
	key, number := s.part(p.conn)
	if number > 0 {
		if ref, ok := b.next(key, number); ok {
			return b.sent(p, &s, ref)
		}
	}
	id := b.id(p, &s)
	parts := max(key.total, 1)
	smsc := b.smsc(p.conn)
	err := b.record(&statemachine.MessageAccepted{
		Message: id, SMSC: smsc.SMSC, Account: smsc.Account, To: s.dest.Addr, Source: address(s.source), Dest: address(s.dest),
		RegisteredDelivery: s.registeredDelivery, Parts: make([]statemachine.PartContent, parts),
	})
	if err != nil {
		return err
	}
	b.stories[id] = newStory(p, smsc.SMSC, &s, parts)
	b.order = append(b.order, id)
	if number > 0 {
		b.parts[key] = id
	}
	return b.sent(p, &s, statemachine.AttemptRef{Message: id, Part: max(number, 1), Attempt: 1})
}

// next is the attempt that a further part makes of the message that key finds; false when it belongs to another
// message, whose reference was used again: the part was sent before, and not refused.
func (b *Book) next(key partKey, number int) (statemachine.AttemptRef, bool) {
	id, ok := b.parts[key]
	if !ok || b.mem.Messages[id] == nil {
		return statemachine.AttemptRef{}, false
	}
	part := b.mem.Messages[id].Part(number)
	for i := range part.Attempts {
		if o := part.Attempts[i].Outcome; o != statemachine.RefusedPerm && o != statemachine.RefusedTemp {
			return statemachine.AttemptRef{}, false
		}
	}
	return statemachine.AttemptRef{Message: id, Part: number, Attempt: len(part.Attempts) + 1}, true
}

// sent records that an attempt left.
func (b *Book) sent(p *PDU, s *submitted, ref statemachine.AttemptRef) error {
	h := p.Header()
	sent := &statemachine.Sent{
		Message: ref.Message, Part: ref.Part, Attempt: ref.Attempt, SMSC: b.smsc(p.conn).SMSC, Session: p.From.String(),
		SequenceNumber: h.SequenceNumber,
	}
	if t, ok := s.tlvs.Find(smpp.TagUserMessageReference); ok && len(t.Value) == 2 {
		sent.UserMessageReference = binary.BigEndian.Uint16(t.Value)
	}
	if err := b.record(sent); err != nil {
		return err
	}
	b.asked[p.Number] = asked{ref, h.CommandID}
	if story := b.stories[ref.Message]; story != nil {
		story.submitted(ref, Submit{PDU: p.Number, At: p.At, Session: p.From.String(), SequenceNumber: h.SequenceNumber})
	}
	return nil
}

// id is the message's: that which the ESME sends along, where it does so for the SMSC to echo it, else a number.
func (b *Book) id(p *PDU, s *submitted) statemachine.ID {
	if tag := b.rules.SMSC.Receipt.ClientRefTLV; tag != 0 {
		if t, ok := s.tlvs.Find(smpp.Tag(tag)); ok {
			ref, _, _ := strings.Cut(string(t.Value), "/")
			if id := statemachine.ID(strings.TrimRight(ref, "\x00")); id != "" && b.mem.Messages[id] == nil {
				return id
			}
		}
	}
	return statemachine.ID(fmt.Sprintf("%026d", p.Number))
}

func address(a smpp.Address) receipt.Address {
	return receipt.Address{Addr: a.Addr, TON: a.TON, NPI: a.NPI}
}
