package daemon_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// threeParts is a text that takes three.
var threeParts = strings.Repeat("a long story, ", 30)

// inPart does something to the first submit of one part, and takes the others on. Receipts follow as the
// Config says.
func inPart(n byte, do func(*smpptest.Action)) func(smpptest.Submit, smpptest.Action) smpptest.Action {
	seen := false
	return func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		if sub.ShortMessage[6] == n && !seen { // 06 08 04 ref ref of n
			seen = true
			do(&a)
		}
		return a
	}
}

func partStates(m control.Message) (states []string) {
	for _, p := range m.Parts {
		states = append(states, p.State)
	}
	return states
}

// whole requires that the SMSC has the text once, and whole.
func (s *system) whole(to, text string) {
	s.t.Helper()
	require.Empty(s.t, smpptest.CompareTexts([]smpptest.Sent{{Dest: to[1:], Text: text}}, smpptest.Join(s.smsc.Submits(), "")))
}

func TestLong_aPartThatIsRefusedForGoodEndsTheMessage(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: inPart(2, refuse(smpp.StatusInvDstAdr))}, func(c *config.Config) {
		c.SMSCs[0].Window = 1
	})
	id := s.submitTo("", number(1), threeParts)
	m := s.await(id, "closed", func(m control.Message) bool { return m.Closed })
	require.Equal(t, "FAILED", m.State)
	require.Equal(t, []string{"DELIVERED", "FAILED", "FAILED"}, partStates(m))
	require.Empty(t, m.Parts[2].Attempts, "a part of a message that failed is not sent")
	require.EqualValues(t, 2, s.smsc.Stats().Submits)
	s.audit("alpha", s.smsc, smpptest.AuditOptions{})
}

func TestLong_aPartThatIsRefusedForNowIsSentAgainAlone(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: inPart(2, refuse(smpp.StatusThrottled))}, nil)
	id := s.submitTo("", number(1), threeParts)
	m := s.awaitState(id, "DELIVERED")
	require.Len(t, m.Parts[1].Attempts, 2)
	require.False(t, m.MaybeDoubled)
	require.EqualValues(t, 4, s.smsc.Stats().Submits)
	s.whole(number(1), threeParts)
	s.audit("alpha", s.smsc, smpptest.AuditOptions{})
}

func TestLong_aPartWhoseAnswerIsLost(t *testing.T) {
	cut := func(a *smpptest.Action) { a.Drop = smpptest.DropBefore }
	t.Run("holds the message in doubt, and nothing but it", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: inPart(2, cut)}, func(c *config.Config) { c.SMSCs[0].Window = 1 })
		id := s.submitTo("", number(1), threeParts)
		m := s.await(id, "settled", func(m control.Message) bool { return m.Parts[2].State == "DELIVERED" })
		require.Equal(t, "IN_DOUBT", m.State)
		require.Equal(t, []string{"DELIVERED", "IN_DOUBT", "DELIVERED"}, partStates(m))
		require.Equal(t, 2, s.only("in_doubt").Part)
		s.drained()
		s.whole(number(1), threeParts) // it had arrived, which nobody can know
		s.audit("alpha", s.smsc, smpptest.AuditOptions{MaxInDoubt: 1})

		s.decide(s.only("in_doubt").ID, "accepted", control.Resolve{MessageID: "2"})
		require.Equal(t, "DELIVERED", s.message(id).State, "its receipt waited for its id")
	})
	t.Run("is sent again where that is asked for, and says so", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: inPart(2, cut)}, func(c *config.Config) {
			c.SMSCs[0].Window, c.SMSCs[0].InDoubt = 1, "resend"
		})
		id := s.submitTo("", number(1), threeParts)
		m := s.awaitState(id, "DELIVERED")
		require.True(t, m.MaybeDoubled)
		require.Len(t, m.Parts[1].Attempts, 2)
		joined := smpptest.Join(s.smsc.Submits(), "")
		require.Len(t, joined, 1)
		require.Equal(t, []int{2}, joined[0].Repeated, "the same octets, so that a handset shows one text")
		require.Equal(t, threeParts, joined[0].Text)
		s.drained()
		s.audit("alpha", s.smsc, smpptest.AuditOptions{})
	})
}

// Many long messages to one subscriber cross on the wire, and are told apart.
func TestLong_messagesToOneSubscriberAreNotMixed(t *testing.T) {
	const lanes, each = 6, 5
	s := newSystem(t, smpptest.Config{
		Answers: smpptest.Answers{Jitter: 5 * time.Millisecond, Refuse: []smpptest.Refusal{{Status: smpp.StatusMsgQFul, Share: 0.2}}},
	}, func(c *config.Config) { c.SMSCs[0].Window = 20 })
	var mu sync.Mutex
	var sent []smpptest.Sent
	var load sync.WaitGroup
	for lane := range lanes {
		load.Go(func() {
			for n := range each {
				text := strings.Repeat(string(rune('a'+lane))+string(rune('A'+n)), 170)
				s.submitTo("", number(1), text)
				mu.Lock()
				sent = append(sent, smpptest.Sent{Dest: number(1)[1:], Text: text})
				mu.Unlock()
			}
		})
	}
	load.Wait()
	s.settled()
	require.Empty(t, smpptest.CompareTexts(sent, smpptest.Join(s.smsc.Submits(), "")))
	r := s.audit("alpha", s.smsc, smpptest.AuditOptions{})
	require.Equal(t, lanes*each, r.Final)
}

