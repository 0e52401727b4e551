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
	changes  chan map[string]*smsc // room for one: what is to run from now on

	mu      sync.Mutex // guards running, which run changes and others read
	running map[string]*member
}

// member is an smsc at work.
type member struct {
	*smsc
	stop context.CancelFunc
	done chan struct{}
}

func newFleet(with services, shutdown time.Duration) *fleet {
	return &fleet{with: with, shutdown: shutdown, changes: make(chan map[string]*smsc, 1), running: map[string]*member{}}
}

// plan makes what is to run under a configuration. An SMSC whose settings are those that it runs under
// is the one that runs.
func (f *fleet) plan(cfg *config.Config) (map[string]*smsc, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := make(map[string]*smsc, len(cfg.SMSCs))
	for i := range cfg.SMSCs {
		c := &cfg.SMSCs[i]
		if m := f.running[c.Name]; m != nil && sameBind(m.cfg, c) {
			next[c.Name] = m.smsc
			continue
		}
		s, err := newSMSC(c, f.shutdown, f.with)
		if err != nil {
			return nil, err
		}
		next[c.Name] = s
	}
	return next, nil
}

// sameBind reports whether nothing differs but the reading rules, which the log's rules record carries.
func sameBind(a, b *config.SMSC) bool {
	x, y := *a, *b
	x.Rules, y.Rules = config.Rules{}, config.Rules{}
	return reflect.DeepEqual(x, y)
}

// change makes next what is to run, in place of a plan that was not taken up yet. It does not wait for
// those who leave. Only the daemon's loop calls it.
func (f *fleet) change(next map[string]*smsc) {
	select {
	case <-f.changes:
	default:
	}
	f.changes <- next
}

// run keeps first running, and after each change what that brought, until ctx is done and all have ended.
// An error is the store's.
func (f *fleet) run(ctx context.Context, first map[string]*smsc) error {
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

// retire ends those who are not among next, all at once, and waits for them.
func (f *fleet) retire(next map[string]*smsc) {
	var leaving []*member
	f.mu.Lock()
	for name, m := range f.running {
		if next[name] != m.smsc {
			delete(f.running, name)
			leaving = append(leaving, m)
		}
	}
	f.mu.Unlock()
	for _, m := range leaving {
		m.stop()
	}
	for _, m := range leaving {
		<-m.done
		f.with.log.Info("stopped", zap.String("smsc", m.cfg.Name))
	}
}

func (f *fleet) start(ctx context.Context, g *errgroup.Group, next map[string]*smsc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, s := range next {
		if f.running[name] != nil {
			continue
		}
		own, stop := context.WithCancel(ctx)
		m := &member{smsc: s, stop: stop, done: make(chan struct{})}
		f.running[name] = m
		g.Go(func() error {
			defer close(m.done)
			defer stop()
			if err := s.run(own); err != nil {
				f.abort(stoppedByError) // it is the store's, which is everybody's
				return fmt.Errorf("smsc %s: %w", s.cfg.Name, err)
			}
			return nil
		})
	}
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

// binds are the sessions as they are now (control.Backend.Binds).
func (f *fleet) binds() []control.Bind {
	now := time.Now()
	members := f.members()
	binds := make([]control.Bind, len(members))
	for i, m := range members {
		binds[i] = m.bind(now)
	}
	return binds
}

// Why sessions are cut.
const (
	stoppedByError  = "stopped by an error"
	stoppedBySignal = "immediate stop"
)

// abort cuts all sessions at once: what is outstanding is handed back as lost.
func (f *fleet) abort(reason string) {
	for _, m := range f.members() {
		m.client.Abort(reason)
	}
}
