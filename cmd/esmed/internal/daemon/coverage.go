package daemon

import (
	"context"
	"time"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
	"esmed/store"
)

// counts are counters by SMSC.
type counts struct {
	overdue map[string]int64              // parts whose outcome is overdue
	all     map[string]statemachine.Tally // of all messages
	settled map[string]statemachine.Tally // of those that coverage and delivered share are made of
}

// countMessages adds the report's hours up, and counts what is overdue. The ratios are made of the messages accepted within
// coverage_window, but for the last ones, which have not had coverage_settle to be reported.
func countMessages(ctx context.Context, s *store.Store, limits config.Alerts, now time.Time) (counts, error) {
	rows, err := s.Report(ctx, time.Time{}, now.Add(time.Hour))
	if err != nil {
		return counts{}, err
	}
	c := counts{overdue: map[string]int64{}, all: map[string]statemachine.Tally{}, settled: map[string]statemachine.Tally{}}
	since, until := control.ReportHours(now, limits.CoverageWindow, limits.CoverageSettle)
	for _, r := range rows {
		c.all[r.SMSC] = c.all[r.SMSC].Add(r.Tally)
		if !r.Hour.Before(since) && r.Hour.Before(until) {
			c.settled[r.SMSC] = c.settled[r.SMSC].Add(r.Tally)
		}
	}
	for smsc := range c.all {
		if c.overdue[smsc], err = s.Overdue(ctx, smsc, now.Add(-limits.CoverageWindow), now); err != nil {
			return counts{}, err
		}
	}
	return c, nil
}
