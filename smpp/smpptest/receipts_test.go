package smpptest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutlv"
	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

func TestReceipts_ids_are_written_in_the_form_of_each_place(t *testing.T) {
	tests := []struct {
		name                string
		ids                 smpptest.IDs
		response, tlv, text string
	}{
		{"hex everywhere", smpptest.IDs{First: 0xAB}, "ab", "ab\x00", "id:ab "},
		{"hex in response and TLV, decimal in text", smpptest.IDs{First: 26, Text: smpptest.Decimal}, "1a", "1a\x00", "id:26 "},
		{"padded in the response, bare in receipts", smpptest.IDs{First: 26, Response: smpptest.DecimalPadded, TLV: smpptest.Decimal, Text: smpptest.Decimal}, "0000000026", "26\x00", "id:26 "},
		{"another case", smpptest.IDs{First: 0xAB, Response: smpptest.HexUpper, TLV: smpptest.Hex, Text: smpptest.HexPadded}, "AB", "ab\x00", "id:00000000ab "},
		{"no id in the text", smpptest.IDs{First: 7, Text: smpptest.NoID}, "7", "7\x00", "sub:001 "},
		{"no id in the TLVs", smpptest.IDs{First: 7, TLV: smpptest.NoID}, "7", "", "id:7 "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, smpptest.Config{IDs: tt.ids})
			e := bound(t, s)
			e.submit("393331234567")
			require.Equal(t, tt.response, e.want(pdu.SubmitSMRespID).messageID())
			got := e.acked(pdu.DeliverSMID)
			require.Equal(t, tt.tlv, string(got.tlv(t, pdutlv.TagReceiptedMessageID)))
			require.Equal(t, tt.text, got.text(t)[:len(tt.text)])
			sent := lines(s, smpptest.LineDelivery)[0]
			require.Equal(t, tt.response, lines(s, smpptest.LineSubmit)[0].MessageID)
			require.Equal(t, len(tt.tlv) > 0, sent.TLVID != "")
		})
	}
}

func TestReceipts_UUIDs_are_distinct_and_follow_from_the_seed(t *testing.T) {
	ids := func(seed uint64) (out []string) {
		s := start(t, smpptest.Config{Seed: seed, IDs: smpptest.IDs{Response: smpptest.UUID}})
		e := bound(t, s)
		for range 3 {
			e.submit("393331234567")
			out = append(out, e.want(pdu.SubmitSMRespID).messageID())
			e.acked(pdu.DeliverSMID)
		}
		return out
	}
	first := ids(1)
	require.Equal(t, first, ids(1))
	require.NotEqual(t, first, ids(2))
	require.NotEqual(t, first[0], first[1])
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, first[0])
}

func TestReceipts_carry_text_TLVs_or_both_in_deliver_sm_or_data_sm(t *testing.T) {
	tests := []struct {
		name      string
		receipts  smpptest.Receipts
		id        pdu.ID
		text, tlv bool
	}{
		{"text", smpptest.Receipts{Form: smpptest.TextOnly}, pdu.DeliverSMID, true, false},
		{"TLVs", smpptest.Receipts{Form: smpptest.TLVOnly}, pdu.DeliverSMID, false, true},
		{"both", smpptest.Receipts{}, pdu.DeliverSMID, true, true},
		{"data_sm with both", smpptest.Receipts{DataSM: 1}, pdu.DataSMID, true, true},
		{"data_sm with TLVs", smpptest.Receipts{DataSM: 1, Form: smpptest.TLVOnly}, pdu.DataSMID, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, smpptest.Config{Receipts: tt.receipts})
			e := bound(t, s)
			e.submit("393331234567")
			e.want(pdu.SubmitSMRespID)
			got := e.acked(tt.id)
			require.Equal(t, smpptest.ClassReceipt, got.class(t))
			require.Equal(t, tt.tlv, got.tlv(t, pdutlv.TagReceiptedMessageID) != nil)
			if tt.id == pdu.DeliverSMID || tt.text {
				require.Equal(t, tt.text, len(got.text(t)) > 0)
			}
			drained(t, s)
			require.Equal(t, smpp.CommandID(tt.id), lines(s, smpptest.LineDelivery)[0].Command)
		})
	}
}

func TestReceipts_before_the_response(t *testing.T) {
	s := start(t, smpptest.Config{Receipts: smpptest.Receipts{BeforeResponse: 1, Duplicates: 1}})
	e := bound(t, s)
	e.submit("393331234567")
	e.acked(pdu.DeliverSMID)
	e.want(pdu.SubmitSMRespID)
	e.acked(pdu.DeliverSMID)
	drained(t, s)
	require.Equal(t, []smpptest.Kind{smpptest.Final, smpptest.Duplicate}, kinds(s))
}

