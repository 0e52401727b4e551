package smpptest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

func TestTraffic_each_kind_is_on_the_wire_and_in_the_truth(t *testing.T) {
	tests := []struct {
		kind    smpptest.Kind
		traffic smpptest.Traffic
		check   func(*testing.T, frame)
	}{
		{smpptest.MO, smpptest.Traffic{MO: 1}, func(t *testing.T, f frame) {
			require.Equal(t, byte(0), f.class(t))
			require.NotContains(t, f.text(t), "id:")
		}},
		{smpptest.MOLikeReceipt, smpptest.Traffic{MOLikeReceipt: 1}, func(t *testing.T, f frame) {
			require.Equal(t, byte(0), f.class(t))
			require.Contains(t, f.text(t), "id:1 sub:001 dlvrd:001 ")
		}},
		{smpptest.UnknownCommand, smpptest.Traffic{UnknownCommand: 1}, func(t *testing.T, f frame) {
			require.Equal(t, pdu.ID(0x00010001), f.id)
		}},
		{smpptest.Oversize, smpptest.Traffic{Oversize: 1, OversizeOctets: 150000}, func(t *testing.T, f frame) {
			require.Len(t, f.raw, 150000)
		}},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			s := start(t, smpptest.Config{Traffic: tt.traffic})
			e := bound(t, s)
			p := submitSM("393331234567")
			require.NoError(t, p.Fields().Set("registered_delivery", 0))
			e.send(p)
			e.want(pdu.SubmitSMRespID)
			f := e.read()
			tt.check(t, f)
			e.ack(f, map[bool]uint32{true: uint32(smpp.StatusInvCmdID)}[tt.kind == smpptest.UnknownCommand])
			drained(t, s)
			sent := lines(s, smpptest.LineDelivery)
			require.Len(t, sent, 1)
			require.Equal(t, tt.kind, sent[0].Kind)
			require.Equal(t, uint64(0), sent[0].N)
			require.Equal(t, len(f.raw), sent[0].Length)
			require.Equal(t, sent[0].D, lines(s, smpptest.LineAck)[0].D)
		})
	}
}

func TestTraffic_garbage_is_of_five_kinds_and_none_can_be_read(t *testing.T) {
	s := start(t, smpptest.Config{Traffic: smpptest.Traffic{Garbage: 1}, Receipts: smpptest.Receipts{States: []smpptest.StateShare{{Word: "DELIVRD", Share: 1}}}})
	e := bound(t, s)
	bodies := map[string]bool{}
	for range 5 {
		p := submitSM("393331234567")
		require.NoError(t, p.Fields().Set("registered_delivery", 0))
		e.send(p)
		e.want(pdu.SubmitSMRespID)
		bodies[string(e.acked(pdu.DeliverSMID).body)] = true
	}
	require.Len(t, bodies, 5)
	require.Contains(t, bodies, "")
	require.Contains(t, bodies, "\x2a")
}

func TestTraffic_sequence_numbers_collide_all_the_time(t *testing.T) {
	s := start(t, smpptest.Config{Traffic: smpptest.Traffic{Sequence: smpptest.Collide}})
	e := bound(t, s)
	first := e.submit("393331234567")
	require.Equal(t, first, e.want(pdu.SubmitSMRespID).seq)
	f := e.want(pdu.DeliverSMID)
	require.Equal(t, first+1, f.seq, "the number of the next submit_sm")
	next := e.submit("393331234568")
	require.Equal(t, f.seq, next)
	require.Equal(t, next, e.want(pdu.SubmitSMRespID).seq)
	e.ack(f, 0)
	e.ack(e.want(pdu.DeliverSMID), 0)
	drained(t, s)
}

func TestTraffic_sequence_numbers_collide_with_submits_that_wait(t *testing.T) {
	s := start(t, smpptest.Config{Traffic: smpptest.Traffic{Sequence: smpptest.Collide},
		OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action { a.Held = true; return a }})
	e := bound(t, s)
	seq := e.submit("393331234567")
	await(t, s, func(st smpptest.Stats) bool { return st.Submits == 1 })
	s.Deliver(s.Receipt(s.Submits()[0], smpptest.Final, "DELIVRD"))
	require.Equal(t, seq, e.acked(pdu.DeliverSMID).seq)
	require.NoError(t, s.Answer(1))
	require.Equal(t, seq, e.want(pdu.SubmitSMRespID).seq)
}

func TestTraffic_sequence_number_zero(t *testing.T) {
	s := start(t, smpptest.Config{Traffic: smpptest.Traffic{Sequence: smpptest.Zero}, Receipts: smpptest.Receipts{Duplicates: 1}})
	e := bound(t, s)
	e.submit("393331234567")
	e.want(pdu.SubmitSMRespID)
	for range 2 {
		require.Equal(t, uint32(0), e.acked(pdu.DeliverSMID).seq)
	}
	drained(t, s)
}

