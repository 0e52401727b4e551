package daemon

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"esmed/smpp"
)

// metrics are what the daemon counts as it happens; what can be asked for when it is wanted, gauges
// asks for. Every label takes few values: names of the configuration, and words of SMPP and ours.
type metrics struct {
	registry *prometheus.Registry

	submits    *prometheus.CounterVec // smsc, command_status
	receptions *prometheus.CounterVec // smsc, kind
	verdicts   *prometheus.CounterVec // smsc, verdict
	states     *prometheus.CounterVec // smsc, state

	submitResponse *prometheus.HistogramVec // smsc
	submitRecorded *prometheus.HistogramVec // smsc
	receiptAck     *prometheus.HistogramVec // smsc
	receiptDelay   *prometheus.HistogramVec // smsc
	commitSeconds  prometheus.Histogram
	commitRecords  prometheus.Histogram
	retryMatched   prometheus.Counter

	submissionsRefused prometheus.Counter
	alerts             *prometheus.GaugeVec // alert
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, first float64, n int) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(first, 2, n),
		}, []string{"smsc"})
	}
	m := &metrics{
		registry:       prometheus.NewRegistry(),
		submits:        counter("esmed_submits_total", "Answers to submit_sm; no_answer where none came in time.", "smsc", "command_status"),
		receptions:     counter("esmed_receptions_total", "PDUs that SMSCs delivered, by what they were read as.", "smsc", "kind"),
		verdicts:       counter("esmed_verdicts_total", "Evidence, by what it counted for.", "smsc", "verdict"),
		states:         counter("esmed_states_total", "Parts that came into a state.", "smsc", "state"),
		submitResponse: histogram("esmed_submit_response_seconds", "From submit_sm to its answer.", 0.0005, 18),
		submitRecorded: histogram("esmed_submit_recorded_seconds", "From submit_sm to its answer on disk.", 0.0005, 18),
		receiptAck:     histogram("esmed_receipt_ack_seconds", "From a delivery to the answer that says it is stored.", 0.00025, 16),
		receiptDelay:   histogram("esmed_receipt_delay_seconds", "From submit_sm to the receipt with its final state.", 0.05, 22),
		commitSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "esmed_commit_seconds", Help: "One commit of the log, fsync included.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		}),
		commitRecords: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "esmed_commit_records", Help: "Records that one commit of the log made durable.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 14),
		}),
		retryMatched: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "esmed_inbox_retry_matched_total", Help: "Held receipts that only a later look matched: a fault of esmed.",
		}),
		submissionsRefused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "esmed_submissions_refused_total", Help: "Submissions that were answered 429: more came than could be taken.",
		}),
		alerts: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "esmed_alert_active", Help: "Whether something is so that an operator must know of.",
		}, []string{"alert"}),
	}
	m.registry.MustRegister(m.submits, m.receptions, m.verdicts, m.states, m.submitResponse, m.submitRecorded, m.receiptAck, m.receiptDelay,
		m.commitSeconds, m.commitRecords, m.retryMatched, m.submissionsRefused, m.alerts,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// commit takes one commit of the log (store.Config.OnCommit).
func (m *metrics) commit(records int, elapsed time.Duration) {
	m.commitSeconds.Observe(elapsed.Seconds())
	m.commitRecords.Observe(float64(records))
}

// answered takes an answer to a submit_sm.
func (m *metrics) answered(smsc string, status smpp.Status, elapsed time.Duration) {
	m.submits.WithLabelValues(smsc, statusLabel(status)).Inc()
	m.submitResponse.WithLabelValues(smsc).Observe(elapsed.Seconds())
}

// recorded takes an answer to a submit_sm that is on disk, elapsed after the submit_sm was written.
func (m *metrics) recorded(smsc string, elapsed time.Duration) {
	m.submitRecorded.WithLabelValues(smsc).Observe(elapsed.Seconds())
}

// unanswered takes a submit_sm whose answer was lost.
func (m *metrics) unanswered(smsc string) { m.submits.WithLabelValues(smsc, "no_answer").Inc() }

// acknowledged takes an answer to a delivery, elapsed after it came.
func (m *metrics) acknowledged(smsc string, elapsed time.Duration) {
	m.receiptAck.WithLabelValues(smsc).Observe(elapsed.Seconds())
}

// statusLabel names the statuses of SMPP; vendors' own share one label, since an SMSC can send any.
func statusLabel(s smpp.Status) string {
	if name := s.String(); name[0] == 'E' {
		return name
	}
	return "vendor"
}
