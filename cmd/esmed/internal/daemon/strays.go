package daemon

import (
	"context"
	"fmt"
	"time"

	"esmed/smpp"
	"esmed/statemachine"
)

// strayEvery is how often a session's responses to nothing outstanding are recorded at most.
const strayEvery = 10 * time.Second

// strays makes few records of many responses to nothing outstanding: the first has its own; those that
// come within strayEvery of a record share the next one, which holds the first of them and their number.
type strays struct {
	last  time.Time                  // when the last record was made; zero: never
	first *statemachine.SessionEvent // of those that have no record yet
	count int                        // of those
}

// take takes one, and reports whether it is to be recorded by itself.
func (s *strays) take(e *statemachine.SessionEvent, now time.Time) bool {
	if s.count == 0 && (s.last.IsZero() || now.Sub(s.last) >= strayEvery) {
		s.last = now
		return true
	}
	if s.count == 0 {
		s.first = e
	}
	s.count++
	return false
}

// rest gives the record of those that have none yet; nil when there are none.
func (s *strays) rest(now time.Time) *statemachine.SessionEvent {
	if s.count == 0 {
		return nil
	}
	e := s.first
	if s.count > 1 {
		e.Detail = fmt.Sprintf("%s, the first of %d responses to nothing outstanding", e.Detail, s.count)
	}
	*s = strays{last: now}
	return e
}

// stray takes a response that answers nothing outstanding (any more).
func (h *receptions) stray(r *smpp.Request) {
	if fact := h.late.take(r); fact != nil {
		h.keep(r, fact)
		return
	}
	e := &statemachine.SessionEvent{
		SMSC: h.cfg.Name, Session: r.Session, Event: sessionStray, Detail: r.CommandID.String(),
		CommandStatus: uint32(r.CommandStatus), PDU: r.PDU,
	}
	h.mu.Lock()
	alone := h.strays.take(e, time.Now())
	h.mu.Unlock()
	if alone {
		h.keep(r, e)
		return
	}
	r.Respond(smpp.StatusOK)
	select {
	case h.counting <- struct{}{}:
	default:
	}
}

// recordStrays records those that were only counted so far.
func (h *receptions) recordStrays() {
	h.mu.Lock()
	e := h.strays.rest(time.Now())
	h.mu.Unlock()
	if e != nil {
		h.record(e)
	}
}

// run records what was counted of stray responses, until ctx is done, which is when the session has ended.
// It sleeps as long as there are none.
func (h *receptions) run(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-h.counting:
			select {
			case <-ctx.Done():
			case <-time.After(strayEvery):
			}
		}
		h.recordStrays()
	}
	return nil
}
