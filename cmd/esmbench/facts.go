package main

import (
	"encoding/binary"
	"fmt"
	"time"

	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// sender is what messages come from, an alphanumeric address.
var sender = smpp.Address{TON: 5, Addr: "ACME"}

func address(a smpp.Address) receipt.Address {
	return receipt.Address{TON: a.TON, NPI: a.NPI, Addr: a.Addr}
}

func (l *life) text() []byte {
	return fmt.Appendf(nil, "Your code is %06d. It is good for ten minutes, do not give it to anybody.", l.number%1_000_000)
}

func (l *life) destination() smpp.Address { return smpp.Address{TON: 1, NPI: 1, Addr: l.dest} }

func (p *player) accepted(l *life) *statemachine.MessageAccepted {
	var hash [32]byte
	for i := 0; i < len(hash); i += 8 {
		binary.LittleEndian.PutUint64(hash[i:], p.random.Uint64())
	}
	return &statemachine.MessageAccepted{
		Message: l.id, SMSC: p.smsc, Account: p.smsc, Owner: "uid:0", Ref: fmt.Sprintf("fill-%d", l.number), RequestHash: hash[:],
		To: "+" + l.dest, E164: "+" + l.dest,
		Source: address(sender), Dest: address(l.destination()),
		RegisteredDelivery: 1, ValidUntil: l.at.Add(deliveryWindow),
		Parts: []statemachine.PartContent{{ShortMessage: l.text()}},
	}
}

func (p *player) session() string { return p.smsc + "/1" }

func (p *player) sent(l *life) *statemachine.Sent {
	pdu := &smpp.SubmitSM{
		Header: smpp.Header{SequenceNumber: l.sequenceNumber()}, Source: sender, Dest: l.destination(),
		RegisteredDelivery: 1, ShortMessage: l.text(),
	}
	return &statemachine.Sent{
		Message: l.id, Part: 1, Attempt: 1, SMSC: p.smsc, Session: p.session(), SequenceNumber: pdu.SequenceNumber, PDU: encode(pdu),
	}
}

func (p *player) submitResp(l *life) *statemachine.SubmitResp {
	pdu := &smpp.SubmitSMResp{Header: smpp.Header{SequenceNumber: l.sequenceNumber()}, MessageID: l.external}
	return &statemachine.SubmitResp{
		Message: l.id, Part: 1, Attempt: 1, SMSC: p.smsc, Session: p.session(), SequenceNumber: pdu.SequenceNumber,
		PDU: encode(pdu), MessageID: l.external,
	}
}

// sequenceNumber keeps to SMPP's range (v3.4 §3.2).
func (l *life) sequenceNumber() uint32 { return uint32(l.number%0x7FFFFFFE) + 1 }

// outcomes are the words of receipts with their message_state, err and dlvrd.
var outcomes = [...]struct {
	word, code, delivered string
	state                 byte
}{
	{"DELIVRD", "000", "001", 2}, {"UNDELIV", "001", "000", 5}, {"EXPIRED", "001", "000", 3},
}

func (p *player) reception(l *life) *statemachine.Reception {
	outcome := outcomes[0]
	if l.number%32 == 0 {
		outcome = outcomes[1+l.number/32%2]
	}
	const minutes = "0601021504"
	done := time.Unix(0, p.clock.Load()).UTC()
	pdu := &smpp.DeliverSM{
		Header: smpp.Header{SequenceNumber: l.sequenceNumber()}, Source: l.destination(), Dest: sender, ESMClass: 4,
		ShortMessage: fmt.Appendf(nil, "id:%s sub:001 dlvrd:%s submit date:%s done date:%s stat:%s err:%s text:%.20s",
			l.external, outcome.delivered, l.at.UTC().Format(minutes), done.Format(minutes), outcome.word, outcome.code, l.text()),
		TLVs: smpp.TLVs{
			{Tag: smpp.TagReceiptedMessageID, Value: append([]byte(l.external), 0)},
			{Tag: smpp.TagMessageState, Value: []byte{outcome.state}},
		},
	}
	octets := encode(pdu)
	return &statemachine.Reception{SMSC: p.smsc, Account: p.smsc, Session: p.session(), PDU: octets, Length: uint32(len(octets))}
}

// encode encodes what is known to fit.
func encode(pdu smpp.PDU) []byte {
	octets, err := smpp.Append(nil, pdu)
	if err != nil {
		panic(err)
	}
	return octets
}

// decodePDU takes a receipt of fill's apart, as the daemon does.
func decodePDU(pdu []byte) receipt.Delivery {
	decoded, err := smpp.Decode(pdu)
	d, ok := decoded.(*smpp.DeliverSM)
	if err != nil || !ok {
		return receipt.Delivery{Broken: true}
	}
	delivery := receipt.Delivery{
		CommandID: uint32(smpp.CommandDeliverSM), ESMClass: d.ESMClass, DataCoding: d.DataCoding, ShortMessage: d.ShortMessage,
		Source: address(d.Source), Dest: address(d.Dest), Raw: pdu[smpp.HeaderLen:],
	}
	for _, t := range d.TLVs {
		delivery.TLVs = append(delivery.TLVs, receipt.TLV{Tag: uint16(t.Tag), Value: t.Value})
	}
	return delivery
}

// textSpans are the texts of fill's PDUs, as the daemon finds them.
func textSpans(pdu []byte, rules *receipt.Rules) (spans []store.Span) {
	decoded, err := smpp.Decode(pdu)
	if err != nil {
		return []store.Span{{Start: smpp.HeaderLen, End: len(pdu)}}
	}
	switch d := decoded.(type) {
	case *smpp.SubmitSM:
		spans = append(spans, store.Span{Start: d.ShortMessageOffset, End: d.ShortMessageOffset + len(d.ShortMessage)})
	case *smpp.DeliverSM:
		for _, s := range receipt.TextSpans(decodePDU(pdu), rules) { // none are in the TLVs, which are ids and states
			spans = append(spans, store.Span{Start: d.ShortMessageOffset + s.Start, End: d.ShortMessageOffset + s.End})
		}
	}
	return spans
}
