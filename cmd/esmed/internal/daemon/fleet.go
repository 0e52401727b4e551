package daemon

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

// fleet keeps one smsc running for each that is configured.
type fleet struct {
	with     services
	shutdown time.Duration
	changes  chan map[string]planned // room for one: what is to run from now on
	orders   sync.Mutex              // held while an order is recorded and carried out: one after the other

	mu      sync.Mutex // guards what follows, which run and orders change and others read
	running map[string]*member
	ending  map[*member]struct{}         // those that drain, and were replaced or taken out
	stops   map[string]*control.BindStop // SMSCs that somebody stopped, configured or not
}

// member is an smsc at work.
type member struct {
	*smsc
	stop context.CancelFunc
	done chan struct{}
}

// planned is an smsc that is to run, and the configuration that it is to work under.
type planned struct {
	*smsc
	now *config.SMSC
}

func newFleet(with services, shutdown time.Duration) *fleet {
	return &fleet{
		with: with, shutdown: shutdown, changes: make(chan map[string]planned, 1),
		running: map[string]*member{}, ending: map[*member]struct{}{}, stops: map[string]*control.BindStop{},
	}
}

// plan makes what is to run under a configuration. An SMSC whose settings, and certificates, are those that it
// runs under is the one that runs.
func (f *fleet) plan(cfg *config.Config) (map[string]planned, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := make(map[string]planned, len(cfg.SMSCs))
	for i := range cfg.SMSCs {
		c := &cfg.SMSCs[i]
		security, err := c.TLS.Config()
		if err != nil {
			return nil, fmt.Errorf("smscs: %s: tls.%w", c.Name, err)
		}
		if m := f.running[c.Name]; m != nil && sameBind(m.cfg, c) && sameTLS(m.security, security) {
			next[c.Name] = planned{m.smsc, c}
			continue
		}
		next[c.Name] = planned{newSMSC(c, security, f.shutdown, f.with), c}
	}
	return next, nil
}

// sameBind reports whether nothing differs that an SMSC's sessions work with, or that smsc.tune cannot change. The
// rest is for the reader of submissions, and for the log's rules record.
func sameBind(a, b *config.SMSC) bool {
	x, y := *a, *b
	for _, c := range []*config.SMSC{&x, &y} {
		c.Rules, c.DeliveryWindow, c.ReceiptGrace, c.InDoubt = config.Rules{}, 0, 0, ""
		c.Source, c.Dest, c.RegisteredDelivery = config.Source{}, config.Dest{}, config.RegisteredDelivery{}
		c.DefaultAlphabet, c.LongMessages, c.LongReceipts = "", "", ""
		c.Throughput, c.Retry = 0, config.Retry{}
	}
	return reflect.DeepEqual(x, y)
}

// change makes next what is to run, in place of a plan that was not taken up yet. It does not wait for
// those who leave. Only the daemon's loop calls it.
func (f *fleet) change(next map[string]planned) {
	select {
	case <-f.changes:
	default:
	}
	f.changes <- next
}

// run keeps first running, and after each change what that brought, until ctx is done and all have ended.
// An error is the store's.
func (f *fleet) run(ctx context.Context, first map[string]planned) error {
	g, failed := errgroup.WithContext(ctx)
	next := first
	for next != nil {
		f.retire(next)
		f.start(failed, g, next)
		select {
		case next = <-f.changes:
		case <-failed.Done():
			next = nil
		}
	}
	return g.Wait()
}

// retire has those end who are not among next. They drain while others run.
func (f *fleet) retire(next map[string]planned) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, m := range f.running {
		if next[name].smsc != m.smsc {
			delete(f.running, name)
			f.ending[m] = struct{}{}
			m.stop()
		}
	}
}

// start runs those of next who do not run, and tunes those who do. One that takes another's place begins when
// that has ended, and holds up nobody else; one that somebody stopped stays so.
func (f *fleet) start(ctx context.Context, g *errgroup.Group, next map[string]planned) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, p := range next {
		s := p.smsc
		if f.running[name] != nil {
			s.tune(p.now)
			continue
		}
		if f.stops[name] != nil {
			s.stop()
		}
		before := f.draining(name)
		own, stop := context.WithCancel(ctx)
		m := &member{smsc: s, stop: stop, done: make(chan struct{})}
		f.running[name] = m
		g.Go(func() error {
			defer f.ended(m)
			for _, b := range before {
				<-b.done
			}
			if own.Err() != nil {
				return nil
			}
			if err := s.run(own); err != nil {
				f.abort(stoppedByError) // it is the store's, which is everybody's
				return fmt.Errorf("smsc %s: %w", s.cfg.Name, err)
			}
			return nil
		})
	}
}

// draining are those of an SMSC that have not ended yet. The caller holds the lock.
func (f *fleet) draining(name string) (all []*member) {
	for m := range f.ending {
		if m.cfg.Name == name {
			all = append(all, m)
		}
	}
	return all
}

func (f *fleet) ended(m *member) {
	m.stop()
	f.mu.Lock()
	delete(f.ending, m)
	f.mu.Unlock()
	close(m.done)
	f.with.log.Info("stopped", zap.String("smsc", m.cfg.Name))
}

// members are those that run, by name.
func (f *fleet) members() []*member {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*member, 0, len(f.running))
	for _, m := range f.running {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *member) int { return strings.Compare(a.cfg.Name, b.cfg.Name) })
	return all
}

// member is the one of that name; nil when none runs.
func (f *fleet) member(smsc string) *member {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running[smsc]
}

// hold gives a part whose window ended to who asks its SMSC about it (cutoffs.hold).
func (f *fleet) hold(d store.Due) bool {
	m := f.member(d.SMSC)
	return m != nil && m.queries != nil && m.queries.hold(d)
}

// names are the names of those that run.
func (f *fleet) names() []string {
	var names []string
	for _, m := range f.members() {
		names = append(names, m.cfg.Name)
	}
	return names
}

// Why sessions are cut.
const (
	stoppedByError  = "stopped by an error"
	stoppedBySignal = "immediate stop"
)

// abort cuts all sessions at once: what is outstanding is handed back as lost.
func (f *fleet) abort(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.running {
		m.client.Abort(reason)
	}
	for m := range f.ending {
		m.client.Abort(reason)
	}
}
