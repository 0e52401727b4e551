package daemon

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// applied counts how often it was waited for, and fails as it is told.
type applied struct {
	waits int
	err   error
	hold  statemachine.Hold // of alpha
}

func (a *applied) Hold(_ context.Context, smsc string) (statemachine.Hold, error) {
	if smsc != "alpha" {
		return statemachine.Hold{}, errors.New("another SMSC's")
	}
	return a.hold, nil
}

func (a *applied) Sync(context.Context) error {
	a.waits++
	return a.err
}

func TestGate_aRoundSeesWhatAnOrderLeftUnapplied(t *testing.T) {
	s := &applied{}
	g := newGates(s).of("alpha")
	round := func() {
		t.Helper()
		require.NoError(t, g.enter(t.Context()))
		g.leave()
	}
	round()
	require.Equal(t, 1, s.waits, "what was ordered before the daemon began")
	round()
	require.Equal(t, 1, s.waits, "nothing was ordered since")

	require.NoError(t, g.order(t.Context(), func(context.Context) error { return nil }))
	require.Equal(t, 2, s.waits, "an order waits until it is applied")
	round()
	require.Equal(t, 2, s.waits)

	obstructed := errors.New("obstructed")
	require.ErrorIs(t, g.order(t.Context(), func(context.Context) error { return obstructed }), obstructed)
	s.err = obstructed
	require.ErrorIs(t, g.enter(t.Context()), obstructed, "the queue is not read until the order is applied")
	require.ErrorIs(t, g.enter(t.Context()), obstructed, "nor by the next round, which finds nobody inside")
	s.err, s.hold = nil, statemachine.Hold{Seq: 7, By: "uid:0"}
	round()
	require.True(t, g.held(), "it was a hold")
	round()
	require.Equal(t, 5, s.waits, "once")
}

func TestGate_admitsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newGates(&applied{})
		g := all.of("alpha")
		require.Same(t, g, all.of("alpha"))
		require.NotSame(t, g, all.of("beta"), "another SMSC has its own")
		require.NoError(t, g.enter(t.Context()))
		given := false
		ended := make(chan error)
		go func() {
			ended <- g.order(t.Context(), func(context.Context) error {
				given = true
				return nil
			})
		}()
		synctest.Wait()
		require.False(t, given, "a round is inside")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, g.order(gone, nil), context.Canceled)
		g.leave()
		require.NoError(t, <-ended)
		require.True(t, given)
	})
}

func TestGate_aReleaseWakesTheDispatcher(t *testing.T) {
	g := newGates(&applied{}).of("alpha")
	require.False(t, g.held())
	g.turn(statemachine.Hold{Seq: 7, By: "uid:0"})
	require.True(t, g.held())
	require.Empty(t, g.turned)
	g.turn(statemachine.Hold{})
	g.turn(statemachine.Hold{})
	require.False(t, g.held())
	require.Len(t, g.turned, 1)
}

// The first that passes a gate may be something else than a round, such as the end of what expired.
func TestGate_knowsOfAHoldWhoeverIsInsideFirst(t *testing.T) {
	g := newGates(&applied{hold: statemachine.Hold{Seq: 7, By: "uid:0"}}).of("alpha")
	require.NoError(t, g.order(t.Context(), func(context.Context) error { return nil }))
	require.NoError(t, g.enter(t.Context()))
	require.True(t, g.held(), "it was held before the daemon began")
}
