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
}

func (a *applied) Sync(context.Context) error {
	a.waits++
	return a.err
}

func TestGate_aRoundSeesWhatAnOrderLeftUnapplied(t *testing.T) {
	s := &applied{}
	g := newGates(s).of("alpha")
	require.NoError(t, g.enter(t.Context()))
	require.Zero(t, s.waits, "nothing was ordered")
	g.leave()

	require.NoError(t, g.order(t.Context(), func(context.Context) error { return nil }))
	require.NoError(t, g.enter(t.Context()))
	require.Zero(t, s.waits, "what was ordered is applied")
	g.leave()

	obstructed := errors.New("obstructed")
	require.ErrorIs(t, g.order(t.Context(), func(context.Context) error { return obstructed }), obstructed)
	s.err = obstructed
	require.ErrorIs(t, g.enter(t.Context()), obstructed, "the queue is not read until the order is applied")
	require.ErrorIs(t, g.enter(t.Context()), obstructed, "nor by the next round, which finds nobody inside")
	s.err = nil
	require.NoError(t, g.enter(t.Context()))
	require.Equal(t, 3, s.waits)
	g.leave()
	require.NoError(t, g.enter(t.Context()))
	require.Equal(t, 3, s.waits, "once")
}

func TestGate_admitsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newGates(&applied{})
		g := all.of("alpha")
		require.Same(t, g, all.of("alpha"))
		require.NoError(t, all.of("beta").enter(t.Context()), "another SMSC has its own")
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
	require.Nil(t, g.held())
	g.turn(&statemachine.Hold{Seq: 7, By: "uid:0"})
	require.Equal(t, "uid:0", g.held().By)
	require.Empty(t, g.turned)
	g.turn(nil)
	g.turn(nil)
	require.Nil(t, g.held())
	require.Len(t, g.turned, 1)
}
