package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
	"esmed/statemachine"
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
	coverage, delivered, inDoubt *prometheus.Desc
}

func newGaugeDescs() gaugeDescs {
	return gaugeDescs{
		bindUp:         desc("esmed_bind_up", "Whether the session is bound.", "smsc", "session"),
		windowInUse:    desc("esmed_window_in_use", "Slots of the window that are reserved or outstanding.", "smsc", "session"),
		queueSize:      desc("esmed_queue_size", "Parts that wait to be sent.", "smsc"),
		inboxSize:      desc("esmed_inbox_size", "Receipts that belong to no message yet.", "smsc"),
		inboxOldest:    desc("esmed_inbox_oldest_seconds", "Age of the oldest of them.", "smsc"),
		exceptionsOpen: desc("esmed_exceptions_open", "Things for a person to decide.", "kind"),
		applyLag:       desc("esmed_apply_lag_records", "Records of the log that are not in the projection yet."),
		coverage:       desc("esmed_coverage_ratio", "Of messages that asked for a final receipt and had time for it, the share with a final state by evidence.", "smsc"),
		delivered:      desc("esmed_delivered_ratio", "Of the same messages, the share reported delivered.", "smsc"),
		inDoubt:        desc("esmed_in_doubt", "Messages of the coverage window whose answer was lost.", "smsc"),
	}
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		g.bindUp, g.windowInUse, g.queueSize, g.inboxSize, g.inboxOldest, g.exceptionsOpen, g.applyLag,
		g.coverage, g.delivered, g.inDoubt,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	set := func(desc *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
	}
	for _, m := range g.fleet.members() {
		st := m.client.Status()
		set(g.bindUp, truth(st.State.Bound()), m.cfg.Name, st.Name)
		set(g.windowInUse, float64(st.InUse), m.cfg.Name, st.Name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWithin)
	defer cancel()
	now := time.Now()
	st, err := g.store.Stat(ctx)
	if err == nil {
		g.stat(st, set)
		err = errors.Join(g.inbox(ctx, now, set), g.shares(ctx, now, set))
	}
	if err != nil {
		g.log.Warn("metrics are incomplete", zap.Error(err))
	}
}

type setter func(desc *prometheus.Desc, v float64, labels ...string)

func (g *gauges) stat(st store.Stat, set setter) {
	set(g.applyLag, float64(st.Records-st.Applied))
	for smsc, n := range st.Queue {
		set(g.queueSize, float64(n), smsc)
	}
	for kind, n := range st.Open {
		set(g.exceptionsOpen, float64(n), string(kind))
	}
}

func (g *gauges) inbox(ctx context.Context, now time.Time, set setter) error {
	stats, err := g.store.InboxStats(ctx)
	for _, in := range stats {
		set(g.inboxSize, float64(in.Rows), in.SMSC)
		if in.Rows > 0 {
			set(g.inboxOldest, now.Sub(in.Oldest).Seconds(), in.SMSC)
		}
	}
	return err
}

// shares gives the ratios of messages accepted within the coverage window, but for the last ones, which
// have not had the time to be reported.
func (g *gauges) shares(ctx context.Context, now time.Time, set setter) error {
	rows, err := g.store.Report(ctx, now.Add(-g.alerts.CoverageWindow), now.Add(time.Hour))
	if err != nil {
		return err
	}
	settled, doubts := map[string]statemachine.Tally{}, map[string]int64{}
	for _, r := range rows {
		doubts[r.SMSC] += r.InDoubt
		if !r.Hour.Add(time.Hour).After(now.Add(-g.alerts.CoverageSettle)) {
			t := settled[r.SMSC]
			t.Asked, t.Final, t.Delivered = t.Asked+r.Asked, t.Final+r.Final, t.Delivered+r.Delivered
			settled[r.SMSC] = t
		}
	}
	for smsc, n := range doubts {
		set(g.inDoubt, float64(n), smsc)
	}
	for smsc, t := range settled {
		if t.Asked > 0 {
			set(g.coverage, float64(t.Final)/float64(t.Asked), smsc)
			set(g.delivered, float64(t.Delivered)/float64(t.Asked), smsc)
		}
	}
	return nil
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// statusName names a command_status as SMPP does.
func statusName(status uint32) string { return smpp.Status(status).String() }
