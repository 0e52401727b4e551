package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/journal"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
	"esmed/store"
)

// Options are what a daemon is given besides its configuration.
type Options struct {
	Version string    // of esmed, for the API document and the log
	File    string    // that the configuration comes from, to warn of secrets in it; "" = none
	Log     io.Writer // nil = os.Stderr
	// Reload reads the configuration anew on SIGHUP; nil = SIGHUP only reopens the access log.
	Reload func() (*config.Config, error)
	// Restored says what becomes of what a store restored from a backup holds as queued: RestoredDoubt (also "")
	// or RestoredSend. It is of no effect for any other store.
	Restored string
	// Ready is called once the API serves and the SMSCs are being bound; nil = nobody is told.
	Ready func()
}

// Words of Options.Restored.
const (
	RestoredDoubt = "doubt" // it may have been sent since: a person decides
	RestoredSend  = "send"  // it is sent
)

// ConfigError says that the daemon cannot run as configured. Starting it again changes nothing: the
// process is to exit with 2.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

func (e *ConfigError) Unwrap() error { return e.Err }

// ErrImmediate says that a second signal ended the daemon before its window had drained.
var ErrImmediate = errors.New("daemon: stopped at once by a second signal")

// daemon is what Run holds.
type daemon struct {
	cfg     *config.Config
	opts    Options
	log     *zap.Logger
	level   zap.AtomicLevel // of log
	quiet   quiet           // what log holds back
	systemd notifier        // used by the goroutine of Run alone
	access  *accessLog
	clock   *timekeeper
	metrics *metrics
	store   *store.Store
	gates   *gates
	room    *diskRoom
	fleet   *fleet
	api     *control.API
	server  *control.Server
	signals *signals
	alerts  *alerts
	passes  *reprocessor
	rules   atomic.Pointer[statemachine.Rules] // in force

	obstructed atomic.Bool // the projection does not follow the log
}

// Run runs the daemon until ctx is done, SIGTERM or SIGINT asks it to stop, or it cannot go on. A stop is
// graceful and returns nil; the doc comment of the package says in which order. An error is a
// *ConfigError, ErrImmediate, or what the store, the API's listeners or the start failed with.
func Run(ctx context.Context, cfg *config.Config, opts Options) (err error) {
	d := &daemon{cfg: cfg, opts: opts, metrics: newMetrics(opts.Version), signals: catchSignals()}
	defer d.signals.release()
	if err := d.openLogs(); err != nil {
		return &ConfigError{err}
	}
	defer func() { err = errors.Join(err, d.access.close()) }()
	for _, w := range cfg.Warnings(opts.File) {
		d.log.Warn("configuration", zap.Error(w))
	}
	d.systemd.log = d.log
	d.systemd.says("opening the store")
	d.clock = newTimekeeper(d.log, d.metrics.alerts.WithLabelValues(control.AlertClock))
	if d.store, err = store.Open(d.storeConfig()); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	d.log.Info("starting", zap.String("version", opts.Version), zap.String("data_dir", cfg.DataDir))
	d.logOpened(ctx)
	err = errors.Join(d.serve(ctx), d.store.Close())
	d.quiet.close()
	if err != nil {
		d.log.Error("stopped", zap.Error(err))
		return fmt.Errorf("daemon: %w", err)
	}
	d.log.Info("stopped")
	return nil
}

// logOpened says what the store found when it was opened.
func (d *daemon) logOpened(ctx context.Context) {
	stat, err := d.store.Stat(ctx)
	if err != nil {
		return
	}
	if stat.CutShort {
		d.log.Warn("a commit that was cut short is set aside: nobody was answered for it", zap.Uint64("records", stat.Records))
	}
	if stat.Rebuilt {
		d.log.Warn("state.db is made anew from the log", zap.Uint64("records", stat.Records))
	}
}

