package daemon

import (
	"context"
	"crypto/tls"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// services are what every SMSC's parts work with.
type services struct {
	store   *store.Store
	gates   *gates
	room    *diskRoom // nil = there is always some
	metrics *metrics
	access  *accessLog
	clock   *timekeeper
	log     *zap.Logger
}

// smsc is one SMSC at work: its sessions, the dispatcher that feeds them, those who record what they bring, and
// who asks it about parts that are overdue.
type smsc struct {
	cfg        *config.SMSC
	security   *tls.Config // nil when TLS is off
	client     *smpp.Client
	sessions   []*session // in the order of client.Status
	dispatcher *dispatcher
	answers    *answers
	inquirer   *inquirer
	queries    *queries // nil without query_overdue
}

func newSMSC(cfg *config.SMSC, security *tls.Config, shutdown time.Duration, with services) *smsc {
	log := with.log.With(zap.String("smsc", cfg.Name))
	with.metrics.begin(cfg.Name)
	a := &answers{
		cfg: cfg, store: with.store, metrics: with.metrics, access: with.access, log: log,
		in: newMailbox[answer](), refused: newMailbox[statemachine.Fact](), feedback: newMailbox[feedback](),
	}
	s := &smsc{cfg: cfg, security: security, sessions: sessionsOf(cfg), answers: a}
	a.retry.Store(&cfg.Retry)
	late := newLateAnswers()
	clients := make([]smpp.Config, len(s.sessions))
	for i, one := range s.sessions {
		one.receptions = &receptions{
			cfg: cfg, store: with.store, answers: a, late: late, metrics: with.metrics, room: with.room, log: log, counting: make(chan struct{}, 1),
		}
		clients[i] = one.config(cfg, security, shutdown, log)
	}
	s.client = smpp.New(clients...)
	a.rebind = s.client.Rebind
	s.dispatcher = &dispatcher{
		cfg: cfg, store: with.store, gate: with.gates.of(cfg.Name), client: s.client, answers: a, clock: with.clock, room: with.room, log: log,
		outlet: newOutlet(s.client, cfg.Throughput), tuned: make(chan struct{}, 1),
	}
	s.inquirer = &inquirer{cfg: cfg, store: with.store, client: s.client, late: late}
	if cfg.QueryOverdue {
		s.queries = newQueries(s.inquirer, s.dispatcher.busy.Load, with.clock.doubted, log)
	}
	return s
}

// tune has the SMSC served under the throughput and retry of cfg from now on, which differs in nothing else that it
// works with (sameBind).
func (s *smsc) tune(cfg *config.SMSC) {
	s.answers.retry.Store(&cfg.Retry)
	if s.queries != nil {
		s.queries.tuned.Store(cfg)
	}
	s.dispatcher.outlet.limit(cfg.Throughput)
	select {
	case s.dispatcher.tuned <- struct{}{}:
	default:
	}
}

// certificateEnds is when our certificate for the SMSC ends; zero when there is none.
func (s *smsc) certificateEnds() time.Time {
	if s.security == nil || len(s.security.Certificates) == 0 {
		return time.Time{}
	}
	return s.security.Certificates[0].Leaf.NotAfter
}

// stop unbinds all sessions once their windows have drained, within shutdown_timeout, until start. What waits
// in the queue stays, and expires in its time. It does not wait.
func (s *smsc) stop() {
	s.answers.stopping.Store(true)
	s.client.Stop()
}

func (s *smsc) start() {
	s.answers.stopping.Store(false)
	s.client.Start()
}

// restart is a stop and a start: each session binds anew when it has drained.
func (s *smsc) restart() {
	s.client.Stop()
	s.start()
}

// run serves the SMSC until ctx is done, and then ends in this order: nothing new is sent, the windows
// drain within shutdown_timeout, the sessions unbind, and what is unanswered then is in doubt. An error
// is the store's, and cuts the sessions: nothing that they would wait for could be recorded.
func (s *smsc) run(ctx context.Context) error {
	sessions, endSessions := context.WithCancel(context.WithoutCancel(ctx))
	recording, endRecording := context.WithCancel(context.WithoutCancel(ctx))
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	failing := func(component string, f func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			err := telling(s.dispatcher.log, component, f)(ctx)
			if err != nil {
				s.client.Abort(stoppedByError)
				giveUp()
			}
			return err
		}
	}
	var g errgroup.Group
	for _, one := range s.sessions {
		g.Go(func() error { return one.receptions.run(recording) })
	}
	g.Go(func() error {
		defer endSessions()
		defer s.answers.stopping.Store(true)
		return failing("dispatcher", s.dispatcher.run)(ctx)
	})
	if s.queries != nil {
		g.Go(func() error { return failing("queries", s.queries.run)(ctx) })
	}
	g.Go(func() error {
		defer endRecording()
		return telling(s.dispatcher.log, "sessions", s.client.Run)(sessions)
	})
	g.Go(func() error { return failing("answers", s.answers.run)(recording) })
	return g.Wait()
}
