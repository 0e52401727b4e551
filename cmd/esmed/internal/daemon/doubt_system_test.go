package daemon_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp/smpptest"
)

// resentAfterTimeout is a message whose first attempt is held without an answer, and whose second is
// accepted; neither has brought a receipt.
func resentAfterTimeout(t *testing.T) (s *system, id string) {
	s = newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.Held, a.Receipts = sub.N == 1, nil
		return a
	}}, func(c *config.Config) {
		c.SMSCs[0].InDoubt, c.SMSCs[0].ResponseTimeout = "resend", 100*time.Millisecond
	})
	id = s.submit(number(1))
	m := s.await(id, "accepted", func(m control.Message) bool {
		return len(m.Parts[0].Attempts) == 2 && m.Parts[0].Attempts[1].MessageID != ""
	})
	require.True(t, m.MaybeDoubled)
	require.Equal(t, "IN_DOUBT", m.State, "of the first attempt nobody knows")
	return s, id
}

func TestDoubt_aVeryLateAnswerAfterAResend(t *testing.T) {
	receipt := func(s *system, n int, word string) {
		s.smsc.Deliver(s.smsc.Receipt(s.smsc.Submits()[n-1], smpptest.Final, word))
		s.drained()
	}
	t.Run("the receipt of either id finds the part", func(t *testing.T) {
		s, id := resentAfterTimeout(t)
		require.NoError(t, s.smsc.Answer(1))
		m := s.await(id, "the late answer", func(m control.Message) bool { return m.Parts[0].Attempts[0].MessageID == "1" })
		require.True(t, m.MaybeDoubled)
		require.Equal(t, "SUBMITTED", m.State)
		receipt(s, 1, "DELIVRD")
		require.Equal(t, "DELIVERED", s.message(id).State)
		receipt(s, 2, "DELIVRD")
		m = s.message(id)
		require.Equal(t, "DELIVERED", m.State)
		require.Equal(t, 1, m.Receptions.Repeat, "another fact about the same part")
		require.Empty(t, s.inbox())
		require.Empty(t, s.exceptions())
		s.audit("alpha", s.smsc, smpptest.AuditOptions{})
	})
	t.Run("a receipt that was there before the answer waits for it", func(t *testing.T) {
		s, id := resentAfterTimeout(t)
		receipt(s, 1, "DELIVRD")
		require.Equal(t, "IN_DOUBT", s.message(id).State)
		require.Len(t, s.inbox(), 1)
		require.NoError(t, s.smsc.Answer(1))
		s.awaitState(id, "DELIVERED")
		require.Empty(t, s.inbox())
		s.audit("alpha", s.smsc, smpptest.AuditOptions{})
	})
	t.Run("two copies of which one is delivered and one not is a conflict, and the first stands", func(t *testing.T) {
		s, id := resentAfterTimeout(t)
		receipt(s, 2, "UNDELIV")
		require.NoError(t, s.smsc.Answer(1))
		s.await(id, "the late answer", func(m control.Message) bool { return m.Parts[0].Attempts[0].MessageID == "1" })
		receipt(s, 1, "DELIVRD")
		require.Equal(t, "UNDELIVERABLE", s.message(id).State)
		require.Equal(t, id, s.only("conflict").Message)
	})
}

func TestDoubt_aCutUnderLoadLeavesAtMostAWindow(t *testing.T) {
	const messages, window = 60, 5
	s := newSystem(t, smpptest.Config{
		Answers: smpptest.Answers{Delay: 20 * time.Millisecond},
		OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
			if sub.N == 20 {
				a.Drop = smpptest.DropBefore
			}
			return a
		},
	}, func(c *config.Config) { c.SMSCs[0].Window = window })
	for n := range messages {
		s.submit(number(n))
	}
	s.settled()
	r := s.audit("alpha", s.smsc, smpptest.AuditOptions{MaxInDoubt: window})
	require.NotZero(t, r.InDoubt)
	require.Zero(t, r.MaybeDoubled)
	require.Equal(t, messages-r.InDoubt, r.Final)
	require.Len(t, s.exceptions(), r.InDoubt)
}

func TestExpiry_whileTheSMSCIsAway(t *testing.T) {
	s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{IgnoreFirst: -1}}, nil)
	short, _, err := s.api.Submit(s.ctx, control.Submission{To: number(1), From: "ACME", Text: "now or never", Validity: "1s"}, "")
	require.NoError(t, err)
	long := s.submit(number(2))
	time.AfterFunc(time.Until(short.AcceptedAt.Add(time.Second)), func() {
		s.smsc.Change(func(c *smpptest.Config) { c.Bind.IgnoreFirst = 0 })
		s.smsc.Drop(smpptest.DropReset)
	})
	s.awaitState(long, "DELIVERED")
	m := s.awaitState(short.ID, "FAILED")
	require.Equal(t, "expiry", m.Basis)
	require.Contains(t, m.Reason, "expired")
	require.Empty(t, m.Parts[0].Attempts)
	require.EqualValues(t, 1, s.smsc.Stats().Submits)
}
