package smpp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// Client keeps one bind to an SMSC up. Its methods but Run may be called from any goroutine.
type Client struct {
	cfg Config

	reservations chan reservation // taken by a bound session with free slots
	requests     chan outgoing    // taken by a bound session
	rebind       chan string      // room for one: the reason
	abort        chan string      // room for one: the reason
	wake         chan struct{}    // room for one: stopped has changed
	stopped      atomic.Bool
	closed       chan struct{} // Run has returned

	mu     sync.Mutex // guards status, which Run and its sessions write and Status reads
	status SessionStatus
}

type reservation struct {
	max   int
	slots chan []Slot // has room for the one answer
}

// New makes a client; Run brings it to life.
func New(cfg Config) *Client {
	c := &Client{
		cfg:          cfg.withDefaults(),
		reservations: make(chan reservation),
		requests:     make(chan outgoing),
		rebind:       make(chan string, 1),
		abort:        make(chan string, 1),
		wake:         make(chan struct{}, 1),
		closed:       make(chan struct{}),
	}
	c.status = SessionStatus{Name: c.cfg.Name, Since: time.Now(), Window: c.cfg.Window}
	return c
}

// Run dials, binds, and does so again whenever the session ends, until ctx is done; then it takes no new
// submits, waits up to Config.ShutdownTimeout for the window to drain, unbinds, closes and returns nil.
// It is called once.
func (c *Client) Run(ctx context.Context) error {
	defer close(c.closed)
	if err := c.cfg.validate(); err != nil {
		return err
	}
	retry := backoff{min: c.cfg.ReconnectMin, max: c.cfg.ReconnectMax}
	for addr := 0; ctx.Err() == nil; {
		if c.stopped.Load() {
			c.pause(ctx, 0)
			continue
		}
		var did attempt
		did, addr = c.attempt(ctx, addr)
		c.ended(did)
		if did.useful {
			retry.reset()
		}
		if !did.bound {
			addr = (addr + 1) % len(c.cfg.Addrs)
		}
		delay := retry.next()
		if refused, ok := errors.AsType[*StatusError](did.end.err); ok && refused.CommandStatus.Credentials() {
			delay = c.cfg.ReconnectMax
		}
		c.pause(ctx, delay)
	}
	return nil
}

// attempt is one connection, from dial to end.
type attempt struct {
	addr   string
	end    *ending
	bound  bool // the bind was accepted
	useful bool // and something was sent or received, so that the SMSC can be said to work
}

// attempt makes one, beginning with the address of the number from, and returns the number of the
// address that it came to.
func (c *Client) attempt(ctx context.Context, from int) (attempt, int) {
	conn, addr, err := c.connect(ctx, from)
	did := attempt{addr: c.cfg.Addrs[addr]}
	switch {
	case err != nil && (ctx.Err() != nil || c.stopped.Load()):
		did.end = &ending{reason: "stopped while connecting"}
	case err != nil:
		did.end = &ending{reason: "no connection", err: err}
	default:
		before := c.Status()
		forget(c.rebind)
		forget(c.abort)
		s := newSession(c, conn, did.addr)
		did.end = s.run(ctx)
		after := s.link.status
		did.bound = after.Binds > before.Binds
		did.useful = did.bound && after.Answers+after.Receptions > before.Answers+before.Receptions
	}
	return did, addr
}

// ended logs and tells the end of an attempt.
func (c *Client) ended(did attempt) {
	end := did.end
	event := Event{Kind: EventFailed, Session: c.cfg.Name, Addr: did.addr, At: time.Now(), Reason: end.reason, Err: end.err}
	refused, isRefused := errors.AsType[*StatusError](end.err)
	switch {
	case did.bound:
		event.Kind = EventUnbound
	case isRefused:
		event.Kind, event.Status = EventBindRefused, refused.CommandStatus
	}
	level := zap.WarnLevel
	switch {
	case end.err == nil:
		level = zap.InfoLevel
	case isRefused && refused.CommandStatus.Credentials():
		level = zap.ErrorLevel // an operator must act
	}
	c.cfg.Log.Log(level, "session ended", zap.Stringer("event", event.Kind), zap.String("addr", did.addr),
		zap.String("reason", end.reason), zap.Error(end.err))
	c.mu.Lock()
	c.status.State, c.status.Since, c.status.Addr = Closed, event.At, did.addr
	c.status.InUse, c.status.Unanswered = 0, 0
	switch {
	case end.err != nil:
		c.status.LastError, c.status.LastErrorAt = fmt.Sprintf("%s: %v", end.reason, end.err), event.At
	case end.reason == unboundBySMSC:
		c.status.LastError, c.status.LastErrorAt = end.reason, event.At
	}
	c.mu.Unlock()
	c.cfg.Handler.Session(event)
}

