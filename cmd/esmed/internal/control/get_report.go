package control

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"esmed/statemachine"
)

func (a *API) routeStatistics(api huma.API) {
	register(a, api, get("/v1/report", "report", "What became of the messages, by hour or SMSC"), a.getReport)
	register(a, api, get("/v1/binds", "binds", "Sessions with the SMSCs"), a.listBinds)
}

type getReportIn struct {
	Window string `query:"window" doc:"How far back; 48h when left out"`
	Settle string `query:"settle" doc:"Hours whose messages have not all had this time are left out; 0s when left out"`
	By     string `query:"by" enum:"hour,smsc" default:"hour"`
}

// defaultWindow is how far a report goes back.
const defaultWindow = 48 * time.Hour

func (a *API) getReport(ctx context.Context, in *getReportIn) (List[ReportRow], error) {
	var l List[ReportRow]
	window, err := durationQuery("window", in.Window, defaultWindow)
	if err != nil {
		return l, err
	}
	settle, err := durationQuery("settle", in.Settle, 0)
	if err != nil {
		return l, err
	}
	since, until := ReportHours(a.cfg.Now(), window, settle)
	tallies, err := a.cfg.Report.Report(ctx, since, until)
	if err != nil {
		return l, err
	}
	waiting, err := a.cfg.Report.InboxSizes(ctx)
	if err != nil {
		return l, err
	}
	if in.By == "smsc" {
		tallies = bySMSC(tallies)
	}
	l.Items = reportRows(tallies, waiting)
	return l, nil
}

// ReportHours are the hours that a report covers: from the one in which the window begins, to the one
// that goes on now or, with a time to settle, to the last one whose messages have all had it.
func ReportHours(now time.Time, window, settle time.Duration) (since, until time.Time) {
	now = now.UTC()
	since, until = now.Add(-window).Truncate(time.Hour), now.Truncate(time.Hour).Add(time.Hour)
	if settle > 0 {
		until = now.Add(-settle).Truncate(time.Hour)
	}
	return since, until
}

// bySMSC adds up the hours of each SMSC.
func bySMSC(tallies []HourTally) []HourTally {
	sums := map[string]statemachine.Tally{}
	for _, t := range tallies {
		sums[t.SMSC] = sums[t.SMSC].Add(t.Tally)
	}
	rows := make([]HourTally, 0, len(sums))
	for smsc, sum := range sums {
		rows = append(rows, HourTally{SMSC: smsc, Tally: sum})
	}
	return rows
}

// reportRows renders tallies, by hour and SMSC. Receipts waiting are those of now, not of an hour: they
// show in the newest row of their SMSC, so that a column adds up, and in one of their own if it has none.
func reportRows(tallies []HourTally, waiting map[string]int64) []ReportRow {
	slices.SortFunc(tallies, func(t, u HourTally) int {
		return cmp.Or(t.Hour.Compare(u.Hour), cmp.Compare(t.SMSC, u.SMSC))
	})
	rows := make([]ReportRow, 0, len(tallies)+len(waiting))
	newest := map[string]int{}
	for _, t := range tallies {
		newest[t.SMSC] = len(rows)
		rows = append(rows, reportRow(t))
	}
	for smsc, n := range waiting {
		if i, ok := newest[smsc]; ok {
			rows[i].Inbox = n
		} else if n > 0 {
			rows = append(rows, ReportRow{SMSC: smsc, Inbox: n})
		}
	}
	slices.SortStableFunc(rows[len(tallies):], func(r, s ReportRow) int { return cmp.Compare(r.SMSC, s.SMSC) })
	return rows
}

func reportRow(t HourTally) ReportRow {
	return ReportRow{
		Hour: instant(t.Hour), SMSC: t.SMSC,
		Accepted: t.Accepted, Submitted: t.Submitted, Failed: t.Failed, Asked: t.Asked, Final: t.Final,
		Delivered: t.Delivered, Open: t.Open, Unreported: t.Unreported, InDoubt: t.InDoubt,
		MaybeDoubled: t.MaybeDoubled, Verified: t.Verified,
		Coverage: share(t.Final, t.Asked), Delivery: share(t.Delivered, t.Asked),
	}
}

// share is null when there is nothing to have a share in.
func share(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	s := float64(part) / float64(whole)
	return &s
}

func (a *API) listBinds(context.Context, *struct{}) (List[Bind], error) {
	l := List[Bind]{Items: []Bind{}}
	if a.cfg.Binds != nil {
		l.Items = append(l.Items, a.cfg.Binds()...)
	}
	return l, nil
}
