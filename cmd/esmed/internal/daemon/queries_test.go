package daemon

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

func quietQueries(throughput float64, busy bool) *queries {
	cfg := config.DefaultSMSC()
	cfg.Name, cfg.Addr, cfg.Throughput = "alpha", []string{"127.0.0.1:1"}, throughput
	client := smpp.New(smpp.Config{Name: "alpha/1", Addrs: cfg.Addr})
	return newQueries(&inquirer{cfg: &cfg, client: client, late: newLateAnswers()}, func() bool { return busy }, func() bool { return false }, zap.NewNop())
}

func TestQueries_leaveTheSMSCToSubmits(t *testing.T) {
	tests := []struct {
		name       string
		throughput float64
		busy       bool
		want       time.Duration // between two queries
	}{
		{"a tenth of throughput", 100, false, 100 * time.Millisecond},
		{"a hundredth while submits wait", 100, true, time.Second},
		{"twenty a second at most", 10_000, false, 50 * time.Millisecond},
		{"twenty a second without a limit", 0, false, 50 * time.Millisecond},
		{"two a second without a limit while submits wait", 0, true, 500 * time.Millisecond},
		{"a slow SMSC is asked slowly", 0.5, false, 20 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := quietQueries(tt.throughput, tt.busy)
			now := time.Now()
			require.Zero(t, q.turn(now))
			require.InDelta(t, tt.want, q.turn(now), float64(time.Microsecond))
			require.InDelta(t, 2*tt.want, q.turn(now), float64(time.Microsecond))
			require.Zero(t, q.turn(now.Add(time.Hour)), "turns that nobody took are not saved up")
		})
	}
}

func TestQueries_hold(t *testing.T) {
	q := quietQueries(0, false)
	for n := range maxHeld {
		require.True(t, q.hold(store.Due{Message: statemachine.ID(strconv.Itoa(n)), Part: 1}))
	}
	require.True(t, q.hold(store.Due{Message: "0", Part: 1}), "it is held already")
	require.False(t, q.hold(store.Due{Message: "0", Part: 2}), "there is no room: its window ends unasked")
	require.Len(t, q.waiting, maxHeld)
}

func TestQueries_anSMSCThatIsAwayKeepsNothingOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := quietQueries(0, false)
		require.True(t, q.hold(store.Due{Message: "M1", Part: 1}))
		began := time.Now()
		_, err := q.request(t.Context(), <-q.waiting, new(statemachine.Message), statemachine.AttemptRef{}, "1")
		require.ErrorIs(t, err, errUnasked)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, queryPatience, time.Since(began))
	})
}
