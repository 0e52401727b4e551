package smpptest_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

func TestAnswers_refusals_have_no_id_and_no_receipt(t *testing.T) {
	s := start(t, smpptest.Config{Answers: smpptest.Answers{Refuse: []smpptest.Refusal{{Status: smpp.StatusMsgQFul, Share: 1}}}})
	e := bound(t, s)
	e.submit("393331234567")
	f := e.want(pdu.SubmitSMRespID)
	require.Equal(t, uint32(smpp.StatusMsgQFul), f.status)
	require.Empty(t, f.body)
	require.Equal(t, smpptest.Stats{Connections: 1, Bound: 1, Binds: 1, Submits: 1, Refused: 1, Answered: 1}, s.Stats())
	require.Equal(t, "ESME_RMSGQFUL", lines(s, smpptest.LineSubmit)[0].Status)
}

func TestAnswers_throttling_counts_by_the_second(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Answers: smpptest.Answers{ThrottleAbove: 2}, Receipts: smpptest.Receipts{Delay: time.Hour}})
		e := piped(t, s)
		statuses := func() (out []smpp.Status) {
			for range 4 {
				e.submit("393331234567")
				out = append(out, smpp.Status(e.want(pdu.SubmitSMRespID).status))
			}
			return out
		}
		want := []smpp.Status{smpp.StatusOK, smpp.StatusOK, smpp.StatusThrottled, smpp.StatusThrottled}
		require.Equal(t, want, statuses())
		<-time.After(time.Second)
		require.Equal(t, want, statuses())
		require.NoError(t, s.Close())
	})
}

func TestAnswers_a_storm_of_throttling_passes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Answers: smpptest.Answers{ThrottleAfter: time.Second, ThrottleFor: 2 * time.Second}})
		e := &esme{t: t, nc: s.Pipe()}
		defer e.nc.Close()
		e.bindAs(pdu.NewBindTransmitter(), 0)
		var got []smpp.Status
		for range 4 {
			e.submit("393331234567")
			got = append(got, smpp.Status(e.want(pdu.SubmitSMRespID).status))
			time.Sleep(time.Second)
		}
		require.Equal(t, []smpp.Status{smpp.StatusOK, smpp.StatusThrottled, smpp.StatusThrottled, smpp.StatusOK}, got)
		require.Equal(t, 3*time.Second, smpptest.RateOf(s.Truth()).Elapsed)
		require.NoError(t, s.Close())
	})
}

func TestAnswers_that_never_come_leave_the_receipt(t *testing.T) {
	s := start(t, smpptest.Config{Answers: smpptest.Answers{Never: 1}})
	e := bound(t, s)
	e.submit("393331234567")
	e.acked(pdu.DeliverSMID)
	drained(t, s)
	require.Empty(t, lines(s, smpptest.LineResponse))
	require.Equal(t, "1", lines(s, smpptest.LineSubmit)[0].MessageID)
}

func TestAnswers_that_are_late_come_after_the_receipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Answers: smpptest.Answers{Late: 1, LateBy: time.Minute}, Receipts: smpptest.Receipts{Delay: time.Second}})
		e := piped(t, s)
		began := time.Now()
		e.submit("393331234567")
		e.acked(pdu.DeliverSMID)
		require.Less(t, time.Since(began), 2*time.Second)
		e.want(pdu.SubmitSMRespID)
		require.GreaterOrEqual(t, time.Since(began), time.Minute)
		require.NoError(t, s.Close())
	})
}

func TestAnswers_with_a_delay_hold_the_receipt_back(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, smpptest.Config{Addr: smpptest.NoListener, Answers: smpptest.Answers{Delay: time.Second, Jitter: time.Second}})
		e := piped(t, s)
		began := time.Now()
		e.submit("393331234567")
		e.want(pdu.SubmitSMRespID)
		require.GreaterOrEqual(t, time.Since(began), time.Second)
		e.acked(pdu.DeliverSMID)
		require.NoError(t, s.Close())
	})
}

func TestAnswers_out_of_order(t *testing.T) {
	s := start(t, smpptest.Config{Answers: smpptest.Answers{Shuffle: 8}})
	e := bound(t, s)
	var asked, answered []uint32
	for range 8 {
		p := submitSM("393331234567")
		asked = append(asked, e.send(p))
	}
	for len(answered) < 8 {
		if f := e.read(); f.id == pdu.SubmitSMRespID {
			answered = append(answered, f.seq)
		} else {
			e.ack(f, 0)
		}
	}
	require.NotEqual(t, asked, answered)
	require.ElementsMatch(t, asked, answered)
	require.False(t, slices.IsSorted(answered))
}

func TestAnswers_out_of_order_do_not_wait_for_submits_that_never_come(t *testing.T) {
	s := start(t, smpptest.Config{Answers: smpptest.Answers{Shuffle: 8}})
	e := bound(t, s)
	e.submit("393331234567")
	e.want(pdu.SubmitSMRespID)
}

func TestOnSubmit_says_exactly_what_is_done(t *testing.T) {
	s := start(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		switch sub.N {
		case 1:
			a.Held = true
		case 2:
			a.MessageID = "own-id"
			a.Receipts = []smpptest.Planned{{Kind: smpptest.Final, Word: "EXPIRED", BeforeResponse: true}}
		case 3:
			a.Status = smpp.StatusInvDstAdr
		}
		return a
	}})
	e := bound(t, s)
	held := e.submit("393331234567")
	e.submit("393331234568")
	require.Contains(t, e.acked(pdu.DeliverSMID).text(t), "id:own-id sub:001 dlvrd:000")
	require.Equal(t, "own-id", e.want(pdu.SubmitSMRespID).messageID())
	e.submit("393331234569")
	require.Equal(t, uint32(smpp.StatusInvDstAdr), e.want(pdu.SubmitSMRespID).status)

	require.NoError(t, s.Answer(1))
	require.Error(t, s.Answer(1))
	require.Equal(t, held, e.want(pdu.SubmitSMRespID).seq)
	e.acked(pdu.DeliverSMID)
	drained(t, s)
	require.Equal(t, []string{"393331234567", "393331234568", "393331234569"}, []string{s.Submits()[0].Dest.Addr, s.Submits()[1].Dest.Addr, s.Submits()[2].Dest.Addr})
}
