package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/statemachine"
)

// Binds implements control.Binder.
func (f *fleet) Binds(ctx context.Context) []control.Bind {
	now := time.Now()
	var binds []control.Bind
	names := map[string]bool{}
	for _, m := range f.members() {
		names[m.cfg.Name] = true
		stopped := f.stopOf(m.cfg.Name)
		for i, st := range m.client.Status() {
			b := m.sessions[i].bind(&st, now)
			b.Stopped = stopped
			binds = append(binds, b)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, scrapeWithin)
	defer cancel()
	queues, err := f.with.store.QueueStats(ctx)
	if err != nil {
		f.with.log.Debug("SMSCs that are not configured are not known", zap.Error(err))
	}
	for _, q := range queues {
		if q.Waiting+q.Delayed > 0 && !names[q.SMSC] {
			binds = append(binds, control.Bind{SMSC: q.SMSC, State: smpp.Closed.String(), Stopped: f.stopOf(q.SMSC)})
		}
	}
	slices.SortStableFunc(binds, func(a, b control.Bind) int { return strings.Compare(a.SMSC, b.SMSC) })
	return binds
}

func (f *fleet) stopOf(smsc string) *control.BindStop {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stops[smsc]
}

// sessionWords are the events that orders are recorded as.
var sessionWords = map[control.BindAction]string{
	control.StopBinds: sessionStopped, control.StartBinds: sessionStarted, control.RestartBinds: sessionRestarted,
}

// OrderBind implements control.Binder. An order is recorded before it is carried out.
func (f *fleet) OrderBind(ctx context.Context, o control.BindOrder) (done bool, err error) {
	f.orders.Lock()
	defer f.orders.Unlock()
	f.mu.Lock()
	known, stopped := f.running[o.SMSC] != nil, f.stops[o.SMSC] != nil
	f.mu.Unlock()
	switch {
	case !known:
		return false, fmt.Errorf("%w: smsc %s", control.ErrNotFound, o.SMSC)
	case o.Action != control.RestartBinds && stopped == (o.Action == control.StopBinds):
		return false, nil
	}
	fact := &statemachine.SessionEvent{SMSC: o.SMSC, Event: sessionWords[o.Action], Detail: "by " + o.By}
	if o.Reason != "" {
		fact.Detail += ": " + o.Reason
	}
	records, err := f.with.store.Append(context.WithoutCancel(ctx), fact)
	if err != nil {
		return false, apiError(err)
	}
	f.with.log.Info("sessions ordered", zap.String("smsc", o.SMSC), zap.String("action", string(o.Action)), zap.String("by", o.By))
	f.carryOut(o, records[0].At)
	return true, nil
}

// carryOut does what was ordered to who serves the SMSC now. That may be another one than when it was ordered, or
// nobody: who comes later finds the stop.
func (f *fleet) carryOut(o control.BindOrder, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.stops, o.SMSC)
	if o.Action == control.StopBinds {
		f.stops[o.SMSC] = &control.BindStop{By: o.By, At: at.UTC(), Reason: o.Reason}
	}
	m := f.running[o.SMSC]
	if m == nil {
		return
	}
	switch o.Action {
	case control.StopBinds:
		m.smsc.stop()
	case control.StartBinds:
		m.start()
	case control.RestartBinds:
		m.restart()
	}
}
