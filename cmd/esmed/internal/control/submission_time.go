package control

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// readTimes reads schedule_delivery_time and validity. Without a validity the message waits for the
// SMSC's delivery window.
func (s *submission) readTimes() {
	begin := s.now
	if at, ok := s.instant(fieldSchedule); ok {
		s.m.ScheduledAt, s.m.ScheduleRaw = at, s.text(fieldSchedule)
		if !isSMPPTime(s.m.ScheduleRaw) {
			s.m.ScheduleRaw = absoluteTime(at)
		}
		begin = at
	}
	s.m.ValidUntil = begin.Add(s.smsc.DeliveryWindow)
	if at, ok := s.instant(fieldValidity); ok {
		s.m.ValidUntil, s.m.ValidityAsked = at, true
		if !at.After(begin) {
			s.wrong(fieldValidity, "must end after schedule_delivery_time")
		}
	}
}

// instant reads a field that names a time to come.
func (s *submission) instant(i int) (at time.Time, ok bool) {
	if !s.has(i) {
		return at, false
	}
	at, err := parseInstant(s.text(i), s.now)
	switch {
	case err != nil:
		s.wrong(i, "must be a duration (24h, 2d), RFC 3339 or SMPP time")
	case !at.After(s.now):
		s.wrong(i, "must be in the future")
	case at.After(s.now.AddDate(maxYears, 0, 0)):
		s.wrong(i, "must be within %d years", maxYears)
	default:
		return at, true
	}
	return at, false
}

// maxYears keeps two-digit years unambiguous.
const maxYears = 10

var errTime = errors.New("no time")

// parseInstant reads a duration from now, RFC 3339, or SMPP's time format, absolute or relative (SMPP
// v3.4 §7.1.1).
func parseInstant(s string, now time.Time) (time.Time, error) {
	if isSMPPTime(s) {
		return parseSMPPTime(s, now)
	}
	if strings.ContainsRune(s, ':') {
		at, err := time.Parse(time.RFC3339Nano, s)
		return at.UTC(), err
	}
	d, err := parseDuration(s)
	return now.Add(d).UTC(), err
}

// isSMPPTime reports whether a text has the form of SMPP's times, whatever date it names.
func isSMPPTime(s string) bool {
	return len(s) == smppTimeLength && isDigits(s[:smppTimeLength-1])
}

// smppTimeLength is that of YYMMDDhhmmsstnnp.
const smppTimeLength = 16

// absoluteTime writes an instant in SMPP's format, in UTC, to the tenth of a second.
func absoluteTime(t time.Time) string {
	return fmt.Sprintf("%s%d00+", t.Format("060102150405"), t.Nanosecond()/int(100*time.Millisecond))
}

// parseSMPPTime reads YYMMDDhhmmsstnnp: p is R for a time from now, whose tnn are 000, + or - for nn
// quarters of an hour, 48 at most, by which the local time is ahead of UTC or behind it.
func parseSMPPTime(s string, now time.Time) (time.Time, error) {
	two := func(i int) int { return int(s[i]-'0')*10 + int(s[i+1]-'0') }
	year, month, day, hour, minute, second := two(0), two(2), two(4), two(6), two(8), two(10)
	tenths, quarters := time.Duration(s[12]-'0')*100*time.Millisecond, time.Duration(two(13))*15*time.Minute
	switch s[15] {
	case 'R':
		if month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 || s[12:15] != "000" {
			return time.Time{}, errTime
		}
		t := now.UTC().AddDate(year, month, day)
		return t.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second), nil
	case '-':
		quarters = -quarters
	case '+':
	default:
		return time.Time{}, errTime
	}
	t := time.Date(2000+year, time.Month(month), day, hour, minute, second, int(tenths), time.UTC)
	if t.Format("060102150405") != s[:12] || two(13) > 48 {
		return time.Time{}, errTime // a month of 13 and the like
	}
	return t.Add(-quarters), nil
}

// parseDuration reads a duration in Go's form, with days as a first unit if wanted: 90s, 1d12h.
func parseDuration(s string) (time.Duration, error) {
	days, rest, found := strings.Cut(s, "d")
	if !found {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, err
	}
	total := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return total, nil
	}
	d, err := time.ParseDuration(rest)
	return total + d, err
}
