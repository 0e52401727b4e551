package smpp

import (
	"time"

	"go.uber.org/zap"
)

const unboundBySMSC = "unbind by the SMSC"

// shutDown begins the end that we want: the window drains for at most grace, then unbind is sent.
func (l *link) shutDown(now time.Time, reason string, grace time.Duration) {
	switch {
	case l.stop != nil:
		l.stop.deadline = earliest(l.stop.deadline, now.Add(grace))
	case l.state.Bound():
		l.stop = &stopping{reason: reason, deadline: now.Add(grace)}
		l.cfg.Log.Info("stopping", zap.String("reason", reason), zap.Int("outstanding", l.window.inUse))
	default:
		l.end(reason, nil, false)
	}
}

// unbindReceived begins the end that the SMSC wants. It is answered as soon as the handler has answered
// what came before it, since nothing can be said after.
func (l *link) unbindReceived(now time.Time, h Header) {
	l.cfg.Log.Info("unbind received")
	if l.stop == nil {
		l.stop = &stopping{reason: unboundBySMSC}
	}
	l.stop.peer, l.stop.drained, l.stop.done = &h, true, true
	l.stop.deadline = now.Add(l.cfg.ResponseTimeout)
	l.move(Unbinding)
}

// settle moves a session that is stopping one step on, where it can. It is called after everything else.
func (l *link) settle(now time.Time) {
	if l.stop == nil || l.over != nil {
		return
	}
	over := !l.stop.deadline.After(now)
	switch {
	case !l.stop.drained && (l.window.inUse == 0 || over):
		l.stop.drained = true
		l.stop.deadline = now.Add(l.cfg.ResponseTimeout)
		l.move(Unbinding)
		l.ask(now, CommandUnbind)
	case l.stop.done && (l.unanswered == 0 || over):
		if l.stop.peer != nil {
			l.put(AppendResponse(l.scratch[:0], CommandUnbind, StatusOK, l.stop.peer.SequenceNumber))
		}
		l.end(l.stop.reason, nil, true)
	}
}
