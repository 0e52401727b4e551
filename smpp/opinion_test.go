package smpp

import (
	"bytes"
	"testing"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutext"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutlv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Another codec's opinion: what we write it reads as we meant it, and what it writes we read as it meant it.

func drawMessage(t *rapid.T) *SubmitSM {
	word := func(name string, most int) string {
		return rapid.StringMatching(`[0-9A-Za-z+]*`).Filter(func(s string) bool { return len(s) <= most }).Draw(t, name)
	}
	octet := func(name string) byte { return rapid.Byte().Draw(t, name) }
	p := &SubmitSM{
		Header:             Header{SequenceNumber: rapid.Uint32Range(1, maxSequenceNumber).Draw(t, "sequence_number")},
		ServiceType:        word("service_type", 5),
		Source:             Address{octet("ton"), octet("npi"), word("source_addr", 20)},
		Dest:               Address{octet("ton"), octet("npi"), word("destination_addr", 20)},
		ESMClass:           octet("esm_class") &^ 0x40, // a UDH is part of the text to us, fields to the other
		ProtocolID:         octet("protocol_id"),
		PriorityFlag:       octet("priority_flag"),
		ValidityPeriod:     rapid.SampledFrom([]string{"", "000001000000000R"}).Draw(t, "validity_period"),
		RegisteredDelivery: octet("registered_delivery"),
		DataCoding:         octet("data_coding"),
		SMDefaultMsgID:     octet("sm_default_msg_id"),
		ShortMessage:       rapid.SliceOfN(rapid.Byte(), 0, 254).Draw(t, "short_message"),
	}
	for tag := range rapid.MapOfN(rapid.Uint16(), rapid.Just(true), 0, 4).Draw(t, "tlvs") {
		p.TLVs = append(p.TLVs, TLV{Tag: Tag(tag), Value: rapid.SliceOfN(rapid.Byte(), 1, 30).Draw(t, "value")})
	}
	return p
}

func TestOpinion_whatWeWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawMessage(t)
		octets, err := AppendSubmitSM(nil, p)
		require.NoError(t, err)
		theirs, err := pdu.Decode(bytes.NewReader(octets))
		require.NoError(t, err)
		require.Equal(t, p.SequenceNumber, theirs.Header().Seq)
		require.Equal(t, pdu.SubmitSMID, theirs.Header().ID)

		f := theirs.Fields()
		text := func(name pdufield.Name) string { return string(bytes.TrimSuffix(f[name].Bytes(), []byte{0})) }
		octet := func(name pdufield.Name) byte { return f[name].Bytes()[0] }
		require.Equal(t, p.ServiceType, text(pdufield.ServiceType))
		require.Equal(t, p.Source, Address{octet(pdufield.SourceAddrTON), octet(pdufield.SourceAddrNPI), text(pdufield.SourceAddr)})
		require.Equal(t, p.Dest, Address{octet(pdufield.DestAddrTON), octet(pdufield.DestAddrNPI), text(pdufield.DestinationAddr)})
		require.Equal(t, p.ESMClass, octet(pdufield.ESMClass))
		require.Equal(t, p.ProtocolID, octet(pdufield.ProtocolID))
		require.Equal(t, p.PriorityFlag, octet(pdufield.PriorityFlag))
		require.Equal(t, p.ValidityPeriod, text(pdufield.ValidityPeriod))
		require.Equal(t, p.RegisteredDelivery, octet(pdufield.RegisteredDelivery))
		require.Equal(t, p.DataCoding, octet(pdufield.DataCoding))
		require.Equal(t, p.SMDefaultMsgID, octet(pdufield.SMDefaultMsgID))
		require.EqualValues(t, len(p.ShortMessage), octet(pdufield.SMLength))
		require.Equal(t, p.ShortMessage, append([]byte{}, f[pdufield.ShortMessage].Bytes()...))
		require.Len(t, theirs.TLVFields(), len(p.TLVs))
		for _, v := range p.TLVs {
			require.Equal(t, v.Value, theirs.TLVFields()[pdutlv.Tag(v.Tag)].Bytes())
		}
	})
}

