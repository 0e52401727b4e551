package daemon

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
	"esmed/store"
)

// gauges asks store and sessions when the metrics are scraped.
type gauges struct {
	store  *store.Store
	fleet  *fleet
	alerts config.Alerts
	log    *zap.Logger
	gaugeDescs
}

// scrapeWithin bounds what a scrape waits for the store.
const scrapeWithin = 5 * time.Second

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// gaugeDescs are the metrics that gauges gives.
type gaugeDescs struct {
	bindUp, windowInUse, queueSize, inboxSize, inboxOldest, exceptionsOpen, applyLag,
	coverage, delivered, inDoubt, maybeDoubled, overdue *prometheus.Desc
}

func newGaugeDescs() gaugeDescs {
	return gaugeDescs{
		bindUp:         desc("esmed_bind_up", "Whether the session is bound.", "smsc", "session"),
		windowInUse:    desc("esmed_window_in_use", "submit_sm that wait for their answer.", "smsc", "session"),
		queueSize:      desc("esmed_queue_size", "Parts that wait to be sent.", "smsc"),
		inboxSize:      desc("esmed_inbox_size", "Receipts that belong to no message yet.", "smsc"),
		inboxOldest:    desc("esmed_inbox_oldest_seconds", "Age of the oldest of them.", "smsc"),
		exceptionsOpen: desc("esmed_exceptions_open", "Things for a person to decide.", "kind"),
		applyLag:       desc("esmed_apply_lag_records", "Records of the log that are not in the projection yet."),
		coverage:       desc("esmed_coverage_ratio", "Of messages that asked for a final receipt and had time for it, the share with a final state by evidence.", "smsc"),
		delivered:      desc("esmed_delivered_ratio", "Of the same messages, the share reported delivered.", "smsc"),
		inDoubt:        desc("esmed_in_doubt", "Messages whose answer was lost.", "smsc"),
		overdue:        desc("esmed_overdue", "Parts without an outcome whose window ended within coverage_window, and those in doubt whose window is over.", "smsc"),
		maybeDoubled:   desc("esmed_maybe_doubled_total", "Messages of which more than one attempt may have arrived.", "smsc"),
	}
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		g.bindUp, g.windowInUse, g.queueSize, g.inboxSize, g.inboxOldest, g.exceptionsOpen, g.applyLag,
		g.coverage, g.delivered, g.inDoubt, g.maybeDoubled, g.overdue,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	set := func(desc *prometheus.Desc, v float64, labels ...string) {
		kind := prometheus.GaugeValue
		if desc == g.maybeDoubled {
			kind = prometheus.CounterValue
		}
		out <- prometheus.MustNewConstMetric(desc, kind, v, labels...)
	}
	for _, m := range g.fleet.members() {
		for _, st := range m.client.Status() {
			set(g.bindUp, truth(st.State.Bound()), m.cfg.Name, st.Name)
			if st.Mode != smpp.Receiver {
				set(g.windowInUse, float64(st.InUse), m.cfg.Name, st.Name)
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWithin)
	defer cancel()
	now := time.Now()
	st, err := g.store.Stat(ctx)
	if err == nil {
		g.stat(st, set)
		err = g.queues(ctx, set)
	}
	if err == nil {
		err = g.inbox(ctx, now, set)
	}
	if err == nil { // else these would wait as long for nothing
		err = g.tallies(ctx, now, set)
	}
	if err != nil {
		g.log.Warn("metrics are incomplete", zap.Error(err))
	}
}

type setter func(desc *prometheus.Desc, v float64, labels ...string)

func (g *gauges) stat(st store.Stat, set setter) {
	set(g.applyLag, float64(st.Records-st.Applied))
	for kind, n := range st.Open {
		set(g.exceptionsOpen, float64(n), string(kind))
	}
}

func (g *gauges) queues(ctx context.Context, set setter) error {
	stats, err := g.store.QueueStats(ctx)
	for _, q := range stats {
		set(g.queueSize, float64(q.Waiting+q.Delayed), q.SMSC)
	}
	return err
}

func (g *gauges) inbox(ctx context.Context, now time.Time, set setter) error {
	stats, err := g.store.InboxStats(ctx)
	for _, in := range stats {
		set(g.inboxSize, float64(in.Waiting), in.SMSC)
		if in.Waiting > 0 {
			set(g.inboxOldest, now.Sub(in.Oldest).Seconds(), in.SMSC)
		}
	}
	return err
}

// tallies gives what the report's counters say.
func (g *gauges) tallies(ctx context.Context, now time.Time, set setter) error {
	c, err := countMessages(ctx, g.store, g.alerts, now)
	for smsc, n := range c.overdue {
		set(g.overdue, float64(n), smsc)
	}
	for smsc, t := range c.all {
		set(g.inDoubt, float64(t.InDoubt), smsc)
		set(g.maybeDoubled, float64(t.MaybeDoubled), smsc)
	}
	for smsc, t := range c.settled {
		if t.Asked > 0 {
			set(g.coverage, float64(t.Final)/float64(t.Asked), smsc)
			set(g.delivered, float64(t.Delivered)/float64(t.Asked), smsc)
		}
	}
	return err
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// statusName names a command_status as SMPP does.
func statusName(status uint32) string { return smpp.Status(status).String() }
