package daemon

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
)

// noAnswer is the command_status of a submit_sm whose answer was lost.
const noAnswer = "no_answer"

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

func newMetrics(version string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),

		submits:    counter("esmed_submits_total", "Attempts of submit_sm that ended, by the answer's command_status; no_answer where none came, vendor for a status that SMPP does not define.", "smsc", "command_status"),
		receptions: counter("esmed_receptions_total", "PDUs that SMSCs delivered, by what they were read as.", "smsc", "kind"),
		verdicts:   counter("esmed_verdicts_total", "Pieces of evidence, by what they counted for.", "smsc", "verdict"),
		states:     counter("esmed_states_total", "Parts of messages that came into a state.", "smsc", "state"),

		submitResponse: perSMSC("esmed_submit_response_seconds", "Seconds from submit_sm to its answer.", 0.0005, 18),
		submitRecorded: perSMSC("esmed_submit_recorded_seconds", "Seconds from submit_sm to its answer on disk.", 0.0005, 18),
		receiptAck:     perSMSC("esmed_receipt_ack_seconds", "Seconds from a delivery to the answer that says it is stored.", 0.00025, 16),
		receiptDelay:   perSMSC("esmed_receipt_delay_seconds", "Seconds from the submit_sm_resp to the receipt with the final state.", 0.05, 22),
		commitSeconds:  whole("esmed_commit_seconds", "Seconds that one commit of the log took, fsync included.", 0.0001, 16),
		commitRecords:  whole("esmed_commit_records", "Records that one commit of the log made durable.", 1, 14),

		retryMatched: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "esmed_inbox_retry_matched_total", Help: "Held receipts that only a later look matched: a fault of esmed.",
		}),
		submissionsRefused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "esmed_submissions_refused_total", Help: "Submissions that were answered 429, because more came than could be taken.",
		}),
		alerts: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "esmed_alert_active", Help: "1 while an alert is active, else 0.",
		}, []string{"alert"}),
	}
	m.registry.MustRegister(m.submits, m.receptions, m.verdicts, m.states, m.submitResponse, m.submitRecorded, m.receiptAck, m.receiptDelay,
		m.commitSeconds, m.commitRecords, m.retryMatched, m.submissionsRefused, m.alerts, buildInfo(version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, name := range control.AlertNames() {
		m.alerts.WithLabelValues(name)
	}
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// perSMSC is a histogram by SMSC of n buckets, each twice as wide as the one before.
func perSMSC(name, help string, first float64, n int) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(buckets(name, help, first, n), []string{"smsc"})
}

func whole(name, help string, first float64, n int) prometheus.Histogram {
	return prometheus.NewHistogram(buckets(name, help, first, n))
}

func buckets(name, help string, first float64, n int) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(first, 2, n)}
}

// buildInfo is the usual gauge of 1 that says which version runs.
func buildInfo(version string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "esmed_build_info", Help: "Always 1; the label says which version of esmed runs.",
		ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 })
}

// begin makes the series of an SMSC, at zero: what is counted first is an increase then, and a panel or a rule
// finds its metric before anything happened. Statuses come as they are answered.
func (m *metrics) begin(smsc string) {
	for _, status := range []string{smpp.StatusOK.String(), smpp.StatusThrottled.String(), noAnswer} {
		m.submits.WithLabelValues(smsc, status)
	}
	for k := receipt.Undecodable; k <= receipt.Intermediate; k++ {
		m.receptions.WithLabelValues(smsc, k.String())
	}
	for _, v := range statemachine.Verdicts() {
		m.verdicts.WithLabelValues(smsc, string(v))
	}
	for _, s := range statemachine.States() {
		m.states.WithLabelValues(smsc, s.String())
	}
	for _, h := range []*prometheus.HistogramVec{m.submitResponse, m.submitRecorded, m.receiptAck, m.receiptDelay} {
		h.WithLabelValues(smsc)
	}
}

// handler serves them. What cannot be gathered is logged and left out, since the rest is wanted all the more.
func (m *metrics) handler(log *zap.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: scrapeLog{log},
	})
}

// scrapeLog takes what promhttp has to tell.
type scrapeLog struct{ log *zap.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) {
	l.log.Warn("metrics are incomplete", zap.String("error", strings.TrimSpace(fmt.Sprintln(v...))))
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
func (m *metrics) unanswered(smsc string) { m.submits.WithLabelValues(smsc, noAnswer).Inc() }

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