// pause waits for delay (0: for ever), or until ctx is done or Start or Stop was called.
func (c *Client) pause(ctx context.Context, delay time.Duration) {
	var after <-chan time.Time
	if delay > 0 {
		after = time.After(delay)
	}
	select {
	case <-ctx.Done():
	case <-c.wake:
	case <-after:
	}
}

// Reserve waits until the session is bound to send and has a free slot in its window, and gives at least
// one slot and at most n. Each is to be used with Send or given back with Release. Its errors are ctx's
// and ErrClosed. A Receiver never has a slot.
func (c *Client) Reserve(ctx context.Context, n int) ([]Slot, error) {
	r := reservation{max: n, slots: make(chan []Slot, 1)}
	select {
	case c.reservations <- r:
		return <-r.slots, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, ErrClosed
	}
}

// Send hands encoded submit_sm's to the session that reserved their slots; many in one call go out in one
// write. Each Done is called as Submit says; if the session is gone, with NotWritten and before Send
// returns. batch belongs to the session from here on. An error means that an entry is not a submit_sm
// with its slot's number or has no Done: nothing was sent then, and the slots are still the caller's.
func (c *Client) Send(batch []Submit) error {
	for i := range batch {
		if err := batch[i].check(); err != nil {
			return err
		}
	}
	for len(batch) > 0 {
		s, n := batch[0].Slot.session, 1
		for n < len(batch) && batch[n].Slot.session == s {
			n++
		}
		select {
		case s.submits <- batch[:n]:
		case <-s.done:
			for i := range batch[:n] {
				batch[i].notWritten()
			}
		}
		batch = batch[n:]
	}
	return nil
}

// Release gives back slots that will not be used. Those of a session that is gone are gone with it.
func (c *Client) Release(slots ...Slot) {
	for len(slots) > 0 {
		s, n := slots[0].session, 1
		for n < len(slots) && slots[n].session == s {
			n++
		}
		select {
		case s.releases <- slots[:n]:
		case <-s.done:
		}
		slots = slots[n:]
	}
}

// Request sends a query_sm or cancel_sm, outside the window, and waits for its outcome. p's sequence
// number is not read. ctx bounds the wait for a bound session; from then on the outcome comes within
// Config.ResponseTimeout, and is waited for, since it is evidence. The error is nil where there is an
// Answer, whatever its Outcome; else ctx's, ErrClosed, or the encoder's.
func (c *Client) Request(ctx context.Context, p PDU) (Answer, error) {
	if id := commandOf(p); id != CommandQuerySM && id != CommandCancelSM {
		return Answer{}, fmt.Errorf("smpp: %s is not sent as a request", id)
	}
	pdu, err := Append(nil, p)
	if err != nil {
		return Answer{}, err
	}
	o := outgoing{pdu: pdu, reply: make(chan Answer, 1)}
	select {
	case c.requests <- o:
		return <-o.reply, nil
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	case <-c.closed:
		return Answer{}, ErrClosed
	}
}

// Rebind ends the session that is bound now, gracefully, and binds again; reason is for the log and the
// event. It does not block, and may be called from a Done.
func (c *Client) Rebind(reason string) {
	select {
	case c.rebind <- reason:
	default: // one is on its way already
	}
}

// Abort cuts the session that there is now, without draining or unbinding: what is outstanding is handed
// back as Lost. With Run's context done it is how to end at once; else Run binds again. It does not block.
func (c *Client) Abort(reason string) {
	select {
	case c.abort <- reason:
	default: // one is on its way already
	}
}

// forget drops an order that was meant for an earlier session.
func forget(orders <-chan string) {
	select {
	case <-orders:
	default:
	}
}

// Stop ends the session gracefully and keeps it closed until Start. It does not wait.
func (c *Client) Stop() { c.setStopped(true) }

// Start undoes Stop. Without one it ends the pause before the next attempt.
func (c *Client) Start() { c.setStopped(false) }

func (c *Client) setStopped(stopped bool) {
	c.stopped.Store(stopped)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Status is what the session is doing.
func (c *Client) Status() SessionStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	s.Stopped = c.stopped.Load()
	return s
}

// publish makes the link's state what Status tells.
func (c *Client) publish(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = l.status
	c.status.InUse, c.status.Unanswered = l.window.outstanding(), l.unanswered
}
