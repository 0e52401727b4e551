package daemon

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/store"
)

// alertsEvery is how often alerts are measured without being asked for.
const alertsEvery = 10 * time.Second

// alerts measures what an operator has to know of, and tells when it begins and when it is over.
type alerts struct {
	limits     config.Alerts
	room       *diskRoom
	store      *store.Store
	fleet      *fleet
	metrics    *metrics
	clock      *timekeeper
	obstructed *atomic.Bool // the projection does not follow the log
	log        *zap.Logger

	mu      sync.Mutex                 // one measurement at a time; guards what follows
	active  map[alertKey]control.Alert // what was told and is not over, as it was last measured
	outages map[string]outage          // by session
}

type alertKey struct{ alert, smsc string }

func newAlerts(d *daemon) *alerts {
	return &alerts{
		limits: d.cfg.Alerts, room: d.room, store: d.store, fleet: d.fleet, metrics: d.metrics, clock: d.clock,
		obstructed: &d.obstructed, log: d.log,
		active: map[alertKey]control.Alert{}, outages: map[string]outage{},
	}
}

// run measures until ctx is done.
func (a *alerts) run(ctx context.Context) error {
	tick := time.NewTicker(alertsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			a.measure(ctx)
		}
	}
}

// measure measures now, tells of what changed, and gives all alerts (control.Backend.Alerts). What the
// store does not answer for the moment goes on as it was if it was active, and is left out if not.
func (a *alerts) measure(ctx context.Context) []control.Alert {
	ctx, cancel := context.WithTimeout(ctx, scrapeWithin)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.room.measure(now)
	r := reading{clock: a.clock.doubted(), obstructed: a.obstructed.Load(), disk: a.room.reading(), short: a.room.short.Load()}
	a.readSessions(&r, now)
	err := a.readStore(ctx, &r, now)
	all := r.judge(a.limits)
	if err != nil && !errors.Is(err, context.Canceled) {
		a.log.Debug("alerts are incomplete", zap.Error(err))
	}
	return a.take(all, now, err == nil)
}

// readSessions looks at all sessions. One that somebody stopped is neither down nor refused.
func (a *alerts) readSessions(r *reading, now time.Time) {
	before := a.outages
	a.outages = map[string]outage{}
	for _, m := range a.fleet.members() {
		one := smscReading{name: m.cfg.Name, paused: m.dispatcher.paused.Load() != nil}
		if ends := m.certificateEnds(); !ends.IsZero() {
			left := ends.Sub(now)
			one.certificate = &left
		}
		for i, st := range m.client.Status() {
			if st.Stopped {
				continue
			}
			o, known := before[st.Name]
			if !known {
				o = newOutage(&st, now)
			}
			o = o.see(&st, now)
			a.outages[st.Name] = o
			one.sessions = append(one.sessions, sessionReading{
				SessionStatus: st, credentials: smpp.Status(m.sessions[i].credentials.Load()), down: o.down(&st, now), flaps: o.flaps(&st),
			})
		}
		r.smscs = append(r.smscs, one)
	}
}

// readStore reads counters. Its error says that not all of them could be.
func (a *alerts) readStore(ctx context.Context, r *reading, now time.Time) error {
	st, err := a.store.Stat(ctx)
	if err != nil {
		return err
	}
	r.lag = st.Records - st.Applied
	inbox, err := a.store.InboxStats(ctx)
	if err != nil {
		return err
	}
	counted, err := countMessages(ctx, a.store, a.limits, now)
	if err != nil {
		return err
	}
	r.open, r.counts, r.waiting = st.Open, counted, map[string]time.Duration{}
	for _, in := range inbox {
		r.waiting[in.SMSC] = 0
		if !in.Oldest.IsZero() {
			r.waiting[in.SMSC] = now.Sub(in.Oldest)
		}
	}
	return nil
}

// take puts Since into a measurement's alerts and tells of what began or became critical, and of what is over:
// also of what is not measured any more, if the measurement is complete. It gives them with those that could
// not be measured and were active.
func (a *alerts) take(all []control.Alert, now time.Time, complete bool) []control.Alert {
	before := a.active
	a.active = map[alertKey]control.Alert{}
	for i := range all {
		alert := &all[i]
		key := alertKey{alert.Alert, alert.SMSC}
		was, told := before[key]
		switch {
		case alert.Active:
			if alert.Since = was.Since; !told {
				alert.Since = instant(now)
			}
			if !told || worse(alert, &was) {
				a.tell(alert)
			}
			a.active[key] = *alert
		case told:
			a.tellOver(&was, now)
		}
		delete(before, key)
	}
	for key, was := range before {
		if complete {
			a.tellOver(&was, now)
			continue
		}
		a.active[key] = was
		was.Value, was.Detail = nil, "not measured for the moment: the store does not answer"
		all = append(all, was)
	}
	sortAlerts(all)
	a.show()
	return all
}

func worse(alert, was *control.Alert) bool {
	return alert.Severity == control.Critical && was.Severity != control.Critical
}

// show makes the metric what is active.
func (a *alerts) show() {
	on := map[string]bool{}
	for key := range a.active {
		on[key.alert] = true
	}
	for _, name := range control.AlertNames() {
		a.metrics.alerts.WithLabelValues(name).Set(truth(on[name]))
	}
}

func (a *alerts) tell(alert *control.Alert) {
	level := zapcore.WarnLevel
	if alert.Severity == control.Critical {
		level = zapcore.ErrorLevel
	}
	value := zap.Skip()
	if alert.Value != nil {
		value = zap.Float64("value", *alert.Value)
	}
	a.log.Log(level, "alert", zap.String("alert", alert.Alert), zap.String("smsc", alert.SMSC), value,
		zap.Float64("limit", alert.Limit), zap.String("detail", alert.Detail))
}

func (a *alerts) tellOver(alert *control.Alert, now time.Time) {
	a.log.Info("alert over", zap.String("alert", alert.Alert), zap.String("smsc", alert.SMSC), zap.Duration("elapsed", now.Sub(*alert.Since)))
}
