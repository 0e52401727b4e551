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
	Settle string `query:"settle" doc:"Hours whose messages have not all had this time are left out of the ratios; 0s when left out"`
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
	now := a.cfg.Now()
	since, until := ReportHours(now, window, 0)
	tallies, err := a.cfg.Report.Report(ctx, since, until)
	if err != nil {
		return l, err
	}
	waiting, err := a.cfg.Report.InboxSizes(ctx)
	if err != nil {
		return l, err
	}
	_, settled := ReportHours(now, window, settle)
	sums := reportSums(tallies, settled)
	if in.By == "smsc" {
		sums = bySMSC(sums)
	}
	l.Items = reportRows(sums, waiting)
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

// reportSum is what a row of the report is made of.
type reportSum struct {
	HourTally
	settled statemachine.Tally // of the messages that had the time to settle: the ratios are made of these
}

// reportSums tells the hours apart that had the time to settle: those before until.
func reportSums(tallies []HourTally, until time.Time) []reportSum {
	sums := make([]reportSum, len(tallies))
	for i, t := range tallies {
		sums[i].HourTally = t
		if t.Hour.Before(until) {
			sums[i].settled = t.Tally
		}
	}
	return sums
}

// bySMSC adds up the hours of each SMSC.
func bySMSC(hours []reportSum) []reportSum {
	var sums []reportSum
	of := map[string]int{}
	for _, h := range hours {
		i, known := of[h.SMSC]
		if !known {
			i, of[h.SMSC] = len(sums), len(sums)
			sums = append(sums, reportSum{HourTally: HourTally{SMSC: h.SMSC}})
		}
		sums[i].Tally, sums[i].settled = sums[i].Tally.Add(h.Tally), sums[i].settled.Add(h.settled)
	}
	return sums
}

// reportRows renders sums, by hour and SMSC. Receipts waiting are those of now, not of an hour: they
// show in the newest row of their SMSC, so that a column adds up, and in one of their own if it has none.
func reportRows(sums []reportSum, waiting map[string]int64) []ReportRow {
	slices.SortFunc(sums, func(t, u reportSum) int {
		return cmp.Or(t.Hour.Compare(u.Hour), cmp.Compare(t.SMSC, u.SMSC))
	})
	rows := make([]ReportRow, 0, len(sums)+len(waiting))
	newest := map[string]int{}
	for i := range sums {
		newest[sums[i].SMSC] = len(rows)
		rows = append(rows, reportRow(&sums[i]))
	}
	for smsc, n := range waiting {
		if i, ok := newest[smsc]; ok {
			rows[i].Inbox = n
		} else if n > 0 {
			rows = append(rows, ReportRow{SMSC: smsc, Inbox: n})
		}
	}
	slices.SortStableFunc(rows[len(sums):], func(r, s ReportRow) int { return cmp.Compare(r.SMSC, s.SMSC) })
	return rows
}

func reportRow(t *reportSum) ReportRow {
	return ReportRow{
		Hour: instant(t.Hour), SMSC: t.SMSC,
		Accepted: t.Accepted, Submitted: t.Submitted, Failed: t.Failed, Asked: t.Asked, Final: t.Final,
		Delivered: t.Delivered, Open: t.Open, Unreported: t.Unreported, InDoubt: t.InDoubt,
		MaybeDoubled: t.MaybeDoubled, Verified: t.Verified,
		Coverage: share(t.settled.Final, t.settled.Asked), Delivery: share(t.settled.Delivered, t.settled.Asked),
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
