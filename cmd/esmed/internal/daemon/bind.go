package daemon

import (
	"sync"
	"time"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
)

// bind is the session as it is now, for `binds list`.
func (s *session) bind(st *smpp.SessionStatus, now time.Time) control.Bind {
	submits, receptions := s.rates.look(now, st.Submits, st.Receptions)
	b := control.Bind{
		SMSC: s.cfg.Name, Session: st.Name, Bind: st.Mode.String(), Addr: st.Addr, State: st.State.String(),
		Since: instant(st.Since), Window: st.Window, WindowInUse: st.InUse,
		SubmitsPerSecond: submits, ReceptionsPerSecond: receptions,
		LastError: st.LastError, LastErrorAt: instant(st.LastErrorAt),
		NextAttemptAt: instant(st.NextAttempt), Configured: true,
	}
	if st.Mode == smpp.Receiver {
		b.Window = 0
	}
	if !st.EnquireLinkAt.IsZero() {
		ms := float64(st.EnquireLinkRTT) / float64(time.Millisecond)
		b.EnquireLinkRTT = &ms
	}
	return b
}

// instant is nil for the zero time.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// ratesOver is the shortest time that rates are an average of.
const ratesOver = 5 * time.Second

// rates turns counters into averages per second since they were looked at before.
type rates struct {
	mu                           sync.Mutex
	at                           time.Time
	submits, receptions          uint64
	submitsPerSec, receptsPerSec float64
}

func (r *rates) look(now time.Time, submits, receptions uint64) (submitsPerSecond, receptionsPerSecond float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() {
		r.at = now
	}
	if dt := now.Sub(r.at); dt >= ratesOver {
		r.submitsPerSec = float64(submits-r.submits) / dt.Seconds()
		r.receptsPerSec = float64(receptions-r.receptions) / dt.Seconds()
		r.at, r.submits, r.receptions = now, submits, receptions
	}
	return r.submitsPerSec, r.receptsPerSec
}

// bindWord says whether a session is bound that sends (control.Queue.Bind).
func (s *smsc) bindWord() string {
	stopped := true
	for _, st := range s.client.Status() {
		if st.State == smpp.BoundTX || st.State == smpp.BoundTRX {
			return control.BindUp
		}
		stopped = stopped && st.Stopped
	}
	if stopped {
		return control.BindStopped
	}
	return control.BindDown
}
