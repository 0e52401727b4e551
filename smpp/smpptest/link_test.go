package smpptest_test

import (
	"bytes"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

func TestLink_drops(t *testing.T) {
	tests := []struct {
		how      smpptest.Drop
		answered bool
		octets   int // after the bind_resp
		err      error
	}{
		{smpptest.DropBefore, false, 0, nil},
		{smpptest.DropAfter, true, 18, nil},
		{smpptest.DropMid, false, 9, nil},
		{smpptest.DropReset, false, 0, syscall.ECONNRESET},
	}
	for _, tt := range tests {
		t.Run(string(tt.how), func(t *testing.T) {
			s := start(t, smpptest.Config{Link: smpptest.Link{DropEvery: 2, Drops: []smpptest.Drop{tt.how}}, Receipts: smpptest.Receipts{BeforeResponse: 1}})
			e := bound(t, s)
			e.submit("393331234567")
			first := e.want(pdu.DeliverSMID)
			e.want(pdu.SubmitSMRespID)
			e.submit("393331234568")
			var rest bytes.Buffer
			_, err := io.Copy(&rest, e.nc)
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.octets, rest.Len())
			require.Len(t, lines(s, smpptest.LineResponse), map[bool]int{false: 1, true: 2}[tt.answered])

			// What was not acknowledged comes again, and what was taken on is reported.
			again := bound(t, s)
			require.Equal(t, first.body, again.acked(pdu.DeliverSMID).body)
			again.acked(pdu.DeliverSMID)
			drained(t, s)
			sent := lines(s, smpptest.LineDelivery)
			require.Equal(t, []int{1, 2, 1}, []int{sent[0].Sends, sent[1].Sends, sent[2].Sends})
			require.Equal(t, sent[0].D, sent[1].D)
			require.Equal(t, uint64(2), sent[2].N)
			require.Contains(t, events(s), string("dropped "+tt.how))
		})
	}
}

// events of the links, with how they were dropped.
func events(s *smpptest.Server) (out []string) {
	for _, l := range lines(s, smpptest.LineLink) {
		event := l.Event
		if l.Drop != "" {
			event += " " + string(l.Drop)
		}
		out = append(out, event)
	}
	return out
}

func TestLink_drops_at_a_share_and_in_turn(t *testing.T) {
	s := start(t, smpptest.Config{Link: smpptest.Link{DropShare: 1, Drops: []smpptest.Drop{smpptest.DropAfter, smpptest.DropBefore}}})
	for _, answered := range []bool{true, false, true} {
		e := connect(t, s)
		e.bindAs(pdu.NewBindTransmitter(), 0)
		e.submit("393331234567")
		if answered {
			e.want(pdu.SubmitSMRespID)
		}
		require.NoError(t, e.cut())
	}
}

func TestLink_falls_silent_and_stays_open(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Link: smpptest.Link{SilentAfter: 2}, Receipts: smpptest.Receipts{Delay: time.Second}})
		e := piped(t, s)
		e.submit("393331234567")
		e.want(pdu.SubmitSMRespID)
		e.submit("393331234568")
		e.send(pdu.NewEnquireLink())
		require.True(t, e.silent(time.Hour))
		submits := lines(s, smpptest.LineSubmit)
		require.True(t, submits[1].Ignored)
		require.Empty(t, submits[1].MessageID)
		require.Contains(t, events(s), "silent")

		again := piped(t, s)
		again.acked(pdu.DeliverSMID)
		require.NoError(t, s.Close())
	})
}

func TestLink_fragments_arrive_octet_by_octet(t *testing.T) {
	s := start(t, smpptest.Config{Addr: smpptest.NoListener, Link: smpptest.Link{Fragment: 1}})
	nc := s.Pipe()
	defer nc.Close()
	e := &esme{t: t, nc: nc}
	e.send(bind(pdu.NewBindTransceiver(), "esme", ""))
	n, err := nc.Read(make([]byte, 100))
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestLink_gathers_many_PDUs_into_one_write(t *testing.T) {
	s := start(t, smpptest.Config{Addr: smpptest.NoListener, Link: smpptest.Link{Gather: 50 * time.Millisecond}})
	e := piped(t, s)
	for range 5 {
		e.submit("393331234567")
	}
	b := make([]byte, 4096)
	n, err := e.nc.Read(b)
	require.NoError(t, err)
	require.Greater(t, n, 5*(18+100), "five answers and five receipts")
}

func TestLink_broken_framing_of_the_ESME_is_refused(t *testing.T) {
	s := start(t, smpptest.Config{})
	e := bound(t, s)
	_, err := e.nc.Write([]byte{0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 9})
	require.NoError(t, err)
	require.Equal(t, uint32(smpp.StatusInvCmdLen), e.want(pdu.GenericNACKID).status)
	require.NoError(t, e.cut())
}

func TestBind_faults(t *testing.T) {
	tests := []struct {
		name string
		cfg  smpptest.Config
		want []smpp.Status // of the binds, in order
	}{
		{"any credentials are taken", smpptest.Config{}, []smpp.Status{smpp.StatusOK}},
		{"wrong system_id", smpptest.Config{SystemID: "other"}, []smpp.Status{smpp.StatusInvSysID}},
		{"wrong password", smpptest.Config{SystemID: "esme", Password: "other"}, []smpp.Status{smpp.StatusInvPaswd}},
		{"right password", smpptest.Config{SystemID: "esme", Password: "secret"}, []smpp.Status{smpp.StatusOK}},
		{"refused for ever", smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusBindFail}}, []smpp.Status{smpp.StatusBindFail, smpp.StatusBindFail}},
		{"refused at first", smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusSysErr, RefuseFirst: 1}}, []smpp.Status{smpp.StatusSysErr, smpp.StatusOK}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.cfg)
			for _, status := range tt.want {
				connect(t, s).bindAs(pdu.NewBindTransceiver(), uint32(status))
			}
			require.Equal(t, len(tt.want), s.Stats().Binds)
		})
	}
}

