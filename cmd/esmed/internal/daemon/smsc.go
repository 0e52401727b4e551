package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
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
	metrics *metrics
	access  *accessLog
	clock   *timekeeper
	log     *zap.Logger
}

// smsc is one SMSC at work: a session, the dispatcher that feeds it, those who record what it brings, and who
// asks it about parts that are overdue.
type smsc struct {
	cfg        *config.SMSC
	client     *smpp.Client
	dispatcher *dispatcher
	answers    *answers
	receptions *receptions
	inquirer   *inquirer
	queries    *queries // nil without query_overdue
	rates      rates
}

func newSMSC(cfg *config.SMSC, shutdown time.Duration, with services) (*smsc, error) {
	security, err := tlsConfig(cfg.TLS)
	if err != nil {
		return nil, fmt.Errorf("smscs: %s: tls: %w", cfg.Name, err)
	}
	log := with.log.With(zap.String("smsc", cfg.Name))
	a := &answers{
		cfg: cfg, store: with.store, metrics: with.metrics, access: with.access, log: log,
		in: newMailbox[answer](), refused: newMailbox[statemachine.Fact](), feedback: newMailbox[feedback](),
	}
	r := &receptions{
		cfg: cfg, store: with.store, answers: a, metrics: with.metrics, log: log, counting: make(chan struct{}, 1),
	}
	client := smpp.New(clientConfig(cfg, security, shutdown, log, r))
	a.rebind = client.Rebind
	d := &dispatcher{
		cfg: cfg, store: with.store, gate: with.gates.of(cfg.Name), client: client, answers: a, clock: with.clock, log: log,
		outlet: newOutlet(client, cfg.Throughput),
	}
	s := &smsc{cfg: cfg, client: client, dispatcher: d, answers: a, receptions: r}
	s.inquirer = &inquirer{cfg: cfg, store: with.store, client: client}
	if cfg.QueryOverdue {
		s.queries = newQueries(s.inquirer, d.busy.Load, with.clock.doubted, log)
	}
	return s, nil
}

func clientConfig(cfg *config.SMSC, security *tls.Config, shutdown time.Duration, log *zap.Logger, h smpp.Handler) smpp.Config {
	return smpp.Config{
		Name:  cfg.Name + "/1",
		Addrs: cfg.Addr,
		TLS:   security,
		Bind: smpp.BindConfig{
			Mode: smpp.Transceiver, SystemID: cfg.SystemID, Password: string(cfg.Password), SystemType: cfg.SystemType,
			InterfaceVersion: cfg.InterfaceVersion,
			AddrTON:          cfg.AddressRange.TON, AddrNPI: cfg.AddressRange.NPI, AddressRange: cfg.AddressRange.Range,
		},
		Window: cfg.Window, EnquireLink: cfg.EnquireLink, ResponseTimeout: cfg.ResponseTimeout,
		ConnectTimeout: cfg.ConnectTimeout, ReconnectMin: cfg.Reconnect.Min, ReconnectMax: cfg.Reconnect.Max,
		ShutdownTimeout: shutdown, MaxPDU: int(cfg.MaxPDU), Log: log, Handler: h,
	}
}

// run serves the SMSC until ctx is done, and then ends in this order: nothing new is sent, the window
// drains within shutdown_timeout, the session unbinds, and what is unanswered then is in doubt. An error
// is the store's, and cuts the session: nothing that it would wait for could be recorded.
func (s *smsc) run(ctx context.Context) error {
	session, endSession := context.WithCancel(context.WithoutCancel(ctx))
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
	g.Go(func() error { return s.receptions.run(recording) })
	g.Go(func() error {
		defer endSession()
		defer s.answers.stopping.Store(true)
		return failing("dispatcher", s.dispatcher.run)(ctx)
	})
	if s.queries != nil {
		g.Go(func() error { return failing("queries", s.queries.run)(ctx) })
	}
	g.Go(func() error {
		defer endRecording()
		return telling(s.dispatcher.log, "session", s.client.Run)(session)
	})
	g.Go(func() error { return failing("answers", s.answers.run)(recording) })
	return g.Wait()
}

// tlsConfig is nil when TLS is off.
func tlsConfig(cfg config.TLS) (*tls.Config, error) {
	if !cfg.Enabled {
		return nil, nil
	}
	c := &tls.Config{ServerName: cfg.ServerName, MinVersion: tls.VersionTLS12}
	if cfg.CAFile != "" {
		pem, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file: %s holds no certificate", cfg.CAFile)
		}
	}
	if cfg.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(cfg.CertFile, cfg.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("cert_file: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