func TestOpinion_whatTheyWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawMessage(t)
		theirs := pdu.NewDeliverSM()
		f := theirs.Fields()
		for name, value := range map[pdufield.Name]any{
			pdufield.ServiceType: p.ServiceType, pdufield.SourceAddrTON: p.Source.TON, pdufield.SourceAddrNPI: p.Source.NPI,
			pdufield.SourceAddr: p.Source.Addr, pdufield.DestAddrTON: p.Dest.TON, pdufield.DestAddrNPI: p.Dest.NPI,
			pdufield.DestinationAddr: p.Dest.Addr, pdufield.ESMClass: p.ESMClass, pdufield.ProtocolID: p.ProtocolID,
			pdufield.PriorityFlag: p.PriorityFlag, pdufield.ValidityPeriod: p.ValidityPeriod, pdufield.RegisteredDelivery: p.RegisteredDelivery,
			pdufield.SMDefaultMsgID: p.SMDefaultMsgID, pdufield.ShortMessage: pdutext.Raw(p.ShortMessage),
		} {
			require.NoError(t, f.Set(name, value))
		}
		require.NoError(t, f.Set(pdufield.DataCoding, p.DataCoding)) // after the text, which sets its own
		for _, v := range p.TLVs {
			require.NoError(t, theirs.TLVFields().Set(pdutlv.Tag(v.Tag), v.Value))
		}
		theirs.Header().Seq = p.SequenceNumber
		var b bytes.Buffer
		require.NoError(t, theirs.SerializeTo(&b))

		var got DeliverSM
		require.NoError(t, got.Decode(b.Bytes()))
		require.ElementsMatch(t, values(p.TLVs), values(got.TLVs))
		want := DeliverSM(*p)
		want.Header = Header{uint32(b.Len()), CommandDeliverSM, StatusOK, p.SequenceNumber}
		want.ShortMessage, got.ShortMessage = append([]byte{}, want.ShortMessage...), append([]byte{}, got.ShortMessage...)
		want.TLVs, got.TLVs, got.ShortMessageOffset = nil, nil, 0
		require.Equal(t, want, got)
	})
}

// values are TLVs without where they stand.
func values(tlvs TLVs) (all []TLV) {
	for _, v := range tlvs {
		all = append(all, TLV{Tag: v.Tag, Value: v.Value})
	}
	return all
}

func TestOpinion_everyRequestThatWeMake(t *testing.T) {
	h := Header{SequenceNumber: 5}
	for _, p := range []PDU{
		&Bind{Header: Header{CommandID: CommandBindTransceiver, SequenceNumber: 5}, SystemID: "esme", Password: "secret", InterfaceVersion: 0x34},
		&QuerySM{Header: h, MessageID: "a1", Source: Address{5, 0, "ACME"}},
		&CancelSM{Header: h, MessageID: "a1", Source: Address{5, 0, "ACME"}, Dest: Address{1, 1, "393331234567"}},
		&Empty{Header: Header{CommandID: CommandEnquireLink, SequenceNumber: 5}},
		&Empty{Header: Header{CommandID: CommandUnbind, SequenceNumber: 5}},
		&Empty{Header: Header{CommandID: CommandGenericNack, CommandStatus: StatusInvCmdID, SequenceNumber: 5}},
		&DeliverSMResp{Header: h},
		&DataSMResp{Header: h},
	} {
		octets := encode(t, p)
		theirs, err := pdu.Decode(bytes.NewReader(octets))
		require.NoError(t, err)
		require.EqualValues(t, ParseHeader(octets).CommandID, theirs.Header().ID)
		require.EqualValues(t, 5, theirs.Header().Seq)
		var b bytes.Buffer
		require.NoError(t, theirs.SerializeTo(&b))
		require.Equal(t, octets, b.Bytes(), "%T", p)
	}
}

func TestOpinion_statusesAreKnownToBoth(t *testing.T) {
	for s := range statusNames {
		if s < StatusSerTypUnauth { // v3.4
			require.NotContains(t, pdu.Status(s).Error(), "unknown status", s)
		}
	}
}
