package daemon

import (
	"context"
	"errors"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/store"
)

// layer is a part of the daemon that runs until it is stopped.
type layer struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// startLayer starts a layer in g. Its context is none of the group's, so that a failure elsewhere ends it
// in its turn only. That the store is closed is no failure of who finds it so: its own layer says why.
func startLayer(base context.Context, g *errgroup.Group, f func(context.Context) error) *layer {
	ctx, cancel := context.WithCancel(base)
	l := &layer{cancel: cancel, done: make(chan struct{})}
	g.Go(func() error {
		defer close(l.done)
		if err := f(ctx); !errors.Is(err, store.ErrClosed) {
			return err
		}
		return nil
	})
	return l
}

func (l *layer) stop() {
	l.cancel()
	<-l.done
}

// background is the work that nobody asks for: on the inbox, under new rules, at the end of windows and of
// validities, and on what is old.
func (d *daemon) background(ctx context.Context) error {
	inbox := &looks{store: d.store, smscs: d.fleet.names, log: d.log}
	windows := &cutoffs{store: d.store, doubted: d.clock.doubted, hold: d.fleet.hold, log: d.log}
	queues := newExpiries(d.store, d.gates, d.clock.doubted, d.log)
	old := &retention{store: d.store, keep: d.cfg.Store.Retention, doubted: d.clock.doubted, log: d.log}
	g, ctx := errgroup.WithContext(ctx)
	for _, work := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"inbox", inbox.run}, {"reprocess", d.passes.run}, {"windows", windows.run}, {"expiry", queues.run},
		{"retention", old.run}, {"disk", d.room.run},
	} {
		g.Go(func() error { return telling(d.log, work.name, work.run)(ctx) })
	}
	return g.Wait()
}

// telling makes a component's failure be logged when it happens: others end first before it is returned.
func telling(log *zap.Logger, component string, f func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := f(ctx)
		if err != nil && !errors.Is(err, store.ErrClosed) {
			log.Error("failed", zap.String("component", component), zap.Error(err))
		}
		return err
	}
}

// firstOf gives the layers' failure, or else what followed from none.
func firstOf(failure, err error) error {
	if failure != nil {
		return failure
	}
	return err
}
