package control_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
)

// rehearser tells one page, or fails.
type rehearser struct{ err error }

func (r rehearser) RehearseReprocess(_ context.Context, see func(control.ReprocessPage) error) error {
	if r.err != nil {
		return r.err
	}
	return see(control.ReprocessPage{
		Record: 99, Rows: 1, Messages: 2,
		Decisions: []statemachine.Decision{
			{Pos: statemachine.DecisionPos{Seq: 99}, Record: 7, Message: "M1", Part: 1, Verdict: "applied", From: statemachine.Submitted, To: statemachine.Delivered},
			{Pos: statemachine.DecisionPos{Seq: 99, N: 1}, Record: 98, Message: "M2", Part: 1, Verdict: "noted"},
		},
		ReceivedAt: map[uint64]time.Time{7: began},
	})
}

func TestReprocess_dryRunTellsAndRecordsNothing(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.Rehearse = rehearser{}
	c := newClient(t, newAPI(t, cfg))
	seq := f.seq
	var told []control.Rehearsed
	result, err := c.RehearseReprocess(t.Context(), func(d control.Rehearsed) error {
		told = append(told, d)
		return nil
	}, nil)
	require.NoError(t, err)
	require.Equal(t, seq, f.seq)
	require.Len(t, told, 2)
	require.Equal(t, "DELIVERED", told[0].To)
	require.Equal(t, began, *told[0].ReceivedAt)
	require.Nil(t, told[1].ReceivedAt)
	require.Equal(t, control.ReprocessResult{
		ReprocessProgress: control.ReprocessProgress{Rows: 1, Messages: 2}, Changed: 1, Verdicts: map[string]int{"applied": 1, "noted": 1},
	}, result)
}

func TestReprocess_dryRunFailures(t *testing.T) {
	tests := []struct {
		name   string
		with   control.Rehearser
		status int
	}{
		{"nothing to rehearse with", nil, http.StatusServiceUnavailable},
		{"the configuration is wrong", rehearser{fmt.Errorf("%w: %w", control.ErrConfiguration, errors.New("smscs: at least one is needed"))}, http.StatusUnprocessableEntity},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := newFake(t).config()
			cfg.Rehearse = tt.with
			_, err := newClient(t, newAPI(t, cfg)).RehearseReprocess(t.Context(), func(control.Rehearsed) error { return nil }, nil)
			var problem *control.ProblemError
			require.ErrorAs(t, err, &problem)
			require.Equal(t, tt.status, problem.Status)
		})
	}
}
