package lives

import (
	"context"
	"time"
)

// pace says when the next submissions are due.
type pace struct {
	Load
	start time.Time
	woken chan struct{} // capacity 1: something may be due that was not
}

func newPace(l Load, start time.Time) *pace {
	return &pace{Load: l, start: start, woken: make(chan struct{}, 1)}
}

func (p *pace) wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// over says whether nothing is due after n submissions.
func (p *pace) over(n int, now time.Time) bool {
	return p.Lives > 0 && n >= p.Lives || p.Duration > 0 && now.Sub(p.start) >= p.Duration
}

// due is how many submissions may follow the first n by number, time and rate.
func (p *pace) due(n int, now time.Time) int {
	due := 1 << 30
	if p.Lives > 0 {
		due = p.Lives - n
	}
	if p.Rate > 0 {
		due = min(due, int(now.Sub(p.start).Seconds()*float64(p.Rate))+1-n)
	}
	return max(due, 0)
}

// breath is the longest wait for what is due by time. Shorter ones would have the loader wake up more often,
// longer ones submit in larger bursts.
const breath = 2 * time.Millisecond

// wait returns when something may have become due.
func (p *pace) wait(ctx context.Context) error {
	timer := time.NewTimer(breath)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.woken:
	case <-timer.C:
	}
	return nil
}
