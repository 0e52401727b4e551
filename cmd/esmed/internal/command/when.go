package command

import (
	"fmt"
	"time"

	"esmed/cmd/esmed/internal/config"
)

// clock is our time for people: UTC, milliseconds.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000Z") }

// clockOr is clock, or what stands for no time.
func clockOr(t *time.Time, nothing string) string {
	if t == nil {
		return nothing
	}
	return clock(*t)
}

// age is how long ago something was, to two units at most: 3d4h, 3d, 2h5m, 40s.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(d, 0)/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	if hours := d % day / time.Hour; hours > 0 {
		return fmt.Sprintf("%dd%dh", d/day, hours)
	}
	return fmt.Sprintf("%dd", d/day)
}

// timeFlag is a point in time on the command line: RFC 3339, a day, or how long ago.
type timeFlag struct{ t time.Time }

func (f *timeFlag) String() string {
	if f.t.IsZero() {
		return ""
	}
	return f.t.Format(time.RFC3339)
}

func (f *timeFlag) Set(s string) error {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, "2006-01-02T15:04", time.DateTime} {
		if t, err := time.Parse(layout, s); err == nil {
			f.t = t.UTC()
			return nil
		}
	}
	ago, err := config.ParseDuration(s)
	if err != nil || ago < 0 {
		return fmt.Errorf("want a time as 2026-11-30T12:00:00Z or 2026-11-30 (UTC), or how long ago as 90m or 2d")
	}
	f.t = time.Now().Add(-ago)
	return nil
}

func (*timeFlag) Type() string { return "time" }

// durationFlag is a duration on the command line, days allowed; nil while not given.
type durationFlag struct{ d *time.Duration }

func (f *durationFlag) String() string {
	if f.d == nil {
		return ""
	}
	return f.d.String()
}

func (f *durationFlag) Set(s string) error {
	d, err := config.ParseDuration(s)
	if err != nil {
		return err
	}
	if d < 0 {
		return fmt.Errorf("must not be negative")
	}
	f.d = &d
	return nil
}

func (*durationFlag) Type() string { return "duration" }
