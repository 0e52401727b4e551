package daemon

import (
	"context"
	"fmt"
	"os"
	"reflect"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"esmed/cmd/esmed/internal/config"
)

// reloading runs one reload at a time, beside the loop that feeds the watchdog: a slow disk must not keep that hungry.
type reloading struct {
	d      *daemon
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when the one that runs has ended; nil: none runs
}

func newReloading(ctx context.Context, d *daemon) *reloading {
	r := &reloading{d: d}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r
}

// asked gives the signals to reload; while a reload runs they wait.
func (r *reloading) asked() <-chan os.Signal {
	if r.done != nil {
		return nil
	}
	return r.d.signals.reload
}

func (r *reloading) begin() {
	done := make(chan struct{})
	r.done = done
	go func() {
		defer close(done)
		r.d.reload(r.ctx)
	}()
}

// end gives up a reload that runs, and waits for it.
func (r *reloading) end() {
	r.cancel()
	if r.done != nil {
		<-r.done
	}
}

// reload takes up rules, binds and the log's level of a configuration that was read anew; the rest goes on untouched, and
// the log says what of it waits for a restart. Nothing is taken up of one that cannot be.
func (d *daemon) reload(ctx context.Context) {
	if err := d.access.reopen(); err != nil {
		d.log.Error("access log not reopened", zap.Error(err))
	}
	if d.opts.Reload == nil {
		return
	}
	cfg, err := d.opts.Reload()
	if err == nil {
		err = d.takeUp(ctx, cfg)
	}
	if err != nil {
		d.log.Error("not reloaded: the configuration stays as it was", zap.Error(err))
		return
	}
	d.log.Info("reloaded", zap.Int("smscs", len(cfg.SMSCs)))
}

func (d *daemon) takeUp(ctx context.Context, cfg *config.Config) error {
	for i := range cfg.SMSCs {
		next := &cfg.SMSCs[i]
		if now := d.cfg.SMSC(next.Name); now != nil && now.Account != next.Account {
			return &ConfigError{fmt.Errorf("smscs: %s: account changes from %q to %q: needs a restart", next.Name, now.Account, next.Account)}
		}
	}
	if err := d.checkAccounts(ctx, cfg); err != nil {
		return err
	}
	plan, err := d.fleet.plan(cfg)
	if err != nil {
		return err
	}
	if err := d.setRules(ctx, cfg); err != nil {
		return err
	}
	d.passes.wake()
	if err := d.setLevel(cfg.Log.Level); err != nil {
		return err
	}
	for _, key := range needRestart(d.cfg, cfg) {
		d.log.Warn("restart needed for what changed", zap.String("key", key))
	}
	d.api.SetSMSCs(apiSMSCs(cfg), cfg.DefaultSMSC)
	taken := *d.cfg
	taken.SMSCs, taken.DefaultSMSC, taken.Log.Level = cfg.SMSCs, cfg.DefaultSMSC, cfg.Log.Level
	d.cfg = &taken
	d.fleet.change(plan)
	return nil
}

// setLevel makes the log's level that of a configuration, and says so while either of both lets it through.
func (d *daemon) setLevel(name string) error {
	next, err := zapcore.ParseLevel(name)
	if err != nil {
		return &ConfigError{fmt.Errorf("log.level: %w", err)}
	}
	was := d.level.Level()
	if next == was {
		return nil
	}
	d.level.SetLevel(min(was, next))
	d.log.Log(max(zapcore.InfoLevel, min(was, next)), "log level changed", zap.Stringer("from", was), zap.Stringer("to", next))
	d.level.SetLevel(next)
	return nil
}

// needRestart names the keys that differ and are read at start only.
func needRestart(a, b *config.Config) []string {
	var keys []string
	for _, k := range []struct {
		name string
		a, b any
	}{
		{"data_dir", a.DataDir, b.DataDir}, {"log.format", a.Log.Format, b.Log.Format}, {"log.access", a.Log.Access, b.Log.Access},
		{"api", a.API, b.API},
		{"shutdown_timeout", a.ShutdownTimeout, b.ShutdownTimeout}, {"store", a.Store, b.Store},
		{"alerts", a.Alerts, b.Alerts}, {"webhooks", a.Webhooks, b.Webhooks}, {"callbacks", a.Callbacks, b.Callbacks},
	} {
		if !reflect.DeepEqual(k.a, k.b) {
			keys = append(keys, k.name)
		}
	}
	return keys
}
