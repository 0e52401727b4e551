package daemon_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/smpp/smpptest"
)

func TestEvidence_theSameReceiptAgainMovesNothing(t *testing.T) {
	s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{Duplicates: 1, Copies: 3}}, nil)
	id := s.submit(number(1))
	s.awaitState(id, "DELIVERED")
	s.drained()

	m := s.message(id)
	require.Equal(t, "DELIVERED", m.State)
	require.True(t, m.Final)
	require.Equal(t, control.Receptions{Receipts: 4, Duplicate: 3}, m.Receptions)
	require.Empty(t, m.Exceptions)
	require.EqualValues(t, 1, s.total().Delivered)

	var receptions []control.Event
	for _, e := range s.history(id) {
		if e.Type == "reception" {
			receptions = append(receptions, e)
		}
	}
	require.Len(t, receptions, 4, "every reception is kept")
	for _, again := range receptions[1:] {
		require.Equal(t, "duplicate", again.Decisions[0].Verdict)
		require.Equal(t, receptions[0].Seq, *again.Decisions[0].RepeatOf, "and linked to the first")
	}
}

func TestEvidence_anIntermediateNotificationAfterTheFinalReceiptDegradesNothing(t *testing.T) {
	s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{IntermediateAfter: 1}}, nil)
	id := s.submit(number(1))
	s.awaitState(id, "DELIVERED")
	s.drained()

	m := s.message(id)
	require.Equal(t, "DELIVERED", m.State)
	require.Equal(t, control.Receptions{Receipts: 2, Late: 1}, m.Receptions)
}

func TestEvidence_ofTwoIncompatibleFinalsTheFirstStands(t *testing.T) {
	s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{Contradictions: 1}}, nil)
	id := s.submit(number(1))
	s.awaitState(id, "DELIVERED")
	s.drained()

	m := s.message(id)
	require.Equal(t, "DELIVERED", m.State)
	require.Equal(t, control.Receptions{Receipts: 2, Conflict: 1}, m.Receptions)
	open := s.exceptions()
	require.Len(t, open, 1)
	require.Equal(t, "conflict", open[0].Kind)
	require.Equal(t, id, open[0].Message)
	require.Equal(t, []string{open[0].ID}, m.Exceptions)
	require.EqualValues(t, 1, s.total().Delivered)
}

func TestEvidence_aReceiptBeforeItsResponseIsAppliedWithTheResponse(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.Held, a.FromSubmit = true, true
		return a
	}}, nil)
	id := s.submit(number(1))
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Acked == 1 })
	require.Equal(t, "SUBMITTING", s.message(id).State)
	require.Len(t, s.inbox(), 1)

	require.NoError(t, s.smsc.Answer(1))
	s.awaitState(id, "DELIVERED")
	require.Empty(t, s.inbox())
	history := s.history(id)
	resp := history[slices.IndexFunc(history, func(e control.Event) bool { return e.Type == "submit_resp" })]
	require.True(t, slices.ContainsFunc(resp.Decisions, func(d control.Decision) bool {
		return d.Verdict == "applied" && d.To == "DELIVERED"
	}), "the record of the response carries the decision about the receipt")
}

func TestEvidence_aReceiptBeforeItsResponseWaitsAcrossARestart(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	s.awaitState(s.submit(number(1)), "DELIVERED")
	s.drained()
	early := s.smsc.Receipt(s.smsc.Submits()[0], smpptest.Final, "UNDELIV")
	early.TLVID, early.TextID = "2", "2"
	early.Source.Addr = number(2)[1:]
	early.ShortMessage = []byte("id:2 sub:001 dlvrd:000 submit date:2611301200 done date:2611301201 stat:UNDELIV err:001 text:")
	early.TLVs[0].Value = []byte("2\x00")
	s.smsc.Deliver(early)
	s.drained()
	require.Len(t, s.inbox(), 1)

	s.restart()
	require.Len(t, s.inbox(), 1)
	s.smsc.Change(func(c *smpptest.Config) {
		c.OnSubmit = func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
			a.Receipts = nil
			return a
		}
	})
	id := s.submit(number(2))
	m := s.awaitState(id, "UNDELIVERABLE")
	require.Empty(t, s.inbox())
	require.Less(t, m.Receipt.Record, m.Acceptance.Record)
}

func TestEvidence_whatCannotBeReadIsKeptAnsweredAndAssignedToNobody(t *testing.T) {
	t.Run("a receipt for an unknown id waits", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{Unknown: 1}}, nil)
		id := s.submit(number(1))
		s.awaitState(id, "DELIVERED")
		s.drained()
		require.Len(t, s.inbox(), 1)
		require.Equal(t, 1, s.message(id).Receptions.Receipts)
	})
	t.Run("unreadable dates do not take a receipt's word away", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{BadDates: 1}}, nil)
		m := s.awaitState(s.submit(number(1)), "DELIVERED")
		require.Empty(t, m.Receipt.DoneDate)
		require.NotEmpty(t, m.Receipt.DoneDateRaw)
	})
	t.Run("a word that nobody knows is noted", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{States: []smpptest.StateShare{{Word: "FAILED", Share: 1}}}}, nil)
		id := s.submit(number(1))
		s.awaitSMSC(func(st smpptest.Stats) bool { return st.Acked == 1 })
		m := s.await(id, "noted", func(m control.Message) bool { return m.Receptions.Noted == 1 })
		require.Equal(t, "SUBMITTED", m.State)
		require.Equal(t, []string{"unmapped_state"}, s.exceptionKinds())
	})
	t.Run("garbage, unknown commands and oversize are kept raw, and the link stays up", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{Traffic: smpptest.Traffic{Garbage: 1, UnknownCommand: 1, Oversize: 1}}, nil)
		const n = 6 // each kind of garbage comes in turn
		for i := range n {
			s.submit(number(i))
		}
		s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == n })
		s.drained()
		require.EqualValues(t, 1, s.smsc.Stats().Binds)
		require.Zero(t, s.smsc.Stats().RefusedDeliveries)
		kept := map[string]bool{}
		for _, e := range s.events() {
			if e.Type == "reception" {
				require.NotEmpty(t, e.PDU)
				kept[e.PDU] = true
			}
		}
		require.Len(t, kept, 4*n, "receipt, garbage, unknown command and oversize of each")
		require.EqualValues(t, n, s.total().Delivered)
		require.Contains(t, s.exceptionKinds(), "undecodable")
	})
}