func (d *daemon) openLogs() error {
	level, err := zap.ParseAtomicLevel(d.cfg.Log.Level)
	if err != nil {
		return fmt.Errorf("log.level: %w", err)
	}
	d.level = level
	w := d.opts.Log
	if w == nil {
		w = os.Stderr
	}
	var send journalSend
	if w == os.Stderr {
		if is, _ := journal.StderrIsJournalStream(); is { // not to be told is as good as not being it
			send = journal.Send
		}
	}
	if d.log, err = newLogger(w, level, d.cfg.Log.Format, send); err != nil {
		return err
	}
	d.log = d.quiet.over(d.log)
	d.access, err = openAccessLog(d.cfg.Log.Access)
	return err
}

func (d *daemon) storeConfig() store.Config {
	w := &witnesses{metrics: d.metrics, access: d.access, clock: d.clock, log: d.log}
	return store.Config{
		Dir: d.cfg.DataDir, Decode: DecodePDU, TextSpans: TextSpans,
		Witness: w.batch, OnCommit: d.metrics.commit, OnObstacle: d.obstacle, OnUpgrade: d.upgrade,
	}
}

// upgrade is told that the store is not ready before state.db was brought up to today's format.
func (d *daemon) upgrade(from uint64) {
	d.systemd.says("bringing state.db up to a new format")
	d.log.Info("bringing state.db up to a new format, which takes a while where there are many messages", zap.Uint64("from", from))
}

// obstacle is told what keeps the projection from following the log; nil: nothing any more.
func (d *daemon) obstacle(err error) {
	d.obstructed.Store(err != nil)
	if err == nil {
		d.log.Info("the projection follows the log again")
		return
	}
	d.log.Error("the projection does not follow the log for now: queries are refused", zap.Error(err))
}

// serve starts store, API and sessions in this order, waits for the end, and stops them in the reverse.
func (d *daemon) serve(ctx context.Context) error {
	base := context.WithoutCancel(ctx)
	g, failed := errgroup.WithContext(base)
	log := startLayer(base, g, telling(d.log, "store", d.store.Run))
	defer log.stop()
	if started, err := d.begin(ctx, failed); !started {
		log.stop()
		return firstOf(g.Wait(), err)
	}
	api := startLayer(base, g, telling(d.log, "api", d.server.Run))
	plan, err := d.fleet.plan(d.cfg)
	if err != nil {
		api.stop()
		log.stop()
		return errors.Join(&ConfigError{err}, g.Wait())
	}
	sessions := startLayer(base, g, func(ctx context.Context) error { return d.fleet.run(ctx, plan) })
	background := startLayer(base, g, d.background)
	watch := startLayer(base, g, d.alerts.run)
	heads := startLayer(base, g, func(ctx context.Context) error { return logHeads(ctx, d.log, d.store.Head) })
	d.tellReady()
	d.attend(ctx, failed)

	d.systemd.stopping(d.cfg.ShutdownTimeout + stopMargin)
	if err := context.Cause(failed); err != nil {
		d.log.Error("stopping because of an error", zap.Error(err))
	} else {
		d.log.Info("stopping", zap.Duration("shutdown_timeout", d.cfg.ShutdownTimeout))
	}
	d.api.RefuseSubmits(d.cfg.ShutdownTimeout)
	immediate := d.drain(sessions, failed)
	background.stop()
	api.stop()
	watch.stop()
	heads.stop()
	log.stop()
	return errors.Join(immediate, g.Wait())
}

// start does what comes before the first session: rules, what a crash left, API. It waits for room.
func (d *daemon) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{d.restore, d.checkFirstAccounts, d.setFirstRules, d.recordCrash} {
		if err := persist(ctx, d.log, "start", func() error { return step(ctx) }); err != nil {
			return err
		}
	}
	d.clock.begin(d.store.Head().At)
	d.gates = newGates(d.store)
	d.room = newDiskRoom(d.store, d.cfg.DataDir, d.log)
	d.room.measure(time.Now())
	d.fleet = newFleet(services{
		store: d.store, gates: d.gates, room: d.room, metrics: d.metrics, access: d.access, clock: d.clock, log: d.log,
	}, d.cfg.ShutdownTimeout)
	d.passes = newReprocessor(d.store, d.log)
	d.metrics.registry.MustRegister(newGauges(d))
	d.alerts = newAlerts(d)
	return d.listen()
}

