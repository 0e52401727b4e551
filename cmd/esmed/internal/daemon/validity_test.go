package daemon_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// submitValid submits a message that is valid for so long; "" is for delivery_window.
func (s *system) submitValid(to, validity string) string {
	s.t.Helper()
	m, _, err := s.api.Submit(s.ctx, control.Submission{To: to, From: "ACME", Text: "hello", Validity: validity}, "")
	require.NoError(s.t, err)
	return m.ID
}

func TestValidity_endsWhatWaitsWhateverKeepsIt(t *testing.T) {
	t.Run("no bind, and it is not the first", func(t *testing.T) {
		s, letIn := unbound(t)
		first := s.submitValid(number(1), "")
		short := s.submitValid(number(2), "1s")
		m := s.awaitState(short, "FAILED")
		require.Equal(t, "expiry", m.Basis)
		require.Contains(t, m.Reason, "expired in our queue before it could be submitted")
		require.Equal(t, "QUEUED", s.message(first).State)
		letIn()
		s.awaitState(first, "DELIVERED")
		require.EqualValues(t, 1, s.smsc.Stats().Submits)
	})
	t.Run("a pause, and the reason names the refusal that it waited after", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: firstTry(refuse(0x500))}, func(c *config.Config) {
			c.SMSCs[0].Retry.PauseStatuses = []smpp.Status{0x500}
		})
		m := s.awaitState(s.submitValid(number(1), "1s"), "FAILED")
		require.Equal(t, "expiry", m.Basis)
		require.Contains(t, m.Reason, "refused attempt 1 with 0x00000500")
	})
	t.Run("an SMSC that was taken out of the configuration", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusBindFail}}, nil)
		id := s.submitValid(number(1), "2s")
		s.halt()
		s.cfg.SMSCs = []config.SMSC{newSMSC("beta", s.smsc.Addr())}
		s.start()
		require.Equal(t, "expiry", s.awaitState(id, "FAILED").Basis)
	})
	t.Run("refusals until then, and none after", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
			a.Status = smpp.StatusMsgQFul
			return a
		}}, func(c *config.Config) { c.SMSCs[0].Retry.Max = c.SMSCs[0].DeliveryWindow })
		m := s.awaitState(s.submitValid(number(1), "1s"), "FAILED")
		require.Equal(t, "expiry", m.Basis)
		require.Contains(t, m.Reason, "ESME_RMSGQFUL")
		require.EqualValues(t, len(m.Parts[0].Attempts), s.smsc.Stats().Submits)
		require.Greater(t, len(m.Parts[0].Attempts), 2)
		require.Less(t, len(m.Parts[0].Attempts), 12, "the delay grows")
	})
}
