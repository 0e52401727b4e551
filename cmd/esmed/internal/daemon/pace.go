package daemon

import (
	"math"
	"time"
)

const (
	// paceExcess is the share of the limit by which a second may exceed it. It is half of what may be seen
	// at the SMSC, since not all submits travel equally fast.
	paceExcess = 0.01
	// paceTick is the least time between two writes at a pace: at thousands a second some share one.
	paceTick = 2 * time.Millisecond
	// paceSlack is how late submits may be and still leave together, when they can. More at once would be
	// seen by an SMSC, whose seconds begin at other moments than ours, twice in one of them.
	paceSlack = 10 * time.Millisecond
	// paceRepay is by how much faster than the limit submits leave while some were later than that, and
	// paceDebt how much of that is remembered.
	paceRepay = 0.005
	paceDebt  = time.Second
	// paceAhead is how long before they are due submits are made ready (recorded as leaving): longer than
	// a round of the dispatcher takes, so that a slow commit holds nothing up.
	paceAhead = 100 * time.Millisecond
	// paceDoubling is how long a slowed SMSC's rate takes to double again.
	paceDoubling = time.Second
	// paceRecovery is when an SMSC without a limit counts as recovered from throttling.
	paceRecovery = 8 * time.Second
	// paceFirst is the rate, per second, that the first refusal slows to at least: one of a few submits
	// says little about how many the SMSC would take.
	paceFirst = 10
)

// pace says how many submit_sm an SMSC may be sent now. It is a value of one owner, shared by all sessions of
// the SMSC; times are the caller's. What it promises holds for the moments given to wrote, if only what allow
// let through is written then: no second that does not hold its own end has more of them than the limit and
// paceExcess of it (or the next whole number above the limit), and what was late is caught up, at once as far
// as paceSlack and slowly beyond it.
type pace struct {
	limit  float64       // submits per second, 0 = no limit
	next   time.Time     // when the next submit is due at the rate in force
	debt   time.Duration // how much later that is than it would be if none had been late
	again  time.Time     // when the next write may be
	second lastSecond    // what was written

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

// ready says how many submits, at most max, may be made ready now behind held others that are not written
// yet. When it says 0, wait is when to ask again.
func (p *pace) ready(now time.Time, held, max int) (n int, wait time.Duration) {
	r := p.rate(now)
	if r == 0 {
		return max, 0
	}
	first := p.from(now, r).Add(lasting(held, r))
	n = elapsed(first, now.Add(paceAhead), r)
	enough := min(1+int(r*paceAhead.Seconds()/2), max) // half of what may be held: a commit for each would be many
	if n < enough {
		return 0, first.Add(lasting(enough-1, r) - paceAhead).Sub(now)
	}
	return min(max, n), 0
}

// allow says how many submits may be written now, at most max. When it says 0, wait is when to ask again.
func (p *pace) allow(now time.Time, max int) (n int, wait time.Duration) {
	r := p.rate(now)
	if r == 0 {
		return max, 0
	}
	due := p.next
	if p.again.After(due) {
		due = p.again
	}
	if wait = due.Sub(now); wait > 0 {
		return 0, wait
	}
	n = min(max, elapsed(p.from(now, r), now, r))
	if p.limit == 0 {
		return n, 0
	}
	room, wait := p.second.room(now, int(math.Max(math.Ceil(p.limit), p.limit*(1+paceExcess))))
	return min(n, room), wait
}

// wrote says that n submits were written at now.
func (p *pace) wrote(now time.Time, n int) {
	p.second.add(now, n)
	r := p.rate(now)
	if r == 0 {
		return
	}
	from, step := p.from(now, r), lasting(n, r)
	p.debt = min(paceDebt, p.debt+from.Sub(p.next))
	repaid := min(p.debt, time.Duration(float64(step)*paceRepay))
	p.debt -= repaid
	p.next, p.again = from.Add(step-repaid), now.Add(paceTick)
}

// lapse says that nothing waits to be sent: what comes next is not late.
func (p *pace) lapse(now time.Time) {
	p.debt = 0
	if p.next.Before(now) {
		p.next = now
	}
}

// throttled takes an ESME_RTHROTTLED for a submit made ready at sentAt: the rate is halved, once for all
// the refusals of what was under way when it was halved last.
func (p *pace) throttled(now, sentAt time.Time) {
	if p.slow > 0 && sentAt.Before(p.slowAt) {
		return
	}
	r := math.Max(float64(p.second.count(now)), 2*paceFirst)
	if in := p.rate(now); in > 0 {
		r = math.Min(r, in)
	}
	p.slow, p.slowAt = math.Max(1, r/2), now
	p.next, p.debt = now.Add(lasting(1, p.slow)), 0
}

// from is when the tokens in hand began to gather: for paceSlack, or as long as half of one takes.
func (p *pace) from(now time.Time, r float64) time.Time {
	if earliest := now.Add(-max(paceSlack, lasting(1, 2*r))); p.next.Before(earliest) {
		return earliest
	}
	return p.next
}

// lasting is how long n submits take at the rate r.
func lasting(n int, r float64) time.Duration {
	return time.Duration(float64(n) / r * float64(time.Second))
}

// elapsed is how many submits are due from first, which is when the first of them is, until now; under 1
// when it is not yet.
func elapsed(first, now time.Time, r float64) int {
	return 1 + int(math.Floor(now.Sub(first).Seconds()*r+1e-6)) // a rounding error is no reason to wait again
}