// listen makes the API and opens its listeners.
func (d *daemon) listen() (err error) {
	var tokens *control.Tokens
	if d.cfg.API.TokensFile != "" {
		if tokens, err = control.ReadTokens(d.cfg.API.TokensFile); err != nil {
			return &ConfigError{err}
		}
	}
	b := &backend{store: d.store, dataDir: d.cfg.DataDir, room: d.room, keep: &d.cfg.Store.Retention, passes: d.passes, reload: d.opts.Reload}
	api := control.Config{
		Backend:          b.readers(),
		SMSCs:            apiSMSCs(d.cfg),
		DefaultSMSC:      d.cfg.DefaultSMSC,
		CallbackPrefixes: d.cfg.API.CallbackPrefixes,
		InboxOlderThan:   d.cfg.Alerts.InboxOlderThan,
		Reception:        b.reception,
		StatusName:       statusName,
		Metrics:          d.metrics.handler(d.log),
		Ready:            d.ready,
		Version:          d.opts.Version,
		Fault: func(operation string, err error) {
			d.log.Error("request failed", zap.String("operation", operation), zap.Error(err))
		},
	}
	api.Pressed = d.metrics.submissionsRefused.Inc
	api.Submit, api.Binds, api.Alerts, api.Compact = b, d.fleet, d.alerts.measure, b
	o := &orders{backend: b, gates: d.gates, fleet: d.fleet, log: d.log}
	api.Operate, api.Order, api.Queue, api.Queues = o, o, o, o.queues
	if d.api, err = control.New(api); err != nil {
		return err
	}
	d.server, err = control.Listen(control.ServerConfig{
		Socket: d.cfg.API.Socket, Addr: d.cfg.API.Listen, Tokens: tokens,
		Errors: func(err error) { d.log.Debug("connection", zap.Error(err)) },
	}, d.api)
	return err
}

// ready says whether the store answers.
func (d *daemon) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	return d.store.Sync(ctx)
}

// readyWithin is how long the applier may take to come up with the log before that counts as a fault.
const readyWithin = 10 * time.Second

func (d *daemon) tellReady() {
	d.systemd.ready("started: SMSCs are being bound")
	listen := zap.Skip()
	if addr := d.server.Addr(); addr != nil {
		listen = zap.Stringer("listen", addr) // with its port, where any was asked for
	}
	d.log.Info("started", zap.String("socket", d.cfg.API.Socket), listen, zap.Int("smscs", len(d.cfg.SMSCs)))
	if d.opts.Ready != nil {
		d.opts.Ready()
	}
}

// attend handles signals, looks after clock and log, and tells systemd how things stand, until the daemon is to stop.
func (d *daemon) attend(ctx, failed context.Context) {
	look, tell, status := time.NewTicker(clockEvery), time.NewTicker(quietFor), time.NewTicker(statusEvery)
	defer look.Stop()
	defer tell.Stop()
	defer status.Stop()
	dog := newWatchdog(d.store.Pulse, d.log)
	looks, stop := dog.ticks()
	defer stop()
	reload := newReloading(ctx, d)
	defer reload.end()
	for {
		select {
		case <-look.C:
			d.clock.doubted()
		case now := <-tell.C:
			d.quiet.flush(now)
		case <-status.C:
			d.systemd.says(d.statusText())
		case <-looks:
			if dog.alive() {
				d.systemd.working()
			}
		case <-ctx.Done():
			return
		case <-failed.Done():
			return
		case <-d.signals.stop:
			return
		case <-reload.asked():
			d.systemd.reloading()
			reload.begin()
		case <-reload.done:
			reload.done = nil
			d.systemd.ready(d.statusText())
		}
	}
}

// drain ends the sessions within the time that they have for it. A failure or a second signal cuts them.
func (d *daemon) drain(sessions *layer, failed context.Context) error {
	if failed.Err() != nil {
		d.fleet.abort(stoppedByError)
	}
	sessions.cancel()
	select {
	case <-sessions.done:
		return nil
	case <-failed.Done():
		d.fleet.abort(stoppedByError)
		<-sessions.done
		return nil
	case <-d.signals.stop:
		d.fleet.abort(stoppedBySignal)
		<-sessions.done
		return ErrImmediate
	}
}
