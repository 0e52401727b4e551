package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/smpp/smpptest"
)

// scrape reads /metrics as Prometheus does: the value of each series, of a histogram how many it holds. A series
// is written as "name value of its first label, of its second …".
func (s *system) scrape() map[string]float64 {
	s.t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(s.metrics()))
	require.NoError(s.t, err)
	all := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			series := name
			for _, l := range m.GetLabel() {
				series += " " + l.GetValue()
			}
			all[series] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

func TestScrape_hasEveryMetricFromTheStart(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 1 })
	s.awaitRecord("session")
	series := s.scrape()
	names := map[string]bool{}
	for one := range series {
		name, _, _ := strings.Cut(one, " ")
		names[name] = true
	}
	for name := range daemon.Contract() {
		switch name {
		case "esmed_certificate_expiry_timestamp_seconds": // there is no certificate
		case "esmed_coverage_ratio", "esmed_delivered_ratio": // there are no messages
		default:
			require.True(t, names[name], name)
		}
	}
	require.True(t, names["go_goroutines"])
	require.True(t, names["process_resident_memory_bytes"])
	for one, want := range map[string]float64{
		"esmed_bind_up alpha/1 alpha": 1, "esmed_bind_stopped alpha/1 alpha": 0, "esmed_binds_total alpha/1 alpha": 1,
		"esmed_states_total alpha DELIVERED": 0, "esmed_exceptions_open conflict": 0, "esmed_queue_size alpha": 0,
		"esmed_inbox_oldest_seconds alpha": 0, "esmed_alert_limit coverage": 0.95, "esmed_alert_active coverage": 0,
	} {
		got, there := series[one]
		require.True(t, there, one)
		require.InDelta(t, want, got, 0, one)
	}
}

func TestScrape_countsWhatHappens(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		if sub.N == 2 {
			a.Status, a.Receipts = 0x4242, nil // the vendor's own
		}
		return a
	}}, func(c *config.Config) { c.Alerts.CoverageSettle = 0 })
	s.awaitState(s.submit(number(1)), "DELIVERED")
	s.awaitState(s.submit(number(2)), "FAILED")
	series := s.scrape()
	for _, one := range []string{
		"esmed_submits_total ESME_ROK alpha", "esmed_submits_total vendor alpha", "esmed_receptions_total delivery_receipt alpha",
		"esmed_verdicts_total alpha applied", "esmed_states_total alpha DELIVERED", "esmed_states_total alpha FAILED",
		"esmed_receipt_delay_seconds alpha", "esmed_coverage_ratio alpha", "esmed_coverage_messages alpha",
	} {
		require.InDelta(t, 1, series[one], 0, one)
	}
	require.InDelta(t, 2, series["esmed_submit_response_seconds alpha"], 0)

	problems, err := promlint.New(strings.NewReader(s.metrics())).Lint()
	require.NoError(t, err)
	require.Empty(t, problems, fmt.Sprint(problems))
}
