package daemon

import "time"

// pause is whether an SMSC's queue pauses since the SMSC said that it takes nothing for now (no credit,
// say). While it does, one message every probeEvery tries whether that still holds.
type pause struct {
	since time.Time // zero: no pause
	probe time.Time // when the next message may be tried
}

func (p *pause) on() bool { return !p.since.IsZero() }

// begin starts the pause, and says whether it was not one already.
func (p *pause) begin(now time.Time) bool {
	if p.on() {
		return false
	}
	p.since, p.probe = now, now.Add(probeEvery)
	return true
}

// allow is how many submits are let through now; when 0, until is when one is.
func (p *pause) allow(now time.Time) (n int, until time.Time) {
	switch {
	case !p.on():
		return maxSubmits, time.Time{}
	case now.Before(p.probe):
		return 0, p.probe
	}
	return 1, time.Time{}
}

// tried says that a message was sent, and reports whether that was to try the SMSC.
func (p *pause) tried(now time.Time) bool {
	if p.on() {
		p.probe = now.Add(probeEvery)
	}
	return p.on()
}

// end takes the answer to a probe sent at sentAt that no longer asked for a pause.
func (p *pause) end(sentAt time.Time) bool {
	if !p.on() || sentAt.Before(p.since) {
		return false
	}
	*p = pause{}
	return true
}
