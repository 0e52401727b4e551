package daemon

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

// queues are what waits for each SMSC as the store has it (control.Backend.Queues). No daemon sends it.
func (b *backend) queues(ctx context.Context) ([]control.Queue, error) {
	stats, err := b.store.QueueStats(ctx)
	now := time.Now()
	all := make([]control.Queue, len(stats))
	for i := range stats {
		all[i] = queueOf(&stats[i])
		if due, ok := b.store.NextDue(stats[i].SMSC, now); ok {
			all[i].RetryAt = instant(due)
		}
	}
	return all, apiError(err)
}

func queueOf(st *store.QueueStat) control.Queue {
	q := control.Queue{
		SMSC: st.SMSC, Waiting: st.Waiting, Delayed: st.Delayed, Priorities: map[string]int64{},
		OldestAt: instant(st.Oldest), Bind: control.BindNoDaemon,
	}
	for priority, n := range st.ByPriority {
		if n > 0 {
			q.Priorities[strconv.Itoa(priority)] = n
		}
	}
	if h := st.Hold; h.Seq != 0 {
		q.Held = &control.QueueHold{By: h.By, At: h.At.UTC(), Reason: h.Reason, Record: h.Seq}
	}
	return q
}

// queues are what waits for each SMSC, also for those that are configured and have nothing waiting, with what
// their sessions and dispatchers say.
func (o *orders) queues(ctx context.Context) ([]control.Queue, error) {
	all, err := o.backend.queues(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Bind = control.BindNotConfigured
	}
	now := time.Now()
	for _, m := range o.fleet.members() {
		i := slices.IndexFunc(all, func(q control.Queue) bool { return q.SMSC == m.cfg.Name })
		if i < 0 {
			i = len(all)
			all = append(all, control.Queue{SMSC: m.cfg.Name, Priorities: map[string]int64{}})
		}
		m.describe(&all[i], now)
		if all[i].Withheld, err = m.dispatcher.withheld.list(ctx, o.backend.store); err != nil {
			return nil, apiError(err)
		}
	}
	all = slices.DeleteFunc(all, func(q control.Queue) bool { // once configured, and nobody misses it
		return q.Bind == control.BindNotConfigured && q.Waiting+q.Delayed == 0 && q.Held == nil
	})
	slices.SortFunc(all, func(a, b control.Queue) int { return cmp.Compare(a.SMSC, b.SMSC) })
	return all, nil
}

// describe tells what keeps the queue of an SMSC that runs from being sent.
func (s *smsc) describe(q *control.Queue, now time.Time) {
	q.Bind = s.bindWord()
	if rate, slowed := s.dispatcher.outlet.rate(now); rate > 0 {
		q.Rate, q.Throttled = &rate, slowed
	}
	q.NoRoom = !s.dispatcher.room.sends()
	if p := s.dispatcher.paused.Load(); p != nil {
		q.Paused = &control.QueuePause{Since: p.since.UTC(), ProbeAt: p.probe.UTC()}
	}
}
