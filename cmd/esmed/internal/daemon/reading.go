package daemon

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
)

const (
	// lagAbove is half of the lag at which submits wait.
	lagAbove = 32 << 10
	// A disk has little room when this share, and no more than that many octets, is free, or twice the reserve that
	// diskRoom keeps.
	diskFreeShare = 0.05
	diskFreeBytes = 1 << 30
)

// reading is what alerts are about, as it was measured.
type reading struct {
	clock      bool // in doubt
	obstructed bool // the projection does not follow the log
	lag        uint64
	disk       roomReading
	short      bool // the store's last write found no room
	smscs      []smscReading

	// What the store says; nil when it did not.
	open    map[statemachine.ExceptionKind]int64
	counts  counts
	waiting map[string]time.Duration // age of the oldest receipt in the inbox that counts; 0: there is none
}

// judge says which alerts are active. Alerts about the store are left out when it did not answer.
func (r *reading) judge(limits config.Alerts) []control.Alert {
	all := []control.Alert{r.judgeClock(), r.judgeLag(), r.judgeDisk()}
	for i := range r.smscs {
		s := &r.smscs[i]
		all = append(all, s.judgeBinds(), s.judgeCredentials(),
			over(control.AlertPaused, s.name, control.Critical, truth(s.paused), 0, "", "the SMSC takes nothing: a pause status answers submits"),
		)
	}
	for smsc, age := range r.waiting {
		all = append(all, over(control.AlertInboxAge, smsc, control.Warning, age.Seconds(), limits.InboxOlderThan.Seconds(), "s",
			"a receipt in the inbox has no message"))
	}
	for smsc, n := range r.counts.overdue {
		all = append(all, over(control.AlertOverdue, smsc, control.Warning, float64(n), float64(limits.OverdueAbove), "",
			"parts without an outcome whose window is over"))
	}
	for smsc, t := range r.counts.all {
		all = append(all, over(control.AlertInDoubt, smsc, control.Warning, float64(t.InDoubt), 0, "", "messages whose answer was lost"))
	}
	for smsc, t := range r.counts.settled {
		all = append(all, judgeCoverage(smsc, t, limits))
	}
	if r.open != nil {
		all = append(all, r.judgeExceptions())
	}
	return all
}

// sortAlerts puts them into the order in which they are listed.
func sortAlerts(all []control.Alert) {
	names := control.AlertNames()
	slices.SortFunc(all, func(x, y control.Alert) int {
		return cmp.Or(slices.Index(names, x.Alert)-slices.Index(names, y.Alert), cmp.Compare(x.SMSC, y.SMSC))
	})
}

// over is an alert that is active while value is over limit.
func over(alert, smsc, severity string, value, limit float64, unit, detail string) control.Alert {
	return control.Alert{
		Alert: alert, SMSC: smsc, Active: value > limit, Severity: severity, Value: &value, Limit: limit, Unit: unit, Detail: detail,
	}
}

func (r *reading) judgeClock() control.Alert {
	return over(control.AlertClock, "", control.Warning, truth(r.clock), 0, "",
		"the clock disagrees with itself or the log: nothing expires until it is believed again")
}

func (r *reading) judgeLag() control.Alert {
	a := over(control.AlertApplyLag, "", control.Critical, float64(r.lag), lagAbove, "", "records of the log that are not in the projection yet")
	if r.obstructed {
		a.Active, a.Detail = true, "the projection cannot follow the log, the daemon's log says why"
	}
	return a
}

// little is below how many free octets a disk has little room.
func (r *roomReading) little() float64 {
	return max(min(diskFreeShare*float64(r.Size), diskFreeBytes), 2*float64(r.reserve))
}

// judgeDisk warns while there is still time to make room: before messages are refused.
func (r *reading) judgeDisk() control.Alert {
	limit := r.disk.little()
	free := float64(r.disk.Free)
	fewFiles := !r.disk.FilesUnlimited && r.disk.Files < 2*leastFiles
	a := control.Alert{Alert: control.AlertDisk, Severity: control.Critical, Limit: limit, Unit: "B", Detail: "room for data_dir"}
	if r.disk.Size > 0 {
		a.Value, a.Active = &free, free < limit || r.disk.refuses || r.short || fewFiles
	}
	switch {
	case fewFiles:
		a.Detail = fmt.Sprintf("room for data_dir: %d more files can be made there", r.disk.Files)
	case r.disk.refuses:
		a.Detail = "room for data_dir: messages are refused until there is some"
	case r.short:
		a.Detail = "room for data_dir: the last record found none; see the log, and the quota of the daemon's user"
	}
	return a
}

// judgeExceptions counts what a person has to decide, but for doubts, which have an alert of their own.
func (r *reading) judgeExceptions() control.Alert {
	var n int64
	for kind, open := range r.open {
		if kind != statemachine.KindInDoubt {
			n += open
		}
	}
	return over(control.AlertExceptions, "", control.Warning, float64(n), 0, "", "things for a person to decide: esmed exceptions")
}

func judgeCoverage(smsc string, t statemachine.Tally, limits config.Alerts) control.Alert {
	a := control.Alert{
		Alert: control.AlertCoverage, SMSC: smsc, Severity: control.Warning, Limit: limits.CoverageBelow,
		Detail: fmt.Sprintf("%d of %d messages that asked for a receipt, and had time for it, have an outcome", t.Final, t.Asked),
	}
	if t.Asked == 0 {
		return a
	}
	share := float64(t.Final) / float64(t.Asked)
	a.Value, a.Active = &share, share < limits.CoverageBelow && t.Asked >= int64(limits.CoverageMin)
	return a
}