func TestTraffic_window_of_unanswered_requests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Traffic: smpptest.Traffic{Window: 2}, Receipts: smpptest.Receipts{Duplicates: 1, Copies: 4}})
		e := piped(t, s)
		e.submit("393331234567")
		e.want(pdu.SubmitSMRespID)
		first, second := e.want(pdu.DeliverSMID), e.want(pdu.DeliverSMID)
		require.True(t, e.silent(time.Hour))
		e.ack(first, 0)
		third := e.want(pdu.DeliverSMID)
		require.True(t, e.silent(time.Hour))
		e.ack(second, 0)
		e.ack(third, 0)
		e.acked(pdu.DeliverSMID)
		e.acked(pdu.DeliverSMID)
		drained(t, s)
		require.NoError(t, s.Close())
	})
}

func TestTraffic_enquire_link_both_ways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Traffic: smpptest.Traffic{EnquireLink: 5 * time.Second}})
		e := piped(t, s)
		for range 2 {
			e.write(pdu.EnquireLinkRespID, 0, e.want(pdu.EnquireLinkID).seq, nil)
		}
		e.send(pdu.NewEnquireLink())
		e.want(pdu.EnquireLinkRespID)
		require.Equal(t, uint64(2), s.Stats().EnquireAnswers)
		require.Equal(t, uint64(1), s.Stats().EnquireLinks)
		require.NoError(t, s.Close())
	})
}

func TestDeliveries_are_sent_again_until_they_are_acknowledged(t *testing.T) {
	tests := []struct {
		name    string
		status  smpp.Status
		rebind  bool
		atLeast time.Duration
	}{
		{"ESME_RX_T_APPN: again after a delay, on the same connection", smpp.StatusXTAppn, false, 3 * time.Second},
		{"another status: again after the next bind", smpp.StatusXPAppn, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, smpptest.Config{Addr: smpptest.NoListener, Receipts: smpptest.Receipts{Retry: 3 * time.Second}})
				e := piped(t, s)
				e.submit("393331234567")
				e.want(pdu.SubmitSMRespID)
				first, refused := e.want(pdu.DeliverSMID), time.Now()
				e.ack(first, uint32(tt.status))
				if tt.rebind {
					require.True(t, e.silent(time.Hour))
					e.nc.Close()
					e = piped(t, s)
				}
				require.Equal(t, first.body, e.acked(pdu.DeliverSMID).body)
				require.GreaterOrEqual(t, time.Since(refused), tt.atLeast)
				drained(t, s)
				require.Equal(t, uint64(1), s.Stats().RefusedDeliveries)
				acks := lines(s, smpptest.LineAck)
				require.Equal(t, []string{tt.status.String(), "ESME_ROK"}, []string{acks[0].Status, acks[1].Status})
				require.NoError(t, s.Close())
			})
		})
	}
}

func TestDeliveries_are_not_acknowledged_by_an_answer_of_another_kind(t *testing.T) {
	s := start(t, smpptest.Config{})
	e := bound(t, s)
	e.submit("393331234567")
	e.want(pdu.SubmitSMRespID)
	f := e.want(pdu.DeliverSMID)
	e.write(pdu.DataSMRespID, 0, f.seq, []byte{0})
	e.write(pdu.DeliverSMRespID, 0, f.seq+1, []byte{0})
	await(t, s, func(st smpptest.Stats) bool { return st.StrayAcks == 2 })
	require.Equal(t, 1, s.Stats().Pending)
	e.ack(f, 0)
	drained(t, s)
}

func TestDeliver_and_WriteRaw_send_what_a_test_wants(t *testing.T) {
	s := start(t, smpptest.Config{})
	require.Error(t, s.WriteRaw([]byte{1}))
	e := bound(t, s)
	e.submit("393331234567")
	e.want(pdu.SubmitSMRespID)
	e.acked(pdu.DeliverSMID)
	sub := s.Submits()[0]

	d := s.Receipt(sub, smpptest.Contradiction, "REJECTD")
	d.ShortMessage = []byte("id:1 stat:REJECTD")
	number := s.Deliver(d)
	require.Equal(t, "id:1 stat:REJECTD", e.acked(pdu.DeliverSMID).text(t))
	drained(t, s)
	require.Equal(t, number, lines(s, smpptest.LineDelivery)[1].D)

	require.NoError(t, s.WriteRaw([]byte("\x00\x00\x00\x10\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00")))
	require.Equal(t, uint32(7), e.want(pdu.EnquireLinkID).seq)
	raw := lines(s, smpptest.LineDelivery)[2:]
	require.Equal(t, []int{16, 2}, []int{raw[0].Length, raw[1].Length})
}

func TestChange_alters_the_faults_while_it_runs(t *testing.T) {
	s := start(t, smpptest.Config{})
	e := bound(t, s)
	s.Change(func(c *smpptest.Config) {
		c.Answers.Refuse = []smpptest.Refusal{{Status: smpp.StatusThrottled, Share: 1}}
	})
	e.submit("393331234567")
	require.Equal(t, uint32(smpp.StatusThrottled), e.want(pdu.SubmitSMRespID).status)
	s.Silence()
	e.send(pdu.NewEnquireLink())
	s.Drop(smpptest.DropReset)
	require.Error(t, e.cut())
}
