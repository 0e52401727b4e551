package daemon

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"esmed/cmd/esmed/docs"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/statemachine"
)

func TestMetrics_followPrometheusConventions(t *testing.T) {
	m := newMetrics("test")
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

// contract is every metric of ours, with its labels. Names are fixed: dashboards and rules elsewhere rely on them.
// Those after the empty line are ours beside what is agreed.
var contract = map[string][]string{
	"esmed_submits_total": {"smsc", "command_status"}, "esmed_receptions_total": {"smsc", "kind"},
	"esmed_verdicts_total": {"smsc", "verdict"}, "esmed_states_total": {"smsc", "state"}, "esmed_maybe_doubled_total": {"smsc"},
	"esmed_coverage_ratio": {"smsc"}, "esmed_delivered_ratio": {"smsc"}, "esmed_overdue": {"smsc"}, "esmed_in_doubt": {"smsc"},
	"esmed_inbox_size": {"smsc"}, "esmed_inbox_oldest_seconds": {"smsc"}, "esmed_inbox_retry_matched_total": {},
	"esmed_exceptions_open": {"kind"}, "esmed_bind_up": {"smsc", "session"}, "esmed_window_in_use": {"smsc", "session"},
	"esmed_queue_size": {"smsc"}, "esmed_submit_response_seconds": {"smsc"}, "esmed_receipt_ack_seconds": {"smsc"},
	"esmed_receipt_delay_seconds": {"smsc"}, "esmed_commit_seconds": {}, "esmed_commit_records": {}, "esmed_apply_lag_records": {},
	"esmed_alert_active": {"alert"},

	"esmed_build_info": {}, "esmed_submit_recorded_seconds": {"smsc"}, "esmed_submissions_refused_total": {},
	"esmed_bind_stopped": {"smsc", "session"}, "esmed_bind_refused": {"smsc", "session"}, "esmed_queue_paused": {"smsc"}, "esmed_binds_total": {"smsc", "session"}, "esmed_window_size": {"smsc", "session"},
	"esmed_certificate_expiry_timestamp_seconds": {"smsc"}, "esmed_coverage_messages": {"smsc"}, "esmed_coverage_min_messages": {},
	"esmed_alert_limit": {"alert"}, "esmed_disk_free_bytes": {}, "esmed_disk_size_bytes": {}, "esmed_disk_reserve_bytes": {}, "esmed_log_bytes": {}, "esmed_state_bytes": {},
}

var describedAs = regexp.MustCompile(`fqName: "(esmed_[a-z_]+)".* variableLabels: \{(.*)\}\}`)

// exported are the metrics that the daemon describes, as contract.
func exported() map[string][]string {
	descs := make(chan *prometheus.Desc, 1000) // more than there are
	newMetrics("test").registry.Describe(descs)
	(&gauges{gaugeDescs: newGaugeDescs()}).Describe(descs)
	close(descs)
	all := map[string][]string{}
	for d := range descs {
		if m := describedAs.FindStringSubmatch(d.String()); m != nil {
			all[m[1]] = strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' })
		}
	}
	return all
}

func TestMetrics_areThoseOfTheContract(t *testing.T) {
	require.Equal(t, contract, exported())
}

var documented = regexp.MustCompile("(?m)^\\| `(esmed_[a-z_]+)` \\|([a-z_`, ]*)\\|")

func TestMetrics_areDocumented(t *testing.T) {
	told := map[string][]string{}
	for _, m := range documented.FindAllStringSubmatch(docText(t, "metrics"), -1) {
		told[m[1]] = strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune("`, ", r) })
	}
	require.Equal(t, exported(), told)
}

func docText(t *testing.T, topic string) string {
	t.Helper()
	text, ok := docs.Text(topic)
	require.True(t, ok)
	return text
}

func TestMetrics_anSMSCCannotMakeLabels(t *testing.T) {
	m := newMetrics("test")
	for status := range smpp.Status(0x1000) {
		m.answered("alpha", status, time.Millisecond)
	}
	require.Less(t, testutil.CollectAndCount(m.submits), 120)
}

// TestWitness_aRecordWithoutAnSMSC: what a person decides is counted for the SMSC of the message.
func TestWitness_aRecordWithoutAnSMSC(t *testing.T) {
	m := newMetrics("test")
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