func TestLong_goesOnUnderTheSameReferenceAfterARestart(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: inPart(2, refuse(smpp.StatusMsgQFul))}, func(c *config.Config) {
		c.SMSCs[0].Window = 1
		c.SMSCs[0].Retry.Min, c.SMSCs[0].Retry.Max = time.Second, time.Second
	})
	id := s.submitTo("", number(1), threeParts)
	s.await(id, "refused", func(m control.Message) bool { return len(m.Parts[1].Attempts) == 1 && m.Parts[1].State == "QUEUED" })
	s.restart()
	s.awaitState(id, "DELIVERED")
	s.whole(number(1), threeParts)
	s.drained()
	s.audit("alpha", s.smsc, smpptest.AuditOptions{})
}

// What cancelling comes to depends on where each part stands.
func TestCancel_ofAMessageWhosePartsStandApart(t *testing.T) {
	s := newSystem(t, smpptest.Config{
		Receipts: smpptest.Receipts{Delay: time.Hour},
		OnSubmit: inPart(2, func(a *smpptest.Action) { a.Held = true }),
		OnCancel: func(smpptest.Cancel) smpptest.Cancelled { return smpptest.Cancelled{Deleted: true} },
	}, func(c *config.Config) {
		c.SMSCs[0].Window, c.SMSCs[0].ResponseTimeout = 1, patience
	})
	id := s.submitTo("", number(1), threeParts)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 2 })
	done := s.cancel(id)
	require.False(t, done.OK, "one is on its way")
	require.Equal(t, []string{control.OutcomeAccepted, control.OutcomeUnasked, control.OutcomeCancelled},
		[]string{done.Parts[0].Outcome, done.Parts[1].Outcome, done.Parts[2].Outcome})
	require.NoError(t, s.smsc.Answer(2))
	m := s.await(id, "answered", func(m control.Message) bool { return m.Parts[1].State == "SUBMITTED" && m.Parts[0].State == "DELETED" })
	require.Equal(t, []string{"DELETED", "SUBMITTED", "FAILED"}, partStates(m))
	require.False(t, m.Closed)
	done = s.cancel(id)
	require.Equal(t, control.OutcomeAccepted, done.Parts[1].Outcome)
	m = s.await(id, "closed", func(m control.Message) bool { return m.Closed })
	require.Equal(t, "FAILED", m.State)
	require.EqualValues(t, 2, s.smsc.Stats().Submits, "what was cancelled here never left")
	s.drained()
	s.audit("alpha", s.smsc, smpptest.AuditOptions{})
}

// The answer to cancel_sm is no evidence: the subscriber may have the message by then.
func TestCancel_thatCameTooLateAtTheSMSC(t *testing.T) {
	s := newSystem(t, smpptest.Config{
		Receipts: smpptest.Receipts{Delay: time.Hour},
		OnCancel: func(smpptest.Cancel) smpptest.Cancelled { return smpptest.Cancelled{} },
	}, nil)
	id := s.submit(number(1))
	s.awaitState(id, "SUBMITTED")
	require.Equal(t, control.OutcomeAccepted, s.cancel(id).Parts[0].Outcome)
	require.Equal(t, "SUBMITTED", s.message(id).State)
	s.smsc.Deliver(s.smsc.Receipt(s.smsc.Submits()[0], smpptest.Final, "DELIVRD"))
	s.awaitState(id, "DELIVERED")
}

// Cancelling takes the second attempt off the queue; what became of the first nobody knows all the same.
func TestCancel_ofWhatWaitsToBeSentAgainLeavesItsDoubt(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		if a.Receipts = nil; sub.N == 1 {
			a.Held = true
		} else {
			a.Status = smpp.StatusMsgQFul
		}
		return a
	}}, func(c *config.Config) {
		c.SMSCs[0].InDoubt, c.SMSCs[0].ResponseTimeout = "resend", 100*time.Millisecond
		c.SMSCs[0].Retry.Min, c.SMSCs[0].Retry.Max = time.Hour, time.Hour
	})
	id := s.submit(number(1))
	s.await(id, "refused once more", func(m control.Message) bool { return len(m.Parts[0].Attempts) == 2 && m.State == "QUEUED" })
	s.cancel(id)
	m := s.message(id)
	require.Equal(t, "IN_DOUBT", m.State, "an attempt of it may have arrived")
	require.NoError(t, s.smsc.Answer(1))
	m = s.await(id, "the late answer", func(m control.Message) bool { return m.State == "SUBMITTED" })
	require.False(t, m.MaybeDoubled)
	s.smsc.Deliver(s.smsc.Receipt(s.smsc.Submits()[0], smpptest.Final, "DELIVRD"))
	s.awaitState(id, "DELIVERED")
	require.EqualValues(t, 2, s.smsc.Stats().Submits)
}
