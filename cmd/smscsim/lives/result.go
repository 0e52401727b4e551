package lives

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"esmed/smpp/smpptest"
)

// Result is what a run measured. Times are in microseconds, sizes in octets; what could not be measured is 0.
type Result struct {
	Lives    uint64  `json:"lives"`               // accepted
	Seconds  float64 `json:"seconds"`             // from the first submission to the last receipt acknowledged
	Rate     float64 `json:"lives_per_second"`    //
	Offered  float64 `json:"offered_per_second"`  // the rate asked for; without one, that of Answered
	Answered float64 `json:"answered_per_second"` // submissions, until the last one's answer: lower than Offered where the API pushes back

	Accept    Latency `json:"accept"`          // from sending a submission to reading its answer
	Recorded  Latency `json:"submit_recorded"` // from submit_sm to its answer recorded; p50 and p99 within a bucket of /metrics
	Deliver   Latency `json:"deliver"`         // from deliver_sm to deliver_sm_resp, since the simulator's start
	Visible   Latency `json:"final_visible"`   // from the record of the receipt to a query that shows the final state
	Commit    Latency `json:"commit"`          // of the log; p50 and p99 within a bucket
	Commits   uint64  `json:"commits"`
	PerCommit float64 `json:"records_per_commit"`

	LagMean  float64 `json:"apply_lag_mean"` // records, of the looks during the run
	LagMax   float64 `json:"apply_lag_max"`
	QueueMax float64 `json:"queue_max"` // parts waiting to be sent

	CPU         float64 `json:"cpu_us_per_life"`       // the daemon's
	CPU10k      float64 `json:"cpu_seconds_per_10000"` // the same in seconds per 10,000 lives
	SMSCCPU     float64 `json:"smsc_cpu_us_per_life"`
	LoaderCPU   float64 `json:"loader_cpu_us_per_life"`
	AnonMax     int64   `json:"rss_anon_max"`
	RSSMax      int64   `json:"rss_max"`
	RSSPeak     int64   `json:"rss_peak"` // since the daemon's start
	Written     float64 `json:"written_per_life"`
	Stored      float64 `json:"stored_per_life"`
	StoredTotal int64   `json:"stored_total"` // in the data directory, at the end

	Refused       map[int]uint64 `json:"refused,omitempty"` // submissions by HTTP status: not accepted, not tried again
	RetryAfterSum float64        `json:"retry_after_seconds,omitempty"`

	Report Tally    `json:"report"`          // what esmed's report gained
	Wrong  []string `json:"wrong,omitempty"` // what does not add up
}

// Latency is a distribution in microseconds.
type Latency struct {
	P50 float64 `json:"p50_us"`
	P99 float64 `json:"p99_us"`
	Max float64 `json:"max_us,omitempty"`
}

func latency(h *smpptest.Histogram) Latency {
	return Latency{micros(h.Quantile(0.5)), micros(h.Quantile(0.99)), micros(h.Max())}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func (l *loader) result(start time.Time, before, after look, w *watch) Result {
	t := &l.tally
	r := Result{Lives: t.accepted, Accept: latency(&t.accept), Visible: latency(&l.probes.visible),
		Refused: t.refused, RetryAfterSum: t.retries.Seconds()}
	end := after.smsc.LastAck
	if end.Before(start) {
		end = t.last
	}
	_, answered := t.counts()
	r.Seconds = end.Sub(start).Seconds()
	r.Rate, r.Answered = per(float64(r.Lives), r.Seconds), per(float64(answered), t.last.Sub(start).Seconds())
	r.Offered = r.Answered
	if l.Rate > 0 {
		r.Offered = float64(l.Rate)
	}
	st := &after.smsc
	r.Deliver = Latency{micros(st.AckP50), micros(st.AckP99), micros(st.AckMax)}
	r.ofMetrics(before.metrics, after.metrics)
	r.ofProcesses(before, after)
	r.AnonMax, r.RSSMax, r.QueueMax = max(w.anon, after.daemon.anon), max(w.rss, after.daemon.rss), w.queue
	for _, lag := range w.lags {
		r.LagMean += lag / float64(len(w.lags))
		r.LagMax = max(r.LagMax, lag)
	}
	r.Report = after.report.plus(before.report, -1)
	r.Wrong = l.wrong(&r, before.smsc, after.smsc)
	return r
}

// ofMetrics takes what the daemon counts itself.
func (r *Result) ofMetrics(before, after exposition) {
	quantiles := func(name string) Latency {
		return Latency{P50: micros(after.quantile(before, name, 0.5)), P99: micros(after.quantile(before, name, 0.99))}
	}
	r.Recorded = quantiles("esmed_submit_recorded_seconds")
	r.Commit = quantiles("esmed_commit_seconds")
	r.Commits = uint64(after.since(before, "esmed_commit_records_count"))
	r.PerCommit = per(after.since(before, "esmed_commit_records_sum"), float64(r.Commits))
}

func (r *Result) ofProcesses(before, after look) {
	lives := float64(r.Lives)
	r.CPU = per(micros(after.daemon.cpu-before.daemon.cpu), lives)
	r.CPU10k = r.CPU / 100
	r.SMSCCPU = per(micros(after.smscUses.cpu-before.smscUses.cpu), lives)
	r.LoaderCPU = per(micros(after.own-before.own), lives)
	r.RSSPeak = after.daemon.hwm
	r.Written = per(float64(after.daemon.written-before.daemon.written), lives)
	r.Stored, r.StoredTotal = per(float64(after.stored-before.stored), lives), after.stored
}

func per(n, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return n / of
}

// wrong compares what the API accepted with what the SMSC took on and what the report says became of it.
func (l *loader) wrong(r *Result, before, after smscStatus) []string {
	var all []string
	expect := func(what string, got, want int64) {
		if got != want {
			all = append(all, fmt.Sprintf("%s: %d, not %d", what, got, want))
		}
	}
	lives := int64(r.Lives)
	expect("accepted by the report", r.Report.Accepted, lives)
	expect("final by the report", r.Report.Final, lives-r.Report.Failed)
	expect("open by the report", r.Report.Open, 0)
	expect("in doubt by the report", r.Report.InDoubt, 0)
	expect("maybe doubled by the report", r.Report.MaybeDoubled, 0)
	expect("submits that the SMSC accepted", int64(after.Accepted-before.Accepted), lives-r.Report.Failed)
	expect("final receipts acknowledged", int64(after.Finals-before.Finals), lives-r.Report.Failed)
	expect("requests of the SMSC on their way", int64(after.Pending), 0)
	if r.Report.Failed == 0 && after.TextSum-before.TextSum != l.tally.sum {
		all = append(all, "the texts that the SMSC has are not those that were accepted")
	}
	return all
}

// refusals are the statuses that refused, in order, for people.
func (r *Result) refusals() string {
	text := ""
	for _, status := range slices.Sorted(maps.Keys(r.Refused)) {
		text += fmt.Sprintf("%d of %d, ", r.Refused[status], status)
	}
	if text == "" {
		return "none"
	}
	return text[:len(text)-2]
}
