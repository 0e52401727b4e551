package daemon_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/smpp"
	"esmed/smpp/smpptest"
	"esmed/statemachine"
	"esmed/store"
)

// recordedAt makes a store whose one record was made at that time.
func recordedAt(t *testing.T, dir string, at time.Time) {
	t.Helper()
	s, err := store.Open(store.Config{
		Dir: dir, Decode: daemon.DecodePDU, TextSpans: daemon.TextSpans, Now: func() time.Time { return at },
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { return s.Run(ctx) })
	_, err = s.SetRules(ctx, statemachine.Rules{Parser: "1"})
	require.NoError(t, err)
	cancel()
	require.NoError(t, g.Wait())
	require.NoError(t, s.Close())
}

func TestClock_behindTheLogLetsNothingExpire(t *testing.T) {
	s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusBindFail}}, func(c *config.Config) {
		recordedAt(t, c.DataDir, time.Now().Add(time.Hour))
	})
	waits, _, err := s.api.Submit(s.ctx, control.Submission{To: number(1), From: "ACME", Text: "hello", Validity: "1s"}, "")
	require.NoError(t, err)
	over := time.Now().Add(time.Second)
	s.awaitSMSC(func(smpptest.Stats) bool { return time.Now().After(over) })
	s.smsc.Change(func(c *smpptest.Config) { c.Bind.Refuse = 0 })

	s.awaitState(s.submit(number(2)), "DELIVERED")
	require.Equal(t, "QUEUED", s.message(waits.ID).State, "its validity is over by a clock that is not believed")
	require.EqualValues(t, 1, s.smsc.Stats().Submits)
	require.Contains(t, s.metrics(), `esmed_alert_active{alert="clock"} 1`)
	require.Equal(t, 1, strings.Count(s.log.String(), `"msg":"the clock is in doubt`))
}

func TestClock_ofAnOrdinaryDayRaisesNoAlert(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	s.restart()
	require.Contains(t, s.metrics(), `esmed_alert_active{alert="clock"} 0`)
}
