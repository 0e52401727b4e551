package smpp

import (
	"errors"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"
)

// link is what a session knows and decides: a state machine that takes frames, requests and the time,
// and leaves what is to be done in out (octets to write), inbox (things to tell the handler) and over
// (the end). It does no I/O, starts nothing, and belongs to one goroutine.
//
// Times are those of the session's own clock, which stands still while reading waits for the handler.
type link struct {
	cfg     *Config
	answers chan<- *Request

	state  State
	window window
	quiet  silence
	status SessionStatus // what there is to tell; inUse and unanswered are added when it is told

	resp    SubmitSMResp // decoded into again and again
	slots   []*pending   // likewise reserved into
	scratch [32]byte     // for PDUs that are nearly all header

	out    []byte   // to be written
	queued int64    // octets ever appended to out
	inbox  []notice // for the handler

	unanswered       int // requests that the handler has and has not answered
	unansweredOctets int

	stop *stopping
	cut  *ending // nothing can be written any more; what the SMSC wrote before may still be read
	over *ending
}

func newLink(cfg *Config, answers chan<- *Request) link {
	return link{cfg: cfg, answers: answers, window: newWindow(cfg.Window), quiet: silence{limit: cfg.EnquireLink}}
}

// notice is one thing to tell the handler: a request, or an event.
type notice struct {
	request *Request
	event   *Event
}

// stopping is a session on its way to its end.
type stopping struct {
	reason   string
	deadline time.Time // for the window to drain, then for the SMSC to answer unbind, then for the handler to answer
	drained  bool      // unbind was sent or received
	done     bool      // unbind was answered, or is the SMSC's
	peer     *Header   // the SMSC's unbind, until it is answered
	owed     bool      // it was answered while the SMSC owed answers
}

// ending is why a session is over.
type ending struct {
	reason string
	err    error // nil when it was meant to
	flush  bool  // what is in out is still to be written
}

// A session stops reading while the handler owes it this many answers, or answers to this many octets.
// SMSCs keep some ten to a thousand deliver_sm outstanding, so that a handler that keeps up never gets
// there, and one that hangs costs bounded memory.
const (
	maxUnanswered       = 1024
	maxUnansweredOctets = 16 << 20
)

// begin sends the bind.
func (l *link) begin(now time.Time) {
	l.move(Open)
	p := l.window.take(l.cfg.Bind.Mode.command())
	bind := l.cfg.Bind.pdu()
	bind.SequenceNumber = p.seq
	pdu, err := Append(nil, bind)
	if err != nil {
		l.end("bind cannot be encoded", err, false)
		return
	}
	l.send(now, p, pdu, nil)
}

// frame takes one PDU.
func (l *link) frame(now time.Time, f Frame) {
	if l.over != nil {
		return
	}
	l.quiet.hear(now)
	l.debug("pdu received", f.Header)
	switch {
	case f.CommandID.IsResponse():
		l.response(now, f)
	case f.CommandID == CommandEnquireLink:
		l.put(AppendResponse(l.scratch[:0], CommandEnquireLink, StatusOK, f.SequenceNumber))
	case f.CommandID == CommandUnbind:
		l.unbindReceived(now, f.Header)
	default:
		l.receive(f)
	}
}

// broken takes the header of a frame that cannot be one.
func (l *link) broken(h Header, err error) {
	if l.over != nil {
		return
	}
	l.cfg.Log.Warn("framing is broken", zap.Uint32("command_length", h.CommandLength))
	l.put(AppendResponse(l.scratch[:0], CommandGenericNack, StatusInvCmdLen, h.SequenceNumber))
	l.end("framing is broken", err, true)
}

// disconnected takes the end of what can be read.
func (l *link) disconnected(err error) {
	switch {
	case l.cut != nil:
		l.end(l.cut.reason, l.cut.err, false)
	case l.stop != nil && l.stop.done:
		l.end(l.stop.reason, nil, false)
	case errors.Is(err, io.EOF):
		l.end("connection closed by the SMSC", err, false)
	default:
		l.end("connection lost", err, false)
	}
}

// unwritable takes the end of what can be written.
func (l *link) unwritable(err error) {
	l.out = nil
	l.cut = &ending{reason: "connection lost", err: err}
}

// receive hands a PDU to the handler.
func (l *link) receive(f Frame) {
	l.unanswered++
	l.unansweredOctets += len(f.PDU)
	l.status.Receptions++
	r := &Request{Header: f.Header, PDU: f.PDU, Session: l.cfg.Name, At: time.Now(), answers: l.answers}
	l.inbox = append(l.inbox, notice{request: r})
}

