package daemon_test

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// Of two SMSCs under load one is bound anew: neither loses or doubles anything, and the other does not
// notice.
func TestReload_underLoad(t *testing.T) {
	const messages = 100
	slow := smpptest.Config{
		Answers:  smpptest.Answers{Delay: 5 * time.Millisecond, Jitter: 10 * time.Millisecond},
		Receipts: smpptest.Receipts{Jitter: 20 * time.Millisecond, BeforeResponse: 0.2},
	}
	beta := startSMSC(t, slow)
	s := newSystem(t, slow, func(c *config.Config) {
		c.SMSCs = append(c.SMSCs, newSMSC("beta", beta.Addr()))
		c.DefaultSMSC = "alpha"
	})
	var load sync.WaitGroup
	for _, smsc := range []string{"alpha", "beta"} {
		load.Go(func() {
			for n := range messages {
				s.submitTo(smsc, number(n), "under load")
			}
		})
	}
	require.NoError(t, beta.Await(s.ctx, func(st smpptest.Stats) bool { return st.Submits >= messages/4 }))
	s.hangUp(s.changed(1, func(c *config.SMSC) { c.Window = 3 }), nil)
	require.NoError(t, beta.Await(s.ctx, func(st smpptest.Stats) bool { return st.Binds == 2 }))
	load.Wait()
	s.settled()
	require.NoError(t, beta.Drained(s.ctx))
	require.Equal(t, 1, s.smsc.Stats().Binds)
	for name, smsc := range map[string]*smpptest.Server{"alpha": s.smsc, "beta": beta} {
		r := s.audit(name, smsc, smpptest.AuditOptions{})
		require.Equal(t, messages, r.Final, name)
		require.Equal(t, messages, r.Submits, name)
		require.Zero(t, r.MaybeDoubled, name)
	}
}

// The window is full when SIGTERM comes: nothing more is submitted or taken, answers are waited for until
// the deadline, and what is unanswered then is in doubt. The next daemon goes on with what waited.
func TestStop_whileTheWindowIsFull(t *testing.T) {
	const window, waiting, answered = 6, 5, 4
	var free atomic.Bool
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.Held = !free.Load()
		return a
	}}, func(c *config.Config) {
		c.SMSCs[0].Window = window
		c.ShutdownTimeout = time.Second
	})
	for n := range window + waiting {
		s.submit(number(n))
	}
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == window })
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	s.awaitLog(`"msg":"stopping","shutdown_timeout"`)
	_, _, err := s.api.Submit(s.ctx, control.Submission{To: number(99), From: "ACME", Text: "too late"}, "")
	require.Error(t, err)
	for n := range uint64(answered) {
		require.NoError(t, s.smsc.Answer(n+1))
	}
	require.NoError(t, s.run.Wait(), "exit 0")
	require.EqualValues(t, window, s.smsc.Stats().Submits)
	links := s.smsc.Truth()
	require.Equal(t, "unbound", links[len(links)-1].Event)

	s.api.Close()
	free.Store(true)
	s.start()
	s.settled()
	r := s.audit("alpha", s.smsc, smpptest.AuditOptions{MaxInDoubt: window - answered})
	require.Equal(t, window+waiting, r.Messages, "what was refused is not there")
	require.Equal(t, window-answered, r.InDoubt)
	require.Equal(t, answered+waiting, r.Final)
	require.Zero(t, r.MaybeDoubled)
}

// A storm of throttling refuses everything for a while: nothing fails or is doubled, the SMSC is asked ever
// less often, and when it is over all goes through.
func TestStorm_ofThrottlingPasses(t *testing.T) {
	const messages, storm = 150, 3 * time.Second
	s := newSystem(t, smpptest.Config{Answers: smpptest.Answers{ThrottleFor: storm}}, func(c *config.Config) {
		c.SMSCs[0].Window = 20
	})
	for n := range messages {
		s.submit(number(n))
	}
	s.settled()
	r := s.audit("alpha", s.smsc, smpptest.AuditOptions{})
	require.Equal(t, messages, r.Final)
	require.Equal(t, messages, r.Accepted)
	require.Zero(t, r.MaybeDoubled)
	var last time.Time
	refused := map[time.Duration]int{} // by the second of the storm
	for _, l := range s.smsc.Truth() {
		if l.Status == smpp.StatusThrottled.String() {
			if last.IsZero() {
				last = l.At
			}
			refused[l.At.Sub(last).Truncate(time.Second)]++
		}
	}
	require.NotEmpty(t, refused)
	require.LessOrEqual(t, refused[2*time.Second], 20, "%v", refused)
}
