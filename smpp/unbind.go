package smpp

import (
	"time"

	"go.uber.org/zap"
)

const unboundBySMSC = "unbind by the SMSC"

// lastAnswers is how long, within Config.ResponseTimeout, an SMSC is listened to that has little left to say: one
// that unbound, for the answers that it still owes after its unbind was answered (one that owes none is left at
// once), and one that was sent unbind, for its answer. After the time for the window to drain, a whole response
// timeout more would only keep the operator waiting who stops the process.
const lastAnswers = 5 * time.Second

// shutDown begins the end that we want: the window drains for at most grace, then unbind is sent.
func (l *link) shutDown(now time.Time, reason string, grace time.Duration) {
	switch {
	case l.stop != nil && l.stop.drained && !l.stop.done: // the answer to unbind is not waited for for long anyway
	case l.stop != nil:
		l.stop.deadline = earliest(l.stop.deadline, now.Add(grace))
	case l.state.Bound():
		l.stop = &stopping{reason: reason, deadline: now.Add(grace)}
		l.cfg.Log.Info("stopping", zap.String("reason", reason), zap.Int("outstanding", l.window.outstanding()))
	default:
		l.end(reason, nil, false)
	}
}

// unbindReceived begins the end that the SMSC wants. It is answered as soon as the handler has answered
// what came before it, since nothing can be said after. The SMSC may have more to say: answers to what is
// outstanding, which would be in doubt without them.
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
		l.stop.deadline = now.Add(l.lastAnswers())
		l.move(Unbinding)
		l.ask(now, CommandUnbind)
	case l.stop.peer != nil:
		if l.unanswered == 0 || over {
			l.answerUnbind(now)
		}
	case !l.stop.done && l.stop.drained && over:
		l.nobodyThere(CommandUnbind)
	case l.stop.owed && (l.window.outstanding() == 0 || over), !l.stop.owed && l.stop.done && (l.unanswered == 0 || over):
		l.end(l.stop.reason, nil, true)
	}
}

// answerUnbind answers the SMSC's unbind, and ends the session where no answer is owed to us.
func (l *link) answerUnbind(now time.Time) {
	l.put(AppendResponse(l.scratch[:0], CommandUnbind, StatusOK, l.stop.peer.SequenceNumber))
	l.stop.peer = nil
	if l.stop.owed = l.window.outstanding() > 0; !l.stop.owed {
		l.end(l.stop.reason, nil, true)
		return
	}
	l.stop.deadline = now.Add(l.lastAnswers())
}

func (l *link) lastAnswers() time.Duration { return min(lastAnswers, l.cfg.ResponseTimeout) }
