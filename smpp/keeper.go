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

// keeper keeps one session up: it dials, binds, and does so again whenever the session ends.
type keeper struct {
	cfg      Config
	pool     *pool
	requests <-chan outgoing

	rebind  chan string   // room for one: the reason
	abort   chan string   // room for one: the reason
	wake    chan struct{} // room for one: stop or start was called
	stopped atomic.Bool
	stops   atomic.Uint64 // calls of stop: one that comes ends what began before it, though a start follows

	mu     sync.Mutex // guards status, which run and its sessions write and told reads
	status SessionStatus
}

func newKeeper(cfg Config, p *pool, requests <-chan outgoing) *keeper {
	return &keeper{
		cfg:      cfg,
		pool:     p,
		requests: requests,
		rebind:   make(chan string, 1),
		abort:    make(chan string, 1),
		wake:     make(chan struct{}, 1),
		status:   SessionStatus{Name: cfg.Name, Mode: cfg.Bind.Mode, Since: time.Now(), Window: cfg.Window},
	}
}

// run keeps the session up until ctx is done and it has ended.
func (k *keeper) run(ctx context.Context) {
	retry := backoff{min: k.cfg.ReconnectMin, max: k.cfg.ReconnectMax}
	for to := (route{}); ctx.Err() == nil; {
		stops := k.stops.Load()
		if k.stopped.Load() {
			k.pause(ctx, 0)
			continue
		}
		var did attempt
		did, to = k.attempt(ctx, to, stops)
		k.ended(did)
		if did.useful {
			retry.reset()
		}
		to.after = !did.bound
		if k.stops.Load() != stops { // on whose start nobody is to wait
			retry.reset()
			continue
		}
		delay := retry.next()
		if refused, ok := errors.AsType[*StatusError](did.end.err); ok && refused.CommandStatus.Credentials() {
			delay = k.cfg.ReconnectMax
		}
		k.pause(ctx, delay)
	}
}

// attempt is one connection, from dial to end.
type attempt struct {
	addr   string // of Config.Addrs
	ip     string // as Event.IP
	end    *ending
	bound  bool // the bind was accepted
	useful bool // and something was answered or received, so that the SMSC can be said to work
}

// attempt makes one, beginning with from, and returns where it came to. It ends at the next stop, counted
// from stops.
func (k *keeper) attempt(ctx context.Context, from route, stops uint64) (attempt, route) {
	conn, to, err := k.connect(ctx, from, stops)
	did := attempt{addr: k.cfg.Addrs[to.addr]}
	if to.ip != did.addr {
		did.ip = to.ip
	}
	switch {
	case err != nil && (ctx.Err() != nil || k.stops.Load() != stops):
		did.end = &ending{reason: "stopped while connecting"}
	case err != nil:
		did.end = &ending{reason: "no connection", err: err}
	default:
		before := k.told()
		forget(k.rebind)
		forget(k.abort)
		s := newSession(k, conn, did, stops)
		did.end = s.run(ctx)
		after := s.link.status
		did.bound = after.Binds > before.Binds
		did.useful = did.bound && (after.Answers+after.Receptions > before.Answers+before.Receptions ||
			after.EnquireLinkAt != before.EnquireLinkAt)
	}
	return did, to
}

// ended tells the end of an attempt: who reads of it in the log finds it in the status too.
func (k *keeper) ended(did attempt) {
	end := did.end
	event := Event{Kind: EventFailed, Session: k.cfg.Name, Addr: did.addr, IP: did.ip, At: time.Now(), Reason: end.reason, Err: end.err}
	refused, isRefused := errors.AsType[*StatusError](end.err)
	switch {
	case did.bound:
		event.Kind = EventUnbound
	case isRefused:
		event.Kind, event.Status = EventBindRefused, refused.CommandStatus
	}
	k.mu.Lock()
	k.status.State, k.status.Since, k.status.Addr, k.status.IP = Closed, event.At, did.addr, did.ip
	k.status.InUse, k.status.Unanswered = 0, 0
	if did.bound {
		k.status.Lost = event.At
	}
	switch {
	case end.err != nil:
		k.status.LastError, k.status.LastErrorAt = fmt.Sprintf("%s: %v", end.reason, end.err), event.At
	case end.reason == unboundBySMSC:
		k.status.LastError, k.status.LastErrorAt = end.reason, event.At
	}
	k.mu.Unlock()
	level := zap.WarnLevel
	switch {
	case end.err == nil:
		level = zap.InfoLevel
	case isRefused && refused.CommandStatus.Credentials():
		level = zap.ErrorLevel // an operator must act
	}
	k.cfg.Log.Log(level, "session ended", zap.Stringer("event", event.Kind), zap.String("addr", did.addr), ipField(did.ip),
		zap.String("reason", end.reason), zap.Error(end.err))
	k.cfg.Handler.Session(event)
}

// pause waits for delay (0: for ever), or until ctx is done or stop or start was called.
func (k *keeper) pause(ctx context.Context, delay time.Duration) {
	var after <-chan time.Time
	if delay > 0 {
		k.nextAttempt(time.Now().Add(delay))
		defer k.nextAttempt(time.Time{})
		after = time.After(delay)
	}
	select {
	case <-ctx.Done():
	case <-k.wake:
	case <-after:
	}
}

// order gives an order that no other waits before.
func order(orders chan<- string, reason string) {
	select {
	case orders <- reason:
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

func (k *keeper) stop() {
	k.stopped.Store(true)
	k.stops.Add(1)
	k.awake()
}

func (k *keeper) start() {
	k.stopped.Store(false)
	k.awake()
}

func (k *keeper) awake() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// told is the session's status.
func (k *keeper) told() SessionStatus {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.status
	s.Stopped = k.stopped.Load()
	return s
}

// publish makes the link's state what told tells.
func (k *keeper) publish(l *link) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status = l.status
	k.status.InUse, k.status.Unanswered = l.window.outstanding(), l.unanswered
}

func (k *keeper) nextAttempt(at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status.NextAttempt = at
}
