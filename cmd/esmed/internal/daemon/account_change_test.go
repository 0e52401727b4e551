package daemon_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/smpp/smpptest"
)

// withAccount is a configuration whose first SMSC is of another account.
func withAccount(cfg *config.Config, account string) *config.Config {
	next := *cfg
	next.SMSCs = slices.Clone(cfg.SMSCs)
	next.SMSCs[0].Account = account
	return &next
}

func TestAccount_isNotChangedWhileMessagesAreOpen(t *testing.T) {
	s, _ := newPair(t, func(*config.SMSC) {}) // an SMSC each: a receipt comes on alpha's bind
	alpha, changed := s.cfg, withAccount(s.cfg, "other")
	id := s.submit(number(1))
	s.awaitState(id, "SUBMITTED")

	s.hangUp(changed, nil)
	s.awaitLog("needs a restart")

	without := *s.cfg
	without.SMSCs, without.DefaultSMSC = s.cfg.SMSCs[1:], ""
	s.hangUp(&without, nil)
	s.awaitLog(`"msg":"reloaded"`)
	s.hangUp(changed, nil)
	s.awaitLog(`account changes from \"alpha\" to \"other\" while 1 messages are open`)

	s.halt()
	var bad *daemon.ConfigError
	require.ErrorAs(t, daemon.Run(s.ctx, changed, daemon.Options{Log: s.log}), &bad)
	s.cfg = alpha
	s.start()
	require.Equal(t, "SUBMITTED", s.message(id).State)
	s.smsc.Deliver(s.smsc.Receipt(s.smsc.Submits()[0], smpptest.Final, "DELIVRD"))
	s.awaitState(id, "DELIVERED")

	s.halt()
	s.cfg = changed
	s.start()
	m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(2), From: "ACME", Text: "hello"}, "")
	require.NoError(t, err)
	require.Equal(t, "other", m.Account, "nothing was open any more")
}
