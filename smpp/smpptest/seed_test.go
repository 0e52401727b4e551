package smpptest_test

import (
	"testing"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// TestServer_equal_seeds_do_the_same compares all that is left to chance over 300 submits: the answers
// as they are on the wire, and the kinds and words sent for each submit.
func TestServer_equal_seeds_do_the_same(t *testing.T) {
	type fate struct {
		status, word string
		kind         smpptest.Kind
		command      smpp.CommandID
		n            uint64
	}
	run := func(seed uint64) (out []fate) {
		s := start(t, smpptest.Config{Seed: seed,
			Answers: smpptest.Answers{Refuse: []smpptest.Refusal{{Status: smpp.StatusThrottled, Share: 0.1}}},
			Receipts: smpptest.Receipts{DataSM: 0.3, Duplicates: 0.2, Intermediate: 0.2, Contradictions: 0.1, Unknown: 0.1,
				States: []smpptest.StateShare{{Word: "DELIVRD", Share: 3}, {Word: "UNDELIV", Share: 1}}},
			Traffic: smpptest.Traffic{MO: 0.1, Garbage: 0.1},
		})
		_, err := smpptest.Load{Addr: s.Addr(), Submits: 300, Window: 10, RegisteredDelivery: 1}.Run(t.Context())
		require.NoError(t, err)
		for _, l := range s.Truth() {
			if l.Type == smpptest.LineSubmit || l.Type == smpptest.LineDelivery {
				out = append(out, fate{l.Status, l.Word, l.Kind, l.Command, l.N})
			}
		}
		return out
	}
	first := run(7)
	require.ElementsMatch(t, first, run(7))
	require.NotEqual(t, len(first), len(run(8)))
}

// TestServer_receipts_survive_a_storm_of_cuts: whatever is cut and however, in the end each submit that
// was taken on has been reported and acknowledged, and what was acknowledged does not come again.
func TestServer_receipts_survive_a_storm_of_cuts(t *testing.T) {
	s := start(t, smpptest.Config{
		Receipts: smpptest.Receipts{Jitter: 5 * time.Millisecond, Duplicates: 0.1, BeforeResponse: 0.2},
		Traffic:  smpptest.Traffic{Window: 3},
		Link:     smpptest.Link{DropEvery: 7, Drops: []smpptest.Drop{smpptest.DropBefore, smpptest.DropMid, smpptest.DropReset, smpptest.DropAfter}},
	})
	// work submits until the connection ends, and answers what comes meanwhile.
	work := func(e *esme) {
		p := submitSM("393331234567")
		for e.seq++; ; e.seq++ {
			p.Header().Seq = e.seq
			if p.SerializeTo(e.nc) != nil || e.answerUntil(pdu.SubmitSMRespID) != nil {
				return
			}
		}
	}
	for range 12 {
		work(bound(t, s))
	}
	s.Change(func(c *smpptest.Config) { c.Link.DropEvery = 0 })
	e := bound(t, s)
	var rest errgroup.Group
	rest.Go(func() error { return e.answerUntil(pdu.UnbindID) })
	drained(t, s)
	s.Unbind()
	require.NoError(t, rest.Wait())
	acked := map[uint64]bool{}
	for _, l := range s.Truth() {
		switch l.Type {
		case smpptest.LineAck:
			require.False(t, acked[l.D] && l.D > 0)
			acked[l.D] = true
		case smpptest.LineDelivery:
			require.False(t, acked[l.D])
		}
	}
	st := s.Stats()
	require.Equal(t, st.Deliveries, st.Acked)
	require.GreaterOrEqual(t, st.Deliveries, st.Accepted)
	require.Equal(t, uint64(84), st.Submits)
}

// answerUntil acknowledges what comes until a PDU of this kind does.
func (e *esme) answerUntil(id pdu.ID) error {
	for {
		f, err := e.tryRead()
		if err != nil || f.id == id {
			return err
		}
		if err := e.tryWrite(f.id|0x80000000, 0, f.seq, []byte{0}); err != nil {
			return err
		}
	}
}
