package daemon

import (
	"esmed/receipt"
	"esmed/smpp"
)

// DecodePDU takes a PDU that an SMSC delivered (header included) apart into what receipts are read
// from. It fits store.Config.Decode. A body that cannot be taken apart, or was kept only in part, makes
// a Delivery that is Broken; so does a command that delivers nothing. The Delivery's octets are pdu's.
func DecodePDU(pdu []byte) receipt.Delivery {
	var room [usualTLVs]smpp.TLV
	sm := smpp.DeliverSMView{TLVs: room[:0]}
	d := delivery(pdu, &sm)
	if d.Broken {
		return d
	}
	d.Source, d.Dest = addressOf(sm.Source), addressOf(sm.Dest)
	if len(sm.TLVs) > 0 {
		d.TLVs = appendDelivered(make([]receipt.TLV, 0, len(sm.TLVs)), sm.TLVs)
	}
	return d
}

// usualTLVs is how many optional parameters a delivery has at most, as a rule: there is room for them at once.
const usualTLVs = 4

// delivery takes pdu apart in sm, which it overwrites. What it gives lacks addresses and TLVs: they are in sm.
func delivery(pdu []byte, sm *smpp.DeliverSMView) receipt.Delivery {
	d := receipt.Delivery{Broken: true}
	if len(pdu) < smpp.HeaderLen {
		return d
	}
	id := smpp.ParseHeader(pdu).CommandID
	d.CommandID, d.Raw = uint32(id), pdu[smpp.HeaderLen:]
	switch id {
	case smpp.CommandDeliverSM:
		d.Broken = sm.Decode(pdu) != nil
	case smpp.CommandDataSM:
		d.Broken = decodeData(pdu, sm) != nil
	}
	if d.Broken {
		return d
	}
	d.ESMClass, d.DataCoding, d.ShortMessage, d.Notes = sm.ESMClass, sm.DataCoding, sm.ShortMessage, sm.Notes
	return d
}

// decodeData reads a data_sm as the deliver_sm that would say the same.
func decodeData(pdu []byte, sm *smpp.DeliverSMView) error {
	var p smpp.DataSM
	err := p.Decode(pdu)
	inPlace := func(a smpp.Address) smpp.SMEAddress[[]byte] {
		return smpp.SMEAddress[[]byte]{TON: a.TON, NPI: a.NPI, Addr: []byte(a.Addr)}
	}
	*sm = smpp.DeliverSMView{
		Header: p.Header, Source: inPlace(p.Source), Dest: inPlace(p.Dest), ESMClass: p.ESMClass, DataCoding: p.DataCoding,
		TLVs: p.TLVs, Notes: p.Notes,
	}
	return err
}

func addressOf(a smpp.SMEAddress[[]byte]) receipt.Address {
	return receipt.Address{Addr: string(a.Addr), TON: a.TON, NPI: a.NPI}
}

func appendDelivered(to []receipt.TLV, tlvs smpp.TLVs) []receipt.TLV {
	for _, t := range tlvs {
		to = append(to, receipt.TLV{Tag: uint16(t.Tag), Value: t.Value})
	}
	return to
}
