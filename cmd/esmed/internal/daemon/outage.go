package daemon

import (
	"time"

	"esmed/smpp"
)

const (
	// bindDownAfter is how long a session may take to come back before that is an alert.
	bindDownAfter = 30 * time.Second
	// A session that was bound so many times, and never for that long, does not count as back while it is bound.
	bindFlaps  = 3
	bindSteady = 2 * time.Minute
)

// outage is how a session has been since it was last bound for bindSteady. An SMSC that accepts a bind and
// closes at once is down, whatever the session is at the moment of a look.
type outage struct {
	binds uint64    // SessionStatus.Binds then
	since time.Time // when it was first seen not to be so any more
	lost  time.Time // when it ceased to be bound, or was first seen if it never was; zero: it is
}

// newOutage is that of a session that was not looked at before.
func newOutage(st *smpp.SessionStatus, now time.Time) outage {
	o := outage{binds: st.Binds, since: now}
	if st.State.Bound() {
		o.binds--
	}
	return o
}

// see takes a look at the session.
func (o outage) see(st *smpp.SessionStatus, now time.Time) outage {
	bound := st.State.Bound()
	switch {
	case st.Binds < o.binds: // the session of another client, which has the name now
		o = newOutage(st, now)
	case bound && now.Sub(st.Since) >= bindSteady:
		return outage{binds: st.Binds, since: now}
	}
	switch {
	case bound:
		o.lost = time.Time{}
	case !st.Lost.IsZero():
		o.lost = st.Lost
	case o.lost.IsZero():
		o.lost = now
	}
	return o
}

// flaps is how often the session was bound and did not stay so, 0 while that is no matter.
func (o outage) flaps(st *smpp.SessionStatus) uint64 {
	if n := st.Binds - o.binds; n >= bindFlaps {
		return n
	}
	return 0
}

// down is for how long the session cannot be relied on; 0: it can.
func (o outage) down(st *smpp.SessionStatus, now time.Time) time.Duration {
	switch {
	case o.flaps(st) > 0:
		return now.Sub(o.since)
	case o.lost.IsZero():
		return 0
	}
	return now.Sub(o.lost)
}
