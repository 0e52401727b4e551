package daemon

import (
	"math"
	"time"
)

const (
	// paceSlack is the share of a second's submits that may leave late or together: what a slow commit
	// held up is caught up, and no second ever carries more than limit × (1 + paceSlack).
	paceSlack = 0.02
	// paceDoubling is how long a slowed SMSC's rate takes to double again.
	paceDoubling = time.Second
	// paceRecovery is when an SMSC without a limit counts as recovered from throttling.
	paceRecovery = 8 * time.Second
	// paceFirst is the rate, per second, that the first refusal slows to at least: one of a few submits
	// says little about how many the SMSC would take.
	paceFirst = 10
)

// pace says how many submit_sm an SMSC may be sent now. It is a plain value of the dispatcher, shared
// by all sessions of the SMSC; times are the caller's. What it promises holds for the moments given to
// wrote: in no second are there more of them than the limit and paceSlack of it.
type pace struct {
	limit float64   // submits per second, 0 = no limit
	next  time.Time // when the next submit is due at the rate in force

	recent   float64 // submits of about the last second, decaying
	recentAt time.Time

	slow   float64 // rate right after the last ESME_RTHROTTLED, 0 = not slowed
	slowAt time.Time
}

// rate is the rate in force, 0 = none.
func (p *pace) rate(now time.Time) float64 {
	if p.slow == 0 {
		return p.limit
	}
	since := now.Sub(p.slowAt)
	r := p.slow * math.Exp2(since.Seconds()/paceDoubling.Seconds())
	if since >= paceRecovery || (p.limit > 0 && r >= p.limit) {
		p.slow = 0
		return p.limit
	}
	return r
}

// allow says how many submits may leave now, at most max. When it says 0, wait is when to ask again.
func (p *pace) allow(now time.Time, max int) (n int, wait time.Duration) {
	r := p.rate(now)
	if r == 0 {
		return max, 0
	}
	if wait = p.next.Sub(now); wait > 0 {
		return 0, wait
	}
	due := now.Sub(p.from(now, r)).Seconds()*r + 1e-6 // a rounding error is no reason to wait again
	return min(max, int(due)+1), 0
}

// wrote says that n submits were written at now.
func (p *pace) wrote(now time.Time, n int) {
	p.recent = p.recentAtTime(now) + float64(n)
	p.recentAt = now
	if r := p.rate(now); r > 0 {
		p.next = p.from(now, r).Add(time.Duration(float64(n) / r * float64(time.Second)))
	}
}

// throttled takes an ESME_RTHROTTLED for a submit written at sentAt: the rate is halved, once for all
// the refusals of what was under way when it was halved last.
func (p *pace) throttled(now, sentAt time.Time) {
	if p.slow > 0 && sentAt.Before(p.slowAt) {
		return
	}
	r := math.Max(p.recentAtTime(now), 2*paceFirst)
	if in := p.rate(now); in > 0 {
		r = math.Min(r, in)
	}
	p.slow, p.slowAt = math.Max(1, r/2), now
	p.next = now.Add(time.Duration(float64(time.Second) / p.slow))
}

// from is when the tokens in hand began to gather: late ones lapse, but for paceSlack of a second's.
func (p *pace) from(now time.Time, r float64) time.Time {
	slack := math.Floor(r * paceSlack)
	if earliest := now.Add(-time.Duration(slack / r * float64(time.Second))); p.next.Before(earliest) {
		return earliest
	}
	return p.next
}

func (p *pace) recentAtTime(now time.Time) float64 {
	return p.recent * math.Exp(-now.Sub(p.recentAt).Seconds())
}
