package smpp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestViews_readWhatDecodeReads(t *testing.T) {
	for name, pdu := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			p, err := Decode(pdu)
			requireSameInPlace(t, pdu, p, err)
		})
	}
}

// requireSameInPlace holds a view to what Decode made of the same PDU.
func requireSameInPlace(t *testing.T, pdu []byte, p PDU, err error) {
	t.Helper()
	switch p := p.(type) {
	case *SubmitSM:
		var v SubmitSMView
		require.Equal(t, err, v.Decode(pdu))
		require.Equal(t, *p, SubmitSM(standing(SM[[]byte](v))))
	case *DeliverSM:
		var v DeliverSMView
		require.Equal(t, err, v.Decode(pdu))
		require.Equal(t, *p, DeliverSM(standing(SM[[]byte](v))))
	case *SubmitSMResp:
		var v SubmitSMRespView
		require.Equal(t, err, v.Decode(pdu))
		require.Equal(t, *p, SubmitSMResp{Header: v.Header, MessageID: string(v.MessageID), TLVs: v.TLVs, Notes: v.Notes})
	}
}

// standing is what a view shows, in strings.
func standing(v SM[[]byte]) SM[string] {
	address := func(a SMEAddress[[]byte]) Address { return Address{a.TON, a.NPI, string(a.Addr)} }
	return SM[string]{
		Header: v.Header, ServiceType: string(v.ServiceType), Source: address(v.Source), Dest: address(v.Dest),
		ESMClass: v.ESMClass, ProtocolID: v.ProtocolID, PriorityFlag: v.PriorityFlag,
		ScheduleDeliveryTime: string(v.ScheduleDeliveryTime), ValidityPeriod: string(v.ValidityPeriod),
		RegisteredDelivery: v.RegisteredDelivery, ReplaceIfPresentFlag: v.ReplaceIfPresentFlag,
		DataCoding: v.DataCoding, SMDefaultMsgID: v.SMDefaultMsgID,
		ShortMessage: v.ShortMessage, ShortMessageOffset: v.ShortMessageOffset, TLVs: v.TLVs, Notes: v.Notes,
	}
}

func TestView_doesNotOutliveItsLastPDU(t *testing.T) {
	first := deliverSM(1, "id:1")
	first.TLVs = TLVs{{Tag: TagMessageState, Value: []byte{2}}, {Tag: TagUserMessageReference, Value: []byte{0, 1}}}
	var v DeliverSMView
	require.NoError(t, v.Decode(encode(t, first)))
	require.Len(t, v.TLVs, 2)
	pdu := encode(t, &DeliverSM{Header: Header{SequenceNumber: 2}})
	require.NoError(t, v.Decode(pdu))
	require.Empty(t, v.TLVs)
	require.Empty(t, v.ShortMessage)
	require.Empty(t, v.Source.Addr)
	require.ErrorIs(t, v.Decode(pdu[:10]), ErrFraming)
	require.Equal(t, DeliverSMView{TLVs: TLVs{}}, v)
}

func TestCodec_doesNotAllocate(t *testing.T) {
	sm := SM[string]{
		Source: Address{5, 0, "ACME"}, Dest: Address{1, 1, "393331234567"}, ESMClass: 4,
		ShortMessage: []byte("id:5A3C99F1 sub:001 dlvrd:001 submit date:2611301200 done date:2611301204 stat:DELIVRD err:000 text:Your code is"),
		TLVs:         TLVs{{Tag: TagReceiptedMessageID, Value: []byte("5A3C99F1\x00")}, {Tag: TagMessageState, Value: []byte{2}}},
	}
	submit, deliver := (*SubmitSM)(&sm), (*DeliverSM)(&sm)
	submitResp := &SubmitSMResp{MessageID: "0194b2f0-7c1e-7a52-9d3f-1b2c3d4e5f60-and-more"} // longer than a buffer on the stack
	deliverResp := &DeliverSMResp{}
	enquire := &Empty{Header: Header{CommandID: CommandEnquireLink}}
	var (
		submitView  SubmitSMView
		deliverView DeliverSMView
		respView    SubmitSMRespView
		ack         DeliverSMResp
		empty       Empty
	)
	for _, tt := range []struct {
		name string
		p    PDU
		read func(pdu []byte) error
	}{
		{"submit_sm", submit, submitView.Decode},
		{"submit_sm_resp", submitResp, respView.Decode},
		{"deliver_sm", deliver, deliverView.Decode},
		{"deliver_sm_resp", deliverResp, ack.Decode},
		{"enquire_link", enquire, empty.Decode},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pdu := encode(t, tt.p)
			dst := make([]byte, 0, 2*len(pdu))
			var err error
			require.Zero(t, testing.AllocsPerRun(100, func() { dst, err = Append(dst[:0], tt.p) }), "to write")
			require.NoError(t, err)
			require.Equal(t, pdu, dst)
			require.Zero(t, testing.AllocsPerRun(100, func() { err = tt.read(pdu) }), "to read")
			require.NoError(t, err)
		})
	}
	dst := make([]byte, 0, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = AppendSubmitSM(dst, &SubmitSM{Dest: Address{1, 1, "393331234567"}}) }), "nor for the struct")
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = AppendResponse(dst, CommandDeliverSM, StatusOK, 7) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = AppendResponse(dst, CommandEnquireLink, StatusOK, 7) }))
}
