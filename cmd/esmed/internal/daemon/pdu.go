package daemon

import (
	"esmed/receipt"
	"esmed/smpp"
)

// DecodePDU takes a PDU that an SMSC delivered (header included) apart into what receipts are read
// from. It fits store.Config.Decode. A body that cannot be taken apart, or was kept only in part, makes
// a Delivery that is Broken; so does a command that delivers nothing. The Delivery's octets are pdu's.
func DecodePDU(pdu []byte) receipt.Delivery {
	d, _ := delivery(pdu)
	return d
}

// offsets say where the parts of a delivery stand in its PDU.
type offsets struct {
	shortMessage int
	tlvs         []int
}

func delivery(pdu []byte) (receipt.Delivery, offsets) {
	d := receipt.Delivery{Broken: true}
	if len(pdu) < smpp.HeaderLen {
		return d, offsets{}
	}
	d.CommandID, d.Raw = uint32(smpp.ParseHeader(pdu).CommandID), pdu[smpp.HeaderLen:]
	decoded, err := smpp.Decode(pdu)
	if err != nil {
		return d, offsets{}
	}
	switch p := decoded.(type) {
	case *smpp.DeliverSM:
		d.ESMClass, d.DataCoding, d.ShortMessage, d.Notes = p.ESMClass, p.DataCoding, p.ShortMessage, p.Notes
		return withTLVs(d, p.Source, p.Dest, p.TLVs, p.ShortMessageOffset)
	case *smpp.DataSM:
		d.ESMClass, d.DataCoding, d.Notes = p.ESMClass, p.DataCoding, p.Notes
		return withTLVs(d, p.Source, p.Dest, p.TLVs, 0)
	}
	return d, offsets{}
}

func withTLVs(d receipt.Delivery, source, dest smpp.Address, tlvs smpp.TLVs, shortMessage int) (receipt.Delivery, offsets) {
	o := offsets{shortMessage: shortMessage}
	d.Broken = false
	d.Source = receipt.Address{Addr: source.Addr, TON: source.TON, NPI: source.NPI}
	d.Dest = receipt.Address{Addr: dest.Addr, TON: dest.TON, NPI: dest.NPI}
	if len(tlvs) > 0 {
		d.TLVs, o.tlvs = make([]receipt.TLV, len(tlvs)), make([]int, len(tlvs))
	}
	for i, t := range tlvs {
		d.TLVs[i], o.tlvs[i] = receipt.TLV{Tag: uint16(t.Tag), Value: t.Value}, t.Offset
	}
	return d, o
}
