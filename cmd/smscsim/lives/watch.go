package lives

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// watch sees what is only to be seen while it lasts.
type watch struct {
	l         *loader
	anon, rss int64 // the highest
	lags      []float64
	queue     float64 // the highest
}

func newWatch(l *loader) *watch { return &watch{l: l} }

const memoryEvery = 200 * time.Millisecond

func (w *watch) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	if w.l.PID != 0 {
		g.Go(func() error { return Every(ctx, memoryEvery, w.memory) })
	}
	if w.l.Scrape > 0 {
		g.Go(func() error { return Every(ctx, w.l.Scrape, func() error { return w.metrics(ctx) }) })
	}
	return g.Wait()
}

func (w *watch) memory() error {
	var u usage
	err := u.readMemory(w.l.PID)
	w.anon, w.rss = max(w.anon, u.anon), max(w.rss, u.rss)
	return err
}

func (w *watch) metrics(ctx context.Context) error {
	e, err := w.l.scrape(ctx)
	if ctx.Err() != nil {
		return nil
	}
	w.lags = append(w.lags, e.values["esmed_apply_lag_records"])
	w.queue = max(w.queue, e.values["esmed_queue_size"])
	return err
}
