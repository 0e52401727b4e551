package daemon

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// gauges asks store, sessions and disk when the metrics are scraped.
type gauges struct {
	store  *store.Store
	room   *diskRoom
	fleet  *fleet
	alerts config.Alerts
	log    *zap.Logger

	doubled risen // Tally.MaybeDoubled by SMSC
	gaugeDescs
}

// scrapeWithin bounds what a scrape waits for the store.
const scrapeWithin = 5 * time.Second

func newGauges(d *daemon) *gauges {
	return &gauges{store: d.store, room: d.room, fleet: d.fleet, alerts: d.cfg.Alerts, log: d.log, gaugeDescs: newGaugeDescs()}
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range g.all {
		out <- d
	}
}

// Collect implements prometheus.Collector. What the store does not answer for the moment is left out.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	set := func(desc *prometheus.Desc, v float64, labels ...string) {
		kind := prometheus.GaugeValue
		if desc == g.maybeDoubled || desc == g.bindsTotal {
			kind = prometheus.CounterValue
		}
		out <- prometheus.MustNewConstMetric(desc, kind, v, labels...)
	}
	disk := g.room.reading()
	if disk.Size > 0 {
		set(g.diskFree, float64(disk.Free))
		set(g.diskSize, float64(disk.Size))
		set(g.diskReserve, float64(disk.reserve))
	}
	g.limits(&disk, set)
	for _, m := range g.fleet.members() {
		g.sessions(m, set)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWithin)
	defer cancel()
	for _, of := range []func(context.Context, time.Time, setter) error{g.stat, g.queues, g.inbox, g.tallies} {
		if err := of(ctx, time.Now(), set); err != nil { // the next would wait as long for nothing
			g.log.Warn("metrics are incomplete", zap.Error(err))
			return
		}
	}
}

type setter func(desc *prometheus.Desc, v float64, labels ...string)

// limits tells what alerts compare with, so that rules elsewhere need no second copy of the configuration.
func (g *gauges) limits(disk *roomReading, set setter) {
	set(g.alertLimit, g.alerts.CoverageBelow, control.AlertCoverage)
	set(g.alertLimit, g.alerts.InboxOlderThan.Seconds(), control.AlertInboxAge)
	set(g.alertLimit, float64(g.alerts.OverdueAbove), control.AlertOverdue)
	set(g.alertLimit, bindDownAfter.Seconds(), control.AlertBindDown)
	set(g.alertLimit, lagAbove, control.AlertApplyLag)
	set(g.alertLimit, disk.little(), control.AlertDisk)
	set(g.coverageMin, float64(g.alerts.CoverageMin))
}

func (g *gauges) sessions(m *member, set setter) {
	set(g.queuePaused, truth(m.dispatcher.paused.Load() != nil), m.cfg.Name)
	for i, st := range m.client.Status() {
		set(g.bindRefused, truth(m.sessions[i].credentials.Load() != 0), m.cfg.Name, st.Name)
		set(g.bindUp, truth(st.State.Bound()), m.cfg.Name, st.Name)
		set(g.bindStopped, truth(st.Stopped), m.cfg.Name, st.Name)
		set(g.bindsTotal, float64(st.Binds), m.cfg.Name, st.Name)
		if st.Mode != smpp.Receiver {
			set(g.windowInUse, float64(st.InUse), m.cfg.Name, st.Name)
			set(g.windowSize, float64(st.Window), m.cfg.Name, st.Name)
		}
	}
	if ends := m.certificateEnds(); !ends.IsZero() {
		set(g.certificateExpiry, float64(ends.Unix()), m.cfg.Name)
	}
}

func (g *gauges) stat(ctx context.Context, _ time.Time, set setter) error {
	st, err := g.store.Stat(ctx)
	if err != nil {
		return err
	}
	set(g.applyLag, float64(st.Records-st.Applied))
	set(g.logBytes, float64(st.LogBytes))
	set(g.stateBytes, float64(st.StateBytes))
	for _, kind := range statemachine.StoredKinds() {
		set(g.exceptionsOpen, float64(st.Open[kind]), string(kind))
	}
	return nil
}

func (g *gauges) queues(ctx context.Context, _ time.Time, set setter) error {
	stats, err := g.store.QueueStats(ctx)
	if err != nil {
		return err
	}
	size := g.bySMSC()
	for _, q := range stats {
		size[q.SMSC] = float64(q.Waiting + q.Delayed)
	}
	setAll(set, g.queueSize, size)
	return nil
}

func (g *gauges) inbox(ctx context.Context, now time.Time, set setter) error {
	stats, err := g.store.InboxStats(ctx)
	if err != nil {
		return err
	}
	size, oldest := g.bySMSC(), g.bySMSC()
	for _, in := range stats {
		size[in.SMSC], oldest[in.SMSC] = float64(in.Waiting), 0
		if in.Waiting > 0 {
			oldest[in.SMSC] = now.Sub(in.Oldest).Seconds()
		}
	}
	setAll(set, g.inboxSize, size)
	setAll(set, g.inboxOldest, oldest)
	return nil
}

// tallies gives what the report's counters say.
func (g *gauges) tallies(ctx context.Context, now time.Time, set setter) error {
	c, err := countMessages(ctx, g.store, g.alerts, now)
	if err != nil {
		return err
	}
	overdue, inDoubt, doubled, settled := g.bySMSC(), g.bySMSC(), g.bySMSC(), g.bySMSC()
	for smsc, n := range c.overdue {
		overdue[smsc] = float64(n)
	}
	for smsc, t := range c.all {
		inDoubt[smsc] = float64(t.InDoubt)
		doubled[smsc] = float64(t.MaybeDoubled)
	}
	for smsc, t := range c.settled {
		settled[smsc] = float64(t.Asked)
		if t.Asked > 0 {
			set(g.coverage, float64(t.Final)/float64(t.Asked), smsc)
			set(g.delivered, float64(t.Delivered)/float64(t.Asked), smsc)
		}
	}
	setAll(set, g.overdue, overdue)
	setAll(set, g.inDoubt, inDoubt)
	setAll(set, g.maybeDoubled, g.doubled.see(doubled))
	setAll(set, g.coverageMessages, settled)
	return nil
}

// bySMSC is zero for each SMSC that runs; the store may know of others too, and has nothing of those that nothing
// happened at.
func (g *gauges) bySMSC() map[string]float64 {
	all := map[string]float64{}
	for _, name := range g.fleet.names() {
		all[name] = 0
	}
	return all
}

func setAll(set setter, desc *prometheus.Desc, bySMSC map[string]float64) {
	for smsc, v := range bySMSC {
		set(desc, v, smsc)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// statusName names a command_status as SMPP does.
func statusName(status uint32) string { return smpp.Status(status).String() }
