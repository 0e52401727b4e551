package daemon

import (
	"context"
	"sync"
	"time"

	"esmed/smpp"
)

// submitter is what an outlet needs of an SMSC's sessions.
type submitter interface {
	Send([]smpp.Submit) error
	Release(...smpp.Slot)
}

// outlet writes submits that are recorded as leaving at the pace of their SMSC. While one has no limit,
// whoever puts submits writes them; else run does.
type outlet struct {
	sessions submitter
	filled   chan struct{} // room for one: there is something to write, or at another pace

	mu     sync.Mutex // guards the rest
	pace   pace
	held   []smpp.Submit // in order
	closed bool          // nothing is written any more
}

func newOutlet(sessions submitter, limit float64) *outlet {
	return &outlet{sessions: sessions, pace: pace{limit: limit, next: time.Now()}, filled: make(chan struct{}, 1)}
}

// limit changes the limit, 0 for none, also of what is held.
func (o *outlet) limit(limit float64) {
	o.mu.Lock()
	o.pace.limit = limit
	o.mu.Unlock()
	o.wake()
}

func (o *outlet) wake() {
	select {
	case o.filled <- struct{}{}:
	default:
	}
}

// room is how many submits, at most max, may be made ready now. When it says 0, wait is when to ask again.
func (o *outlet) room(now time.Time, max int) (n int, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pace.ready(now, len(o.held), max)
}

// lapse says that nothing waits to be sent.
func (o *outlet) lapse(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.held) == 0 {
		o.pace.lapse(now)
	}
}

// throttled takes an ESME_RTHROTTLED for a submit made ready at sentAt.
func (o *outlet) throttled(now, sentAt time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pace.throttled(now, sentAt)
}

// rate is how many submits a second leave now at most, 0 = no limit; slowed: fewer than the limit, since the
// SMSC asked for that.
func (o *outlet) rate(now time.Time) (r float64, slowed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r = o.pace.rate(now)
	return r, r != o.pace.limit
}

// put takes submits that are recorded. Their Done tells what becomes of them; an error is smpp.Client.Send's.
func (o *outlet) put(submits []smpp.Submit) error {
	o.mu.Lock()
	switch now := time.Now(); {
	case o.closed:
		o.mu.Unlock()
		o.handBack(submits)
		return nil
	case len(o.held) > 0 || o.pace.rate(now) > 0:
		o.held = append(o.held, submits...)
		o.mu.Unlock()
		o.wake()
		return nil
	default:
		o.pace.wrote(now, len(submits))
		o.mu.Unlock()
		return o.sessions.Send(submits)
	}
}

// run writes what is put until ctx is done, and what is due within paceAhead then. The rest is handed back.
func (o *outlet) run(ctx context.Context) error {
	defer o.close()
	stop := ctx.Done()
	var end <-chan time.Time
	for {
		due, wait := o.due(time.Now())
		if len(due) > 0 {
			if err := o.sessions.Send(due); err != nil {
				return err
			}
			continue
		}
		var again <-chan time.Time
		switch {
		case wait > 0:
			again = time.After(wait)
		case end != nil:
			return nil
		}
		select {
		case <-o.filled:
		case <-again:
		case <-stop:
			stop, end = nil, time.After(paceAhead)
		case <-end:
			return nil
		}
	}
}

// due takes what is to be written now. Nothing: after wait there is, or, when that is 0, nothing is held.
func (o *outlet) due(now time.Time) (due []smpp.Submit, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.held) == 0 {
		return nil, 0
	}
	n, wait := o.pace.allow(now, len(o.held))
	if n == 0 {
		return nil, wait
	}
	due, o.held = o.held[:n:n], o.held[n:]
	o.pace.wrote(now, n)
	return due, 0
}

// recall hands back what is not written yet, so that it waits in the queue again.
func (o *outlet) recall() { o.handBack(o.take(false)) }

func (o *outlet) close() { o.handBack(o.take(true)) }

// take takes all that is held.
func (o *outlet) take(last bool) []smpp.Submit {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := o.held
	o.held, o.closed = nil, o.closed || last
	return left
}

// handBack says of submits that they did not leave.
func (o *outlet) handBack(submits []smpp.Submit) {
	for i := range submits {
		s := &submits[i]
		o.sessions.Release(s.Slot)
		s.Done(smpp.Answer{Outcome: smpp.NotWritten, Session: s.Slot.Session, SequenceNumber: s.Slot.SequenceNumber})
	}
}
