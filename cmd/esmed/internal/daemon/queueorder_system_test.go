package daemon_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp/smpptest"
)

// A stop writes what is recorded as leaving, so that what waits goes on in its order.
func TestStop_theQueueGoesOnInItsOrder(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: silent.OnSubmit}, func(c *config.Config) {
		c.SMSCs[0].Window, c.Log.Level = 10, "info" // quick, so that a stop meets a round
	})
	s.hold("alpha")
	const messages = 1000
	s.submitMany(messages)
	s.release("alpha")
	for n := range 10 {
		s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits >= uint64(n*messages/10+1) })
		s.restart()
	}
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits >= messages })
	last := ""
	for _, sub := range s.smsc.Submits() {
		require.Less(t, last, sub.Dest.Addr)
		last = sub.Dest.Addr
	}
	require.NotContains(t, types(s.events()), "in_doubt")
}

// What a hold calls back is not behind all that waits when it may leave again.
func TestHold_whatIsCalledBackIsNotLast(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: silent.OnSubmit}, func(c *config.Config) {
		c.SMSCs[0].Window, c.SMSCs[0].Throughput = 30, 100
	})
	s.hold("alpha")
	const messages = 120
	s.submitMany(messages)
	s.release("alpha")
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits >= 20 })
	s.hold("alpha")
	s.release("alpha")
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits >= messages })
	submits := s.smsc.Submits()
	require.Equal(t, number(messages - 1)[1:], submits[messages-1].Dest.Addr)
}
