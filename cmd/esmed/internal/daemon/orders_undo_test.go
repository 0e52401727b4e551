package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"esmed/statemachine"
)

func TestOrders_whatIsTakenBackHasItsTurnWithTheDispatcher(t *testing.T) {
	s := runningStore(t)
	records, err := s.Append(t.Context(),
		&statemachine.MessageAccepted{Message: "m", SMSC: "alpha", Account: "alpha", Parts: make([]statemachine.PartContent, 1)},
		&statemachine.Sent{Message: "m", Part: 1, Attempt: 1, SMSC: "alpha"},
		&statemachine.AttemptInDoubt{Message: "m", Part: 1, Attempt: 1, SMSC: "alpha", Cause: causeCut},
	)
	require.NoError(t, err)
	m, err := s.Message(t.Context(), records[0].Fact.(*statemachine.MessageAccepted).Message)
	require.NoError(t, err)
	x := m.Exceptions[0]
	o := &orders{backend: &backend{store: s}, gates: newGates(s), log: zap.NewNop()}
	operate := func(ctx context.Context, action statemachine.Action) error {
		judged, err := o.Operate(ctx, &statemachine.Operator{Action: action, By: "uid:0", Exception: x})
		if err == nil {
			require.Len(t, judged, 1)
			require.Empty(t, judged[0].NoEffect)
		}
		return err
	}
	require.NoError(t, operate(t.Context(), statemachine.ActionResend))

	g := o.gates.of("alpha")
	require.NoError(t, g.enter(t.Context()))
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, operate(soon, statemachine.ActionUndo), context.DeadlineExceeded, "a round is inside")
	m, err = s.Message(t.Context(), "m")
	require.NoError(t, err)
	require.Equal(t, statemachine.Queued, m.State)

	g.leave()
	require.NoError(t, operate(t.Context(), statemachine.ActionUndo))
	m, err = s.Message(t.Context(), "m")
	require.NoError(t, err)
	require.Equal(t, statemachine.InDoubt, m.State)
}
