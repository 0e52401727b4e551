package daemon

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/statemachine"
)

func TestMetrics_followPrometheusConventions(t *testing.T) {
	m := newMetrics()
	m.commit(3, time.Millisecond)
	m.answered("alpha", smpp.StatusOK, time.Millisecond)
	m.unanswered("alpha")
	m.acknowledged("alpha", time.Millisecond)
	m.decided("alpha", &statemachine.Decision{Verdict: statemachine.VerdictApplied, From: statemachine.Submitted, To: statemachine.Delivered})
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
