package smpptest_test

import (
	"testing"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutlv"
	"github.com/stretchr/testify/require"

	"esmed/smpp/smpptest"
)

func drained(t *testing.T, s *smpptest.Server) {
	t.Helper()
	await(t, s, func(st smpptest.Stats) bool { return st.Pending == 0 })
}

func TestServer_a_whole_life_behaves_as_SMPP_says(t *testing.T) {
	s := start(t, smpptest.Config{IDs: smpptest.IDs{First: 26}})
	e := bound(t, s)
	seq := e.submit("393331234567")
	resp := e.want(pdu.SubmitSMRespID)
	require.Equal(t, seq, resp.seq)
	require.Equal(t, "1a", resp.messageID())

	got := e.want(pdu.DeliverSMID)
	p := got.decoded(t)
	require.Equal(t, "393331234567", p.Fields()[pdufield.SourceAddr].String())
	require.Equal(t, "15550100", p.Fields()[pdufield.DestinationAddr].String())
	require.Equal(t, byte(4), p.Fields()[pdufield.ESMClass].Bytes()[0])
	require.Regexp(t, `^id:1a sub:001 dlvrd:001 submit date:\d{12} done date:\d{12} stat:DELIVRD err:000 text:Parcel at desk four$`, p.Fields()[pdufield.ShortMessage].String())
	require.Equal(t, []byte("1a\x00"), p.TLVFields()[pdutlv.TagReceiptedMessageID].Bytes())
	require.Equal(t, []byte{2}, p.TLVFields()[pdutlv.TagMessageStateOption].Bytes())
	e.ack(got, 0)
	drained(t, s)

	st := s.Stats()
	require.Equal(t, uint64(1), st.Submits)
	require.Equal(t, uint64(1), st.Acked)
	require.NoError(t, s.Close())
	var types []smpptest.LineType
	for _, l := range s.Truth() {
		types = append(types, l.Type)
	}
	require.Equal(t, []smpptest.LineType{"link", "link", "submit", "response", "delivery", "ack", "link", "end"}, types)
}
