package smpptest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Server is a simulated SMSC with one account. All its methods may be called by any goroutine, apart
// from within Config.OnSubmit, OnQuery and OnCancel.
//
// What the account knows stands behind one mutex, taken once for all PDUs of one read from a
// connection; each connection has a reader and a writer, and one goroutine waits for what falls due.
type Server struct {
	lns   []net.Listener // none with NoListener
	conns errgroup.Group
	tls   *tls.Config
	kick  chan struct{} // capacity 1: something falls due earlier than what is waited for

	run  errgroup.Group // of Start
	stop context.CancelFunc

	mu         sync.Mutex
	cfg        Config
	closed     bool
	links      []*conn // open connections, in the order in which they came
	linkCount  int
	binds      int
	seats      map[string]int // binds in force by system_id
	started    time.Time
	nextNumber uint64 // of the next message taken on
	drops      int
	throttle   throttle
	planned    []Planned
	atOnce     answer             // of the submit that is being taken, see carryOut: it spares an allocation
	held       map[uint64]*answer // by Submit.N
	taken      map[string]Submit  // by MessageID; nil unless messages can be cancelled
	shuffle    []*answer
	batch      []*answer      // with Collide: written after what the turn could deliver
	submits    chunks[Submit] // kept with the truth in memory
	box        outbox
	due        schedule
	truth      ledger
	stats      counters
	waiters    []waiter
}

// New checks the Config and listens. Run must be called, and ends the listening.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("smpptest: config: %w", err)
	}
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, tls: cfg.TLS, kick: make(chan struct{}, 1), started: time.Now(), seats: map[string]int{}, held: map[uint64]*answer{},
		nextNumber: cfg.IDs.First, truth: newLedger(&cfg)}
	if cfg.Addr == NoListener {
		return s, nil
	}
	for _, addr := range append([]string{cfg.Addr}, cfg.More...) {
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			s.stopListening()
			return nil, fmt.Errorf("smpptest: %w", err)
		}
		s.lns = append(s.lns, ln)
	}
	return s, nil
}

// Start is New with a Run of its own, which Close ends.
func Start(cfg Config) (*Server, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.run.Go(func() error { return s.Run(ctx) })
	return s, nil
}

// Close ends a server made by Start: connections are cut, the truth is written out. It returns when
// all goroutines have ended, with the first error of the truth's writer.
func (s *Server) Close() error {
	s.stop()
	return s.run.Wait()
}

// Addr is where the server listens, as host:port; "" with NoListener.
func (s *Server) Addr() string {
	if len(s.lns) == 0 {
		return ""
	}
	return s.lns[0].Addr().String()
}

// Addrs are Addr and those of Config.More, in their order.
func (s *Server) Addrs() []string {
	addrs := make([]string, 0, len(s.lns))
	for _, ln := range s.lns {
		addrs = append(addrs, ln.Addr().String())
	}
	return addrs
}

// Run serves until ctx ends, and then returns the first error of listener or truth.
func (s *Server) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.waitDue(ctx) })
	for _, ln := range s.lns {
		g.Go(func() error { return s.accept(ln) })
	}
	g.Go(func() error {
		<-ctx.Done()
		s.shutdown()
		return nil
	})
	s.turn(s.keepFlushed)
	err := g.Wait()
	_ = s.conns.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.truth.add(Line{Type: LineEnd, At: time.Now(), Pending: s.stats.pending})
	return errors.Join(err, s.truth.flush())
}

// Pipe is the ESME's end of a new connection in memory. It fails, closed, once the server has ended.
func (s *Server) Pipe() net.Conn {
	esme, smsc := net.Pipe()
	s.connect(smsc)
	return esme
}

// Change alters the Config while the server runs. Addr, More, TLS, Truth, CountOnly and IDs.First stay as they were.
func (s *Server) Change(change func(*Config)) {
	s.turn(func(time.Time) {
		change(&s.cfg)
		s.cfg = s.cfg.withDefaults()
	})
}

func (s *Server) accept(ln net.Listener) error {
	for {
		nc, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("smpptest: accept: %w", err)
		}
		if s.tls != nil {
			nc = tls.Server(nc, s.tls)
		}
		s.connect(nc)
	}
}

func (s *Server) connect(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		nc.Close()
		return
	}
	s.linkCount++
	c := &conn{s: s, nc: nc, number: s.linkCount, wake: make(chan struct{}, 1), outstanding: map[uint32]*delivery{}}
	s.links = append(s.links, c)
	c.note("open", time.Now())
	s.conns.Go(func() error { c.read(); return nil })
	s.conns.Go(func() error { c.write(); return nil })
}

func (s *Server) shutdown() {
	s.stopListening()
	s.turn(func(time.Time) {
		s.closed = true
		for _, c := range s.links {
			c.resumeReading()
			c.bare().Close()
		}
	})
}

func (s *Server) stopListening() {
	for _, ln := range s.lns {
		ln.Close()
	}
}

// turn is how everything happens: f changes the state, then what became deliverable is written, the
// writers are woken, and those who wait for the state are told.
func (s *Server) turn(f func(now time.Time)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	f(now)
	s.pump(now)
	if len(s.batch) > 0 {
		for _, a := range s.batch {
			s.respond(a, now)
		}
		s.batch = s.batch[:0]
		s.pump(now)
	}
	for _, c := range s.links {
		if len(c.out) > 0 {
			c.wakeWriter()
		}
	}
	s.tell()
}

const flushEvery = 200 * time.Millisecond // how late the truth's writer may be

func (s *Server) keepFlushed(now time.Time) {
	if s.truth.out == nil || s.closed {
		return
	}
	_ = s.truth.flush() // the error is kept and returned by Run
	s.after(flushEvery, now, due{tick: s.keepFlushed})
}