// full says whether reading must wait for the handler.
func (l *link) full() bool {
	return l.unanswered >= maxUnanswered || l.unansweredOctets >= maxUnansweredOctets
}

// respond writes the handler's answer.
func (l *link) respond(r *Request) {
	l.unanswered--
	l.unansweredOctets -= len(r.PDU)
	if pdu := r.appendAnswer(l.scratch[:0]); len(pdu) > 0 {
		l.put(pdu)
	}
}

// tick does what is due.
func (l *link) tick(now time.Time) {
	for l.over == nil {
		p := l.window.expire(now)
		if p == nil {
			break
		}
		l.timedOut(p)
	}
	if l.over == nil && l.state.Bound() && l.quiet.due(now) {
		l.quiet.asked = true
		l.ask(now, CommandEnquireLink)
	}
}

// next is when tick or settle have something to do; zero for never.
func (l *link) next() time.Time {
	var quiet, stop time.Time
	if l.state.Bound() {
		quiet = l.quiet.next()
	}
	if l.stop != nil {
		stop = l.stop.deadline
	}
	return earliest(l.window.next(), quiet, stop)
}

// timedOut gives up on one request.
func (l *link) timedOut(p *pending) {
	switch p.command {
	case CommandSubmitSM:
		l.status.Timeouts++
		p.done(l.outcome(TimedOut, p))
		if l.window.timeouts >= l.window.limit {
			l.end(fmt.Sprintf("%d submit_sm in a row unanswered", l.window.timeouts), ErrTimeout, false)
		}
	case CommandQuerySM, CommandCancelSM:
		p.done(l.outcome(TimedOut, p))
	default: // enquire_link, unbind or the bind: nobody is there
		l.nobodyThere(p.command)
	}
}

// nobodyThere ends a session whose SMSC does not answer what any SMSC answers.
func (l *link) nobodyThere(command CommandID) {
	l.end(command.String()+" unanswered", fmt.Errorf("%w: %s", ErrTimeout, command), false)
}

func (l *link) outcome(o Outcome, p *pending) Answer {
	return Answer{Outcome: o, Session: l.cfg.Name, SequenceNumber: p.seq}
}

// ask writes a request without a body.
func (l *link) ask(now time.Time, command CommandID) {
	p := l.window.take(command)
	h := Header{CommandLength: HeaderLen, CommandID: command, SequenceNumber: p.seq}
	l.send(now, p, AppendHeader(l.scratch[:0], h), nil)
}

// send writes a request whose waiter is registered first.
func (l *link) send(now time.Time, p *pending, pdu []byte, done func(Answer)) {
	l.window.send(p, l.queued, now, now.Add(l.cfg.ResponseTimeout), done)
	l.put(pdu)
}

func (l *link) put(pdu []byte) {
	if l.cut != nil {
		return
	}
	l.debug("pdu sent", ParseHeader(pdu))
	l.out = append(l.out, pdu...)
	l.queued += int64(len(pdu))
}

func (l *link) debug(message string, h Header) {
	if ce := l.cfg.Log.Check(zap.DebugLevel, message); ce != nil {
		ce.Write(headerFieldsOf(h)...)
	}
}

// ipField is what stands behind an address that is a name: see Event.IP.
func ipField(ip string) zap.Field {
	if ip == "" {
		return zap.Skip()
	}
	return zap.String("ip", ip)
}

func headerFieldsOf(h Header) []zap.Field {
	return []zap.Field{
		zap.Stringer("command_id", h.CommandID),
		zap.Stringer("command_status", h.CommandStatus),
		zap.Uint32("sequence_number", h.SequenceNumber),
	}
}

func (l *link) move(s State) {
	l.state = s
	l.status.State, l.status.Since = s, time.Now()
}

// end makes the session over; the first reason stands.
func (l *link) end(reason string, err error, flush bool) {
	if l.over == nil {
		l.over = &ending{reason: reason, err: err, flush: flush}
	}
}

// handBack gives every outstanding request its end. written is how many octets of all that was queued
// reached the socket.
func (l *link) handBack(written int64) {
	for _, p := range l.window.end() {
		if p.done == nil {
			continue
		}
		o := Lost
		if p.position >= written {
			o = NotWritten
		}
		p.done(l.outcome(o, p))
	}
}