func TestBind_unanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Bind: smpptest.Bind{IgnoreFirst: 1}})
		e := &esme{t: t, nc: s.Pipe()}
		e.send(bind(pdu.NewBindTransceiver(), "esme", ""))
		require.True(t, e.silent(time.Hour))
		piped(t, s)
		require.NoError(t, s.Close())
	})
}

func TestBind_at_most_so_many_of_one_system_id(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Bind: smpptest.Bind{AtMost: 2, Linger: time.Minute}})
		open := func(p pdu.Body, systemID string, want smpp.Status) *esme {
			e := &esme{t: t, nc: s.Pipe()}
			t.Cleanup(func() { e.nc.Close() })
			e.send(bind(p, systemID, ""))
			require.Equal(t, uint32(want), e.read().status)
			return e
		}
		tx := open(pdu.NewBindTransmitter(), "esme", smpp.StatusOK)
		rx := open(pdu.NewBindReceiver(), "esme", smpp.StatusOK)
		open(pdu.NewBindTransceiver(), "esme", smpp.StatusAlyBnd)
		open(pdu.NewBindTransceiver(), "other", smpp.StatusOK)

		tx.send(pdu.NewUnbind())
		tx.want(pdu.UnbindRespID)
		open(pdu.NewBindTransmitter(), "esme", smpp.StatusOK)

		rx.nc.Close()
		synctest.Wait()
		open(pdu.NewBindReceiver(), "esme", smpp.StatusAlyBnd)
		time.Sleep(time.Minute)
		synctest.Wait()
		open(pdu.NewBindReceiver(), "esme", smpp.StatusOK)
		require.NoError(t, s.Close())
	})
}

func TestBind_twice_and_submit_without(t *testing.T) {
	s := start(t, smpptest.Config{})
	e := connect(t, s)
	e.submit("393331234567")
	require.Equal(t, uint32(smpp.StatusInvBndSts), e.want(pdu.SubmitSMRespID).status)
	e.bindAs(pdu.NewBindReceiver(), 0)
	e.submit("393331234567")
	require.Equal(t, uint32(smpp.StatusInvBndSts), e.want(pdu.SubmitSMRespID).status)
	e.bindAs(pdu.NewBindReceiver(), uint32(smpp.StatusAlyBnd))
}

func TestBind_deliver_sm_before_the_response(t *testing.T) {
	s := start(t, smpptest.Config{Bind: smpptest.Bind{DeliverFirst: true}})
	e := connect(t, s)
	e.send(bind(pdu.NewBindTransceiver(), "esme", ""))
	require.Equal(t, "Hello", e.acked(pdu.DeliverSMID).text(t))
	e.want(pdu.BindTransceiverRespID)
	drained(t, s)
	require.Equal(t, []smpptest.Kind{smpptest.MO}, kinds(s))
}

func TestBind_receipts_go_to_any_that_may_receive(t *testing.T) {
	s := start(t, smpptest.Config{Receipts: smpptest.Receipts{BeforeResponse: 0.5}})
	tx, rx, rx2 := connect(t, s), connect(t, s), connect(t, s)
	tx.bindAs(pdu.NewBindTransmitter(), 0)
	tx.submit("393331234567")
	tx.want(pdu.SubmitSMRespID)
	rx.bindAs(pdu.NewBindReceiver(), 0)
	rx.acked(pdu.DeliverSMID)
	rx2.bindAs(pdu.NewBindReceiver(), 0)
	for range 4 {
		tx.submit("393331234567")
	}
	for range 2 {
		rx.acked(pdu.DeliverSMID)
		rx2.acked(pdu.DeliverSMID)
	}
	drained(t, s)
}

func TestUnbind_both_ways(t *testing.T) {
	s := start(t, smpptest.Config{})
	e := bound(t, s)
	e.send(pdu.NewUnbind())
	e.want(pdu.UnbindRespID)
	require.NoError(t, e.cut())

	e = bound(t, s)
	s.Unbind()
	f := e.want(pdu.UnbindID)
	e.write(pdu.UnbindRespID, 0, f.seq, nil)
	require.NoError(t, e.cut())
	require.Equal(t, []string{"open", "bound", "unbound", "open", "bound", "unbound"}, events(s))
}

func TestServer_Close_ends_connections_whose_ESME_does_not_read(t *testing.T) {
	s := start(t, smpptest.Config{Addr: smpptest.NoListener})
	nc := s.Pipe()
	e := &esme{t: t, nc: nc}
	e.send(bind(pdu.NewBindTransceiver(), "esme", "")) // and the answer is never read
	await(t, s, func(st smpptest.Stats) bool { return st.Bound == 1 })
	require.NoError(t, s.Close())
	_, err := s.Pipe().Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	_, err = net.Dial("tcp", s.Addr())
	require.Error(t, err)
}