func TestEvidence_hexadecimalIDsWithDecimalReceipts(t *testing.T) {
	// Message 10 has the ids a and 10, message 16 the ids 10 and 16.
	sim := smpptest.Config{IDs: smpptest.IDs{First: 10, Response: smpptest.Hex, TLV: smpptest.Decimal, Text: smpptest.Decimal}}
	submitAll := func(s *system) (ids []string) {
		for n := 10; n <= 16; n++ {
			id := s.submit(number(n))
			s.await(id, "accepted", func(m control.Message) bool { return m.Acceptance != nil })
			ids = append(ids, id)
		}
		s.drained()
		return ids
	}
	t.Run("with the rule, hex 10 and decimal 10 are two messages", func(t *testing.T) {
		s := newSystem(t, sim, func(c *config.Config) {
			rule := receipt.IDRules{{Name: "hex_to_dec"}}
			c.SMSCs[0].Rules.MessageID = config.MessageIDRules{TLV: rule, Text: rule}
		})
		for n, id := range submitAll(s) {
			m := s.awaitState(id, "DELIVERED")
			require.Equal(t, control.Receptions{Receipts: 1}, m.Receptions, "message %d", n)
		}
		require.Empty(t, s.inbox())
		require.Empty(t, s.exceptions())
	})
	t.Run("without it, nothing is assigned wrongly", func(t *testing.T) {
		s := newSystem(t, sim, nil)
		for _, id := range submitAll(s) {
			m := s.message(id)
			require.Equal(t, "SUBMITTED", m.State)
			require.Zero(t, m.Receptions.Receipts)
		}
		require.Len(t, s.inbox(), 7)
		require.Equal(t, []string{"address_mismatch"}, s.exceptionKinds())
	})
	t.Run("with the check off, the id alone decides and never the destination", func(t *testing.T) {
		s := newSystem(t, sim, func(c *config.Config) { c.SMSCs[0].Rules.AddressCheck = "off" })
		ids := submitAll(s)
		require.Equal(t, "DELIVERED", s.awaitState(ids[6], "DELIVERED").State, "the only one with an id 10")
		require.Len(t, s.inbox(), 6)
	})
}

func TestEvidence_reportTellsAcceptedSubmittedReportedAndOpenApart(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		switch sub.Dest.Addr {
		case number(2)[1:]:
			a.Receipts = nil // accepted, and never heard of again
		case number(3)[1:]:
			a.Status = 0x0B // ESME_RINVDSTADR
		case number(4)[1:]:
			a.Held = true
		}
		return a
	}}, nil)
	s.awaitState(s.submit(number(1)), "DELIVERED")
	s.awaitState(s.submit(number(2)), "SUBMITTED")
	s.awaitState(s.submit(number(3)), "FAILED")
	s.awaitState(s.submit(number(4)), "SUBMITTING")

	row := s.total()
	require.EqualValues(t, 4, row.Accepted)
	require.EqualValues(t, 2, row.Submitted)
	require.EqualValues(t, 1, row.Failed)
	require.EqualValues(t, 2, row.Asked)
	require.EqualValues(t, 1, row.Final)
	require.EqualValues(t, 1, row.Delivered)
	require.EqualValues(t, 2, row.Open)
	require.InDelta(t, 0.5, *row.Coverage, 1e-9)
	require.NoError(t, s.smsc.Answer(4))
}

func TestEvidence_theSMSCsSequenceNumbersMayEqualOursAllTheTime(t *testing.T) {
	s := newSystem(t, smpptest.Config{
		Answers:  smpptest.Answers{Delay: 2 * time.Millisecond},
		Receipts: smpptest.Receipts{BeforeResponse: 0.5, Intermediate: 0.3},
		Traffic:  smpptest.Traffic{Sequence: smpptest.Collide, EnquireLink: 5 * time.Millisecond, MO: 0.2},
	}, nil)
	var ids []string
	for n := range 200 {
		ids = append(ids, s.submit(number(n)))
	}
	for _, id := range ids {
		s.awaitState(id, "DELIVERED")
	}
	s.drained()
	st := s.smsc.Stats()
	require.EqualValues(t, 200, st.Submits, "nothing was sent twice")
	require.Equal(t, st.Deliveries, st.Acked)
	require.Zero(t, st.StrayAcks)
	require.Empty(t, s.inbox())
}

// total is the report of everything, of the one SMSC.
func (s *system) total() control.ReportRow {
	s.t.Helper()
	window, settle := time.Hour, time.Duration(0)
	rows, err := s.api.Report(s.ctx, control.ReportQuery{Window: &window, Settle: &settle, By: "smsc"})
	require.NoError(s.t, err)
	require.Len(s.t, rows, 1)
	return rows[0]
}

func (s *system) exceptionKinds() []string {
	s.t.Helper()
	var kinds []string
	for _, x := range s.exceptions() {
		kinds = append(kinds, x.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

func (s *system) awaitSMSC(until func(smpptest.Stats) bool) {
	s.t.Helper()
	require.NoError(s.t, s.smsc.Await(s.ctx, until))
}