func TestReceipts_everything_that_may_come_about_one_message(t *testing.T) {
	s := start(t, smpptest.Config{Receipts: smpptest.Receipts{Intermediate: 1, IntermediateAfter: 1, Duplicates: 1, Copies: 2, Contradictions: 1, Unknown: 1}})
	e := bound(t, s)
	e.submit("393331234567")
	require.Equal(t, "1", e.want(pdu.SubmitSMRespID).messageID())
	want := []struct {
		class byte
		state byte
		kind  smpptest.Kind
	}{
		{0x20, 1, smpptest.Intermediate}, {0x04, 2, smpptest.Final}, {0x04, 2, smpptest.Duplicate}, {0x04, 2, smpptest.Duplicate},
		{0x20, 1, smpptest.Intermediate}, {0x04, 5, smpptest.Contradiction}, {0x04, 2, smpptest.UnknownID},
	}
	var got []frame
	for _, w := range want {
		f := e.acked(pdu.DeliverSMID)
		require.Equal(t, w.class, f.class(t))
		require.Equal(t, w.state, f.tlv(t, pdutlv.TagMessageStateOption)[0])
		got = append(got, f)
	}
	require.Equal(t, got[1].body, got[2].body)
	require.NotEqual(t, "1\x00", string(got[6].tlv(t, pdutlv.TagReceiptedMessageID)))
	drained(t, s)
	for i, l := range lines(s, smpptest.LineDelivery) {
		require.Equal(t, want[i].kind, l.Kind)
		require.Equal(t, l.Kind != smpptest.UnknownID, l.N == 1)
	}
}

func TestReceipts_states_come_in_the_shares_asked_for(t *testing.T) {
	s := start(t, smpptest.Config{Receipts: smpptest.Receipts{States: []smpptest.StateShare{
		{Word: "DELIVRD", Share: 7}, {Word: "UNDELIV", Share: 2}, {Word: "FAILED", State: "UNDELIVERABLE", Share: 1},
	}}})
	_, err := smpptest.Load{Addr: s.Addr(), Submits: 5000, RegisteredDelivery: 1}.Run(t.Context())
	require.NoError(t, err)
	count := map[string]int{}
	for _, l := range lines(s, smpptest.LineDelivery) {
		count[l.Word]++
		require.Equal(t, l.Word == "FAILED", l.MessageState == nil)
		require.NotEmpty(t, l.State)
	}
	require.InDelta(t, 3500, count["DELIVRD"], 150)
	require.InDelta(t, 1000, count["UNDELIV"], 150)
	require.InDelta(t, 500, count["FAILED"], 150)
}

func TestReceipts_follow_registered_delivery(t *testing.T) {
	tests := []struct {
		name       string
		registered uint8
		word       string
		always     bool
		want       int
	}{
		{"none asked", 0, "DELIVRD", false, 0},
		{"none asked, sent all the same", 0, "DELIVRD", true, 1},
		{"asked", 1, "UNDELIV", false, 1},
		{"asked on failure, delivered", 2, "DELIVRD", false, 0},
		{"asked on failure, failed", 2, "UNDELIV", false, 1},
		{"asked on success, failed", 3, "UNDELIV", false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, smpptest.Config{Receipts: smpptest.Receipts{Always: tt.always, States: []smpptest.StateShare{{Word: tt.word, Share: 1}}}})
			e := bound(t, s)
			p := submitSM("393331234567")
			require.NoError(t, p.Fields().Set(pdufield.RegisteredDelivery, tt.registered))
			e.send(p)
			e.want(pdu.SubmitSMRespID)
			require.Equal(t, uint64(tt.want), s.Stats().Deliveries)
		})
	}
}

func TestReceipts_wait_for_their_delay_and_jitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Receipts: smpptest.Receipts{Delay: time.Minute, Jitter: time.Hour}})
		e := piped(t, s)
		began := time.Now()
		var waits []time.Duration
		for range 5 {
			e.submit("393331234567")
			e.want(pdu.SubmitSMRespID)
		}
		for range 5 {
			e.acked(pdu.DeliverSMID)
			waits = append(waits, time.Since(began))
		}
		require.GreaterOrEqual(t, waits[0], time.Minute)
		require.LessOrEqual(t, waits[4], time.Hour+time.Minute+time.Second)
		require.Greater(t, waits[4]-waits[0], time.Second)
		require.NoError(t, s.Close())
	})
}

func TestReceipts_with_unreadable_dates_and_broken_ends(t *testing.T) {
	s := start(t, smpptest.Config{Receipts: smpptest.Receipts{BadDates: 1, BrokenTLVs: 1}})
	e := bound(t, s)
	for range 3 {
		e.submit("393331234567")
		e.want(pdu.SubmitSMRespID)
		f := e.want(pdu.DeliverSMID)
		e.ack(f, 0)
		require.Contains(t, string(f.body), "done date:2613459960 ")
		require.NotEqual(t, []byte{0x04, 0x27, 0, 1, 2}, f.body[len(f.body)-5:])
	}
	drained(t, s)
}

func TestReceipts_echo_a_reference_of_the_ESME(t *testing.T) {
	s := start(t, smpptest.Config{Receipts: smpptest.Receipts{ClientRefTLV: 0x1401}})
	e := bound(t, s)
	p := pdu.NewSubmitSM(pdutlv.Fields{pdutlv.Tag(0x1401): pdutlv.CString("01JDXW5Q0C")})
	require.NoError(t, p.Fields().Set(pdufield.DestinationAddr, "393331234567"))
	require.NoError(t, p.Fields().Set(pdufield.RegisteredDelivery, 1))
	e.send(p)
	e.want(pdu.SubmitSMRespID)
	f := e.acked(pdu.DeliverSMID)
	require.Contains(t, string(f.body), "\x14\x01\x00\x0b01JDXW5Q0C\x00")
	require.Equal(t, "01JDXW5Q0C", lines(s, smpptest.LineSubmit)[0].Ref)
}
