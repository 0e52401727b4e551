package statemachine

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// ZoneFinding is what an SMSC's dates say about its time zone, beside our times of submit and reception.
type ZoneFinding struct {
	Configured string       // timezone in force; "" = none
	Receipts   int          // with a date to compare, of those that found their message or would
	Offsets    []ZoneOffset // that they support, the most supported first
	Timezone   string       // to configure; "" = none: too few, or they do not agree
	Agrees     bool         // the zone in force gives the same times
}

// ZoneOffset is a distance from UTC.
type ZoneOffset struct {
	Offset   time.Duration // east of UTC
	Receipts int           // that support it
}

const (
	// maxDated is how many receipts that a proposal matches are read for their dates.
	maxDated = 300
	// fewDates is how many receipts must support an offset before it is proposed …
	fewDates = 5
	// … and they must be nine tenths of those that have a date.
	zoneShare = 0.9
	// clockSlack is how far two clocks, one of them in whole minutes, may be from a zone's offset …
	clockSlack = 3 * time.Minute
	// … and slowReceipt how long before we received a receipt its event may have been.
	slowReceipt = 5 * time.Minute

	quarter = 15 * time.Minute
)

// zones without summer time by their offset in minutes, for offsets that are in use but are no whole hour.
var zones = map[int]string{
	-9*60 - 30: "Pacific/Marquesas", 3*60 + 30: "Asia/Tehran", 4*60 + 30: "Asia/Kabul", 5*60 + 30: "Asia/Kolkata",
	5*60 + 45: "Asia/Kathmandu", 6*60 + 30: "Asia/Yangon", 8*60 + 45: "Australia/Eucla", 9*60 + 30: "Australia/Darwin",
}

// zoneName names a zone of the time zone database that is always so far from UTC; "" when none is.
func zoneName(offset time.Duration) string {
	hours := offset / time.Hour
	switch {
	case offset == 0:
		return "UTC"
	case offset%time.Hour != 0:
		return zones[int(offset/time.Minute)]
	case hours < -12 || hours > 14:
		return ""
	}
	return fmt.Sprintf("Etc/GMT%+d", -hours) // the database counts west of Greenwich as positive
}

// findZone compares the dates of receipts that found their message, or would under the best proposal.
func (x *examination) findZone() error {
	matching := &x.found.Today
	if len(x.found.Proposals) > 0 {
		matching = &x.found.Proposals[0]
	}
	held, err := x.readControls(matching.dated)
	if err != nil {
		return err
	}
	z := &x.found.Zone
	z.Configured = x.today.Receipt.Timezone
	location, _ := time.LoadLocation(z.Configured)
	votes := map[time.Duration]int{}
	agreeing := 0
	for _, c := range slices.Concat(x.tests, held) {
		offset, at, dated := c.offset()
		if !dated {
			continue
		}
		z.Receipts++
		if name := zoneName(offset); name != "" && !at.IsZero() {
			votes[offset]++
			if location != nil && z.Configured != "" && eastOf(location, at) == offset {
				agreeing++
			}
		}
	}
	for offset, n := range votes {
		z.Offsets = append(z.Offsets, ZoneOffset{offset, n})
	}
	slices.SortFunc(z.Offsets, func(a, b ZoneOffset) int {
		return cmp.Or(cmp.Compare(b.Receipts, a.Receipts), cmp.Compare(a.Offset, b.Offset))
	})
	supported := func(n int) bool { return n >= fewDates && float64(n) >= zoneShare*float64(z.Receipts) }
	if z.Agrees = supported(agreeing); !z.Agrees && len(z.Offsets) > 0 && supported(z.Offsets[0].Receipts) {
		z.Timezone = zoneName(z.Offsets[0].Offset)
	}
	return nil
}

func eastOf(location *time.Location, at time.Time) time.Duration {
	_, seconds := at.In(location).Zone()
	return time.Duration(seconds) * time.Second
}

// offset is how far east of UTC the receipt's dates are, in quarters of an hour: that of its submit date,
// which is about our own time of submit, else that of its done date, which is somewhat before we received
// it. at is the time that was compared, zero where no quarter fits; dated reports whether there is a date.
func (c *readControl) offset() (offset time.Duration, at time.Time, dated bool) {
	switch {
	case !c.submit.IsZero():
		return nearest(c.submit, c.attempt.At, clockSlack)
	case !c.done.IsZero():
		return nearest(c.done, c.received, slowReceipt)
	}
	return 0, time.Time{}, false
}

// nearest is the quarter of an hour by which theirs is ahead of ours, if theirs is at most early before
// it or a few minutes behind.
func nearest(theirs, ours time.Time, early time.Duration) (time.Duration, time.Time, bool) {
	ahead := theirs.Sub(ours)
	offset := (ahead + early).Truncate(quarter)
	if ahead+early < 0 && offset != ahead+early {
		offset -= quarter // down, also below 0
	}
	if rest := ahead - offset; rest > clockSlack {
		return 0, time.Time{}, true
	}
	return offset, ours, true
}
