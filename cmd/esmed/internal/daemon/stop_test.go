package daemon

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
	"esmed/statemachine"
	"esmed/store"
)

// When the store has gone, nobody waits for an SMSC that answers nothing any more, unbind included.
func TestFleet_anErrorDoesNotWaitForTheSMSC(t *testing.T) {
	sim, err := smpptest.Start(smpptest.Config{Link: smpptest.Link{SilentAfter: 1}}) // the bind
	require.NoError(t, err)
	defer func() { require.NoError(t, sim.Close()) }()
	s, err := store.Open(store.Config{Dir: t.TempDir(), Decode: DecodePDU, TextSpans: TextSpans})
	require.NoError(t, err)
	ctx, stopStore := context.WithCancel(t.Context())
	var storing, running errgroup.Group
	storing.Go(func() error { return s.Run(ctx) })
	_, err = s.SetRules(ctx, statemachine.Rules{Parser: "1"})
	require.NoError(t, err)

	var out bytes.Buffer
	log, err := newLogger(&out, zapcore.InfoLevel, "json", nil)
	require.NoError(t, err)
	cfg := config.Default()
	one := config.DefaultSMSC()
	one.Name, one.Account, one.Addr, one.SystemID, one.Password = "alpha", "alpha", []string{sim.Addr()}, "esme", "secret"
	cfg.SMSCs = []config.SMSC{one}
	m := newMetrics("test")
	f := newFleet(services{
		store: s, gates: newGates(s), metrics: m, log: log, clock: newTimekeeper(zap.NewNop(), m.alerts.WithLabelValues(control.AlertClock)),
	}, time.Hour)
	plan, err := f.plan(&cfg)
	require.NoError(t, err)
	running.Go(func() error { return f.run(t.Context(), plan) })
	require.NoError(t, sim.Await(t.Context(), func(st smpptest.Stats) bool { return st.Bound == 1 }))

	stopStore()
	require.NoError(t, storing.Wait())
	began := time.Now()
	plan["alpha"].answers.in.put(answer{Answer: smpp.Answer{Outcome: smpp.NotWritten}})
	require.ErrorIs(t, running.Wait(), store.ErrClosed)
	require.Less(t, time.Since(began), one.ResponseTimeout/2)
	require.Contains(t, out.String(), stoppedByError)
	require.NotContains(t, out.String(), "shutdown")
	require.NoError(t, s.Close())
}
