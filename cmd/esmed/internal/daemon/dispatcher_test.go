package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// A hold that comes while a round's records are made durable finds nothing at the outlet to recall.
func TestDispatcher_writesNothingOnceItsQueueIsHeld(t *testing.T) {
	for name, limit := range map[string]float64{"no limit": 0, "a limit": 1000} {
		t.Run(name, func(t *testing.T) {
			w := new(wire)
			g := newGates(nil).of("alpha")
			d := &dispatcher{gate: g, outlet: newOutlet(w, limit)}
			var came []smpp.Outcome
			b := &batch{submits: submits(1, 3, func(a smpp.Answer) { came = append(came, a.Outcome) })}
			g.turn(statemachine.Hold{Seq: 7})
			require.NoError(t, d.write(b))
			require.Empty(t, w.writes)
			require.Empty(t, d.outlet.held)
			require.Equal(t, 3, w.released)
			require.Equal(t, []smpp.Outcome{smpp.NotWritten, smpp.NotWritten, smpp.NotWritten}, came)
		})
	}
}

// runningStore is a store that runs until the test ends.
func runningStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(store.Config{Dir: t.TempDir(), Decode: DecodePDU, TextSpans: TextSpans})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return s.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		require.NoError(t, g.Wait())
		require.NoError(t, s.Close())
	})
	return s
}

func believed(last time.Time) *timekeeper {
	k := newTimekeeper(zap.NewNop(), prometheus.NewGauge(prometheus.GaugeOpts{}))
	k.begin(last)
	return k
}

func TestDispatcher_looksOnceAtWhatMayNotEndNow(t *testing.T) {
	now := time.Now()
	accepted := func(id statemachine.ID, validUntil time.Time) *statemachine.MessageAccepted {
		return &statemachine.MessageAccepted{
			Message: id, SMSC: "alpha", Account: "alpha", Parts: make([]statemachine.PartContent, 2), ValidUntil: validUntil,
		}
	}
	refused := func(id statemachine.ID, retryAt time.Time) []statemachine.Fact {
		return []statemachine.Fact{
			&statemachine.Sent{Message: id, Part: 2, Attempt: 1, SMSC: "alpha"},
			&statemachine.SubmitResp{Message: id, Part: 2, Attempt: 1, SMSC: "alpha", CommandStatus: 0x14, Temporary: true, RetryAt: retryAt},
		}
	}
	tests := []struct {
		name     string
		until    time.Time // the validity of the message
		whatever func(*dispatcher)
		over     func(*dispatcher)
	}{
		{"its validity seems over, by a clock that is in doubt", now.Add(-time.Second),
			func(d *dispatcher) { d.clock = believed(now.Add(time.Hour)) },
			func(d *dispatcher) { d.clock = believed(now) }},
		{"another part was refused for good, which is not recorded yet", now.Add(time.Hour),
			func(d *dispatcher) { d.answers.failed.add("m") },
			func(d *dispatcher) { d.answers.failed.recorded("m", 1); d.listen(now) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := runningStore(t)
			_, err := s.Append(t.Context(), append([]statemachine.Fact{accepted("m", tt.until)}, refused("m", now.Add(-time.Second))...)...)
			require.NoError(t, err)
			require.NoError(t, s.Sync(t.Context()))
			cfg := config.DefaultSMSC()
			cfg.Name = "alpha"
			d := &dispatcher{
				cfg: &cfg, store: s, gate: newGates(s).of("alpha"), client: smpp.New(), clock: believed(now), log: zap.NewNop(),
				answers: &answers{store: s, in: newMailbox[answer](), feedback: newMailbox[feedback]()}, outlet: newOutlet(new(wire), 0),
			}
			tt.whatever(d)
			round := func() (*batch, *waiting) {
				b := &batch{slots: make([]smpp.Slot, 5)}
				w, err := d.take(t.Context(), b, 5)
				require.NoError(t, err)
				return b, w
			}
			b, w := round()
			require.Empty(t, b.facts)
			require.Nil(t, w)
			b, w = round()
			require.Empty(t, b.facts)
			require.NotNil(t, w, "both parts were looked at")

			tt.over(d)
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = d.round(gone) // for want of slots it goes no further than to look at the clock
			require.ErrorIs(t, err, context.Canceled)
			b, _ = round()
			require.Len(t, b.facts, 2)
		})
	}
}
