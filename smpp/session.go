package smpp

import (
	"context"
	"errors"
	"net"
	"time"

	"golang.org/x/sync/errgroup"
)

// lastWords is how long a connection that cannot be written to is still read from. A broken one ends at
// once; this is for a peer that has only stopped reading.
const lastWords = time.Second

const stoppedByOperator = "stopped by the operator"

// session runs one link over one connection. Reader and writer move octets, the dispatcher calls the
// handler, and the loop alone owns the link.
type session struct {
	cfg    *Config
	keeper *keeper
	stops  uint64 // of the keeper's when the attempt began
	conn   net.Conn
	link   link
	desk   *desk

	frames  chan batch
	answers chan *Request // from Respond; room for all that can be unanswered, so that it never blocks
	writes  chan []byte
	written chan written  // room for the one write that is under way
	inbox   chan []notice // room for all that can be unanswered and an event, so that the loop never blocks
	done    chan struct{} // closed when the loop takes nothing more

	writing bool   // the writer has a buffer
	spare   []byte // the buffer it had before
	wrote   int64  // octets that reached the socket

	offering bool // slots are on offer at the desk, or lent from there
	slow     bool // and are not to be lent, as the desk knows

	timer        *time.Timer
	armed        time.Time     // on the session's clock; zero when the timer is not running
	stalled      time.Duration // how long reading has waited for the handler in all
	stalledSince time.Time     // zero while it does not
}

func newSession(k *keeper, conn net.Conn, to attempt, stops uint64) *session {
	s := &session{
		cfg:     &k.cfg,
		keeper:  k,
		stops:   stops,
		conn:    conn,
		desk:    newDesk(k.pool, k.cfg.Name),
		frames:  make(chan batch),
		answers: make(chan *Request, maxUnanswered+maxBatch),
		writes:  make(chan []byte),
		written: make(chan written, 1),
		inbox:   make(chan []notice, maxUnanswered+maxBatch+1),
		done:    make(chan struct{}),
		timer:   time.NewTimer(0),
	}
	s.link = newLink(&k.cfg, s.answers)
	s.link.status = k.told()
	s.link.status.Addr, s.link.status.IP = to.addr, to.ip
	return s
}

// run keeps the session until it is over, and says why it is. All that it started has ended by then, all
// that was outstanding is handed back, and the handler has all that was received.
func (s *session) run(ctx context.Context) *ending {
	var g errgroup.Group
	g.Go(func() error { s.read(); return nil })
	g.Go(func() error { s.write(); return nil })
	g.Go(func() error { s.dispatch(); return nil })
	s.loop(ctx)
	s.finish()
	_ = g.Wait() // none of them returns an error: they tell the loop
	return s.link.over
}

func (s *session) dispatch() {
	for notices := range s.inbox {
		for _, n := range notices {
			if n.event != nil {
				s.cfg.Handler.Session(*n.event)
			} else {
				s.cfg.Handler.Received(n.request)
			}
		}
	}
}

// loop feeds the link until it is over.
func (s *session) loop(ctx context.Context) {
	defer s.timer.Stop()
	stop := ctx.Done()
	s.link.begin(s.now())
	if s.stopped() { // since the dial began
		s.link.shutDown(s.now(), stoppedByOperator, 0)
	}
	for s.link.over == nil {
		s.arm()
		select {
		case <-stop:
			stop = nil
			select {
			case reason := <-s.keeper.abort: // asked for before, and no less urgent now
				s.link.end(reason, nil, false)
			default:
				s.link.shutDown(s.now(), "shutdown", s.cfg.ShutdownTimeout)
			}
		case <-s.keeper.wake:
			if s.stopped() {
				s.link.shutDown(s.now(), stoppedByOperator, s.cfg.ShutdownTimeout)
			}
		case reason := <-s.keeper.abort:
			s.link.end(reason, nil, false)
		case reason := <-s.keeper.rebind:
			s.link.shutDown(s.now(), reason, s.cfg.ResponseTimeout)
		case b := <-s.readable():
			s.take(b)
		case r := <-s.answers:
			s.respond(r)
		case <-s.desk.bell:
			in := s.desk.take()
			s.link.submit(s.now(), in.submits)
			s.link.release(in.released)
		case o := <-s.requestable():
			s.link.request(s.now(), o)
		case s.writable() <- s.link.out:
			s.writing, s.link.out, s.spare = true, s.spare[:0], nil
		case w := <-s.written:
			s.account(w)
		case <-s.timer.C:
			s.armed = time.Time{}
			s.link.tick(s.now())
		}
		s.offer()
		s.link.settle(s.now())
		s.stall()
		s.keeper.publish(&s.link) // first, so that who is told finds it so
		s.tell()
	}
}

