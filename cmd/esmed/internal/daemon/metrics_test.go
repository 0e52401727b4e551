package daemon

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/statemachine"
)

func TestMetrics_followPrometheusConventions(t *testing.T) {
	m := newMetrics()
	m.commit(3, time.Millisecond)
	m.answered("alpha", smpp.StatusOK, time.Millisecond)
	m.unanswered("alpha")
	m.acknowledged("alpha", time.Millisecond)
	m.verdicts.WithLabelValues("alpha", string(statemachine.VerdictApplied)).Inc()
	m.states.WithLabelValues("alpha", statemachine.Delivered.String()).Inc()
	problems, err := testutil.GatherAndLint(m.registry)
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestMetrics_anSMSCCannotMakeLabels(t *testing.T) {
	m := newMetrics()
	for status := range smpp.Status(0x1000) {
		m.answered("alpha", status, time.Millisecond)
	}
	require.Less(t, testutil.CollectAndCount(m.submits), 120)
}

// TestWitness_aRecordWithoutAnSMSC: what a person decides is counted for the SMSC of the message.
func TestWitness_aRecordWithoutAnSMSC(t *testing.T) {
	m := newMetrics()
	all := &witnesses{metrics: m, clock: newTimekeeper(zap.NewNop(), m.alerts.WithLabelValues(control.AlertClock))}
	w := all.batch()
	w.Folded(statemachine.Record{Fact: &statemachine.Operator{Action: statemachine.ActionNotSent}}, &statemachine.Effects{
		Decisions: []statemachine.Decision{{Message: "M1", From: statemachine.InDoubt, To: statemachine.Queued}},
		Messages:  []statemachine.MessageChange{{Message: &statemachine.Message{ID: "M1", SMSC: "alpha"}, Was: statemachine.InDoubt}},
	})
	require.Zero(t, testutil.CollectAndCount(m.states), "it is not committed yet")
	w.Committed()
	require.InDelta(t, 1, testutil.ToFloat64(m.states.WithLabelValues("alpha", "QUEUED")), 0)
	require.Equal(t, 1, testutil.CollectAndCount(m.states))
}
