package daemon

import (
	"context"
	"errors"
	"maps"
	"slices"
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

	mu     sync.Mutex             // one measurement at a time; guards what follows
	active map[alertKey]time.Time // what was told and is not over, since when
	down   map[string]time.Time   // sessions that are not bound, since when
}

type alertKey struct{ alert, smsc string }

func newAlerts(d *daemon) *alerts {
	for _, name := range control.AlertNames() {
		d.metrics.alerts.WithLabelValues(name)
	}
	return &alerts{
		limits: d.cfg.Alerts, room: d.room, store: d.store, fleet: d.fleet, metrics: d.metrics, clock: d.clock,
		obstructed: &d.obstructed, log: d.log,
		active: map[alertKey]time.Time{}, down: map[string]time.Time{},
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
// store does not answer for the moment is left out, and goes on as it was.
func (a *alerts) measure(ctx context.Context) []control.Alert {
	ctx, cancel := context.WithTimeout(ctx, scrapeWithin)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	r := reading{clock: a.clock.doubted(), obstructed: a.obstructed.Load(), disk: a.room.reading()}
	a.readSessions(&r, now)
	err := a.readStore(ctx, &r, now)
	all := r.judge(a.limits)
	if err != nil && !errors.Is(err, context.Canceled) {
		a.log.Debug("alerts are incomplete", zap.Error(err))
	}
	a.take(all, now, err == nil)
	return all
}

// readSessions looks at all sessions. One that somebody stopped is neither down nor refused.
func (a *alerts) readSessions(r *reading, now time.Time) {
	before := a.down
	a.down = map[string]time.Time{}
	for _, m := range a.fleet.members() {
		one := smscReading{name: m.cfg.Name, paused: m.dispatcher.paused.Load() != nil}
		for i, st := range m.client.Status() {
			if st.Stopped {
				continue
			}
			s := sessionReading{SessionStatus: st, credentials: smpp.Status(m.sessions[i].credentials.Load())}
			if !st.State.Bound() {
				since, known := before[st.Name]
				if !known {
					since = now
				}
				a.down[st.Name] = since
				s.down = now.Sub(since)
			}
			one.sessions = append(one.sessions, s)
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

// take puts Since into a measurement's alerts and tells of what began, and of what is over: also of what
// is not measured any more, if the measurement is complete.
func (a *alerts) take(all []control.Alert, now time.Time, complete bool) {
	over := maps.Clone(a.active)
	for i := range all {
		alert := &all[i]
		key := alertKey{alert.Alert, alert.SMSC}
		if !alert.Active {
			continue
		}
		delete(over, key)
		if _, told := a.active[key]; !told {
			a.active[key] = now
			a.tell(alert)
		}
		alert.Since = instant(a.active[key])
	}
	for key, since := range over {
		measured := slices.ContainsFunc(all, func(x control.Alert) bool { return x.Alert == key.alert && x.SMSC == key.smsc })
		if measured || complete {
			delete(a.active, key)
			a.log.Info("alert over", zap.String("alert", key.alert), zap.String("smsc", key.smsc), zap.Duration("elapsed", now.Sub(since)))
		}
	}
	for _, name := range control.AlertNames() {
		on := false
		for key := range a.active {
			on = on || key.alert == name
		}
		a.metrics.alerts.WithLabelValues(name).Set(truth(on))
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