func (s *session) take(b batch) {
	now := s.now()
	for _, f := range b.frames {
		s.link.frame(now, f)
	}
	switch {
	case errors.Is(b.err, ErrFraming):
		s.link.broken(b.header, b.err)
	case b.err != nil:
		s.link.disconnected(b.err)
	}
}

// respond takes r and all other answers that are waiting.
func (s *session) respond(r *Request) {
	s.link.respond(r)
	for range len(s.answers) {
		s.link.respond(<-s.answers)
	}
}

// account takes the writer's report.
func (s *session) account(w written) {
	s.writing, s.spare = false, w.buf
	s.wrote += int64(w.n)
	if w.err != nil {
		s.link.unwritable(w.err)
		// What the SMSC wrote before the connection broke may be here already: answers that leave no doubt.
		if err := s.conn.SetReadDeadline(time.Now().Add(lastWords)); err != nil {
			s.link.disconnected(err)
		}
	}
}

// The channels of the loop's select that are not always open for business: nil where they are not.

func (s *session) readable() <-chan batch {
	if s.link.full() {
		return nil
	}
	return s.frames
}

func (s *session) requestable() <-chan outgoing {
	if !s.link.accepting() || s.clogged() {
		return nil
	}
	return s.keeper.requests
}

func (s *session) writable() chan<- []byte {
	if s.writing || len(s.link.out) == 0 {
		return nil
	}
	return s.writes
}

// clogged says whether the connection takes too little: octets wait behind those being written.
func (s *session) clogged() bool { return s.writing && len(s.link.out) > 0 }

// stopped says whether the operator wants this session to end.
func (s *session) stopped() bool { return s.keeper.stops.Load() != s.stops }

// offer puts the slots that are free on offer, holds them back while they could not be used, and takes
// them back when the session is to end.
func (s *session) offer() {
	accepting := s.link.accepting()
	switch {
	case accepting && s.link.window.free() > 0:
		s.offering = true
		s.desk.offer(s.link.reserve())
	case !accepting && s.offering:
		s.offering = false
		s.link.release(s.desk.withdraw())
	}
	if slow := s.clogged(); s.offering && slow != s.slow {
		s.slow = slow
		s.desk.hold(slow)
	}
}

// tell gives the dispatcher what has come up for the handler.
func (s *session) tell() {
	if len(s.link.inbox) > 0 {
		s.inbox <- s.link.inbox
		s.link.inbox = nil
	}
}

// now is the session's clock. It stands still while reading waits for the handler: the SMSC's silence,
// and its answers that are not read, are then ours to answer for.
func (s *session) now() time.Time {
	if !s.stalledSince.IsZero() {
		return s.stalledSince.Add(-s.stalled)
	}
	return time.Now().Add(-s.stalled)
}

// stall stops the clock, or lets it go on. A session that is stopping keeps its deadlines in any case.
func (s *session) stall() {
	stalled := s.link.full() && s.link.stop == nil
	switch {
	case stalled && s.stalledSince.IsZero():
		s.stalledSince = time.Now()
	case !stalled && !s.stalledSince.IsZero():
		s.stalled += time.Since(s.stalledSince)
		s.stalledSince = time.Time{}
	}
}

// arm sets the timer to the link's next deadline. One that is already set to an earlier time is left:
// deadlines move back with every PDU, and a tick that comes too soon does nothing.
func (s *session) arm() {
	at := s.link.next()
	if at.IsZero() || !s.stalledSince.IsZero() || !s.armed.IsZero() && !s.armed.After(at) {
		return
	}
	s.armed = at
	s.timer.Reset(max(0, at.Sub(s.now())))
}

// finish ends the connection and hands back what is outstanding. The link is over.
func (s *session) finish() {
	close(s.done)
	s.link.submit(s.now(), s.desk.close().submits) // too late: each is told so
	if s.link.over.flush {
		s.flush()
	}
	_ = s.conn.Close() // nothing is left that an error could be about
	close(s.writes)
	if s.writing {
		s.account(<-s.written)
	}
	s.link.handBack(s.wrote)
	s.tell()
	close(s.inbox)
}

// flush writes what is left, as far as the connection takes it within the write timeout.
func (s *session) flush() {
	if s.writing {
		s.account(<-s.written)
	}
	if len(s.link.out) > 0 { // nothing is left once a write has failed
		s.writes <- s.link.out
		s.link.out = nil
		s.account(<-s.written)
	}
}
