package smpp

import (
	"time"

	"go.uber.org/zap"
)

// response takes a response of the SMSC's to whatever request of ours it answers.
func (l *link) response(now time.Time, f Frame) {
	p, late := l.window.answer(f.Header)
	if p == nil {
		l.stray(f)
		return
	}
	switch p.command {
	case CommandSubmitSM:
		l.status.Answers++
		p.done(l.answer(now, p, f, late))
	case CommandQuerySM, CommandCancelSM:
		if late { // whoever asked has gone
			l.stray(f)
			return
		}
		p.done(l.answer(now, p, f, late))
	case CommandEnquireLink:
		l.quiet.asked = false
		l.status.EnquireLinkRTT, l.status.EnquireLinkAt = now.Sub(p.sent), time.Now()
	case CommandUnbind:
		if !l.stop.done { // else the SMSC's own unbind came between
			l.stop.done, l.stop.deadline = true, now.Add(l.cfg.ResponseTimeout)
		}
	default:
		l.bindAnswered(f)
	}
}

func (l *link) answer(now time.Time, p *pending, f Frame, late bool) Answer {
	a := l.outcome(Answered, p)
	a.Late, a.CommandID, a.CommandStatus = late, f.CommandID, f.CommandStatus
	a.PDU, a.RoundTrip = f.PDU, now.Sub(p.sent)
	if f.CommandID == CommandSubmitSMResp {
		if err := l.resp.Decode(f.PDU); err != nil {
			l.cfg.Log.Warn("body of a response is broken", append(headerFieldsOf(f.Header), zap.Error(err))...)
		}
		a.MessageID = l.resp.MessageID
	}
	return a
}

// stray takes a response that answers nothing outstanding. It may be the answer to what an earlier
// session sent, or be counted wrong: evidence all the same.
func (l *link) stray(f Frame) {
	l.cfg.Log.Warn("response to nothing outstanding", headerFieldsOf(f.Header)...)
	switch f.CommandID {
	case CommandEnquireLinkResp, CommandUnbindResp, CommandBindTransceiverResp, CommandBindTransmitterResp, CommandBindReceiverResp:
		return // nothing to learn from
	}
	l.receive(f)
}

// bindAnswered takes the answer to the bind, which may be a generic_nack.
func (l *link) bindAnswered(f Frame) {
	if f.CommandStatus != StatusOK {
		l.end("bind refused", &StatusError{CommandID: f.CommandID, CommandStatus: f.CommandStatus}, false)
		return
	}
	event := &Event{Kind: EventBound, Session: l.cfg.Name, Addr: l.status.Addr, IP: l.status.IP, At: time.Now()}
	var resp BindResp
	if err := decode(new(codec), f.PDU, &resp); err != nil {
		l.cfg.Log.Warn("body of a response is broken", append(headerFieldsOf(f.Header), zap.Error(err))...)
	}
	event.SystemID = resp.SystemID
	if v, ok := resp.TLVs.Find(TagSCInterfaceVersion); ok && len(v.Value) == 1 {
		event.SCInterfaceVersion = v.Value[0]
	}
	l.status.Binds++
	l.move(l.cfg.Bind.Mode.bound())
	l.inbox = append(l.inbox, notice{event: event})
	l.cfg.Log.Info("bound", zap.String("addr", l.status.Addr), ipField(l.status.IP), zap.String("bind", l.cfg.Bind.Mode.String()), zap.String("smsc_system_id", resp.SystemID))
}
