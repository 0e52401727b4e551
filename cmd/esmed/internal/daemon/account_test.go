package daemon_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp/smpptest"
)

// silent accepts all submits and sends no receipts of its own.
var silent = smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
	a.Receipts = nil
	return a
}}

// newPair is a daemon with two SMSCs, alpha and beta, which give the same ids.
func newPair(t *testing.T, configure func(beta *config.SMSC)) (s *system, beta *smpptest.Server) {
	t.Helper()
	beta, err := smpptest.Start(silent)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, beta.Close()) })
	s = newSystem(t, silent, func(c *config.Config) {
		b := newSMSC("beta", beta.Addr())
		configure(&b)
		c.SMSCs, c.DefaultSMSC = append(c.SMSCs, b), "alpha"
	})
	return s, beta
}

func TestAccount_aReceiptMayComeOnAnyBindOfIt(t *testing.T) {
	s, beta := newPair(t, func(b *config.SMSC) { b.Account = "alpha" })
	id := s.submit(number(1))
	s.awaitState(id, "SUBMITTED")
	beta.Deliver(s.smsc.Receipt(s.smsc.Submits()[0], smpptest.Final, "DELIVRD"))

	m := s.awaitState(id, "DELIVERED")
	require.Equal(t, "alpha", m.SMSC)
	require.Contains(t, m.Reason, "beta reported DELIVRD")
	require.Empty(t, s.inbox())
}

func TestAccount_equalIDsOfTwoNeverMix(t *testing.T) {
	s, beta := newPair(t, func(*config.SMSC) {})
	ours := s.submit(number(1))
	s.awaitState(ours, "SUBMITTED")
	receipt := s.smsc.Receipt(s.smsc.Submits()[0], smpptest.Final, "UNDELIV")
	beta.Deliver(receipt)
	require.NoError(t, beta.Drained(s.ctx))
	rows := s.inbox()
	require.Len(t, rows, 1, "beta's receipt waits: alpha's message with the same id and destination is not its own")
	require.Equal(t, "beta", rows[0].Account)
	require.Equal(t, "SUBMITTED", s.message(ours).State)

	theirs, _, err := s.api.Submit(s.ctx, control.Submission{To: number(1), From: "ACME", Text: "4711", SMSC: "beta"}, "")
	require.NoError(t, err)
	m := s.awaitState(theirs.ID, "UNDELIVERABLE")
	require.Equal(t, s.message(ours).Acceptance.MessageID, m.Acceptance.MessageID, "the ids are equal")
	s.smsc.Deliver(s.smsc.Receipt(s.smsc.Submits()[0], smpptest.Final, "DELIVRD"))
	s.awaitState(ours, "DELIVERED")
	require.Equal(t, "UNDELIVERABLE", s.message(theirs.ID).State)
	require.Empty(t, s.exceptions())
}
