package daemon

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/config"
	"esmed/store"
)

const (
	// retentionEvery is the longest time between two passes.
	retentionEvery = time.Hour
	// retentionShare is which part of the shortest retention something may be kept beyond it.
	retentionShare = 24
	// Between the steps of a pass lies a pause of retentionYield times what the step took, within these bounds, so that
	// disk and processors belong to traffic.
	retentionYield    = 3
	minRetentionPause = 20 * time.Millisecond
	maxRetentionPause = 2 * time.Second
)

// retirer is what retention needs of a store.
type retirer interface {
	Retire(ctx context.Context, keep store.Retention) (store.RetentionStep, error)
}

// retention drops what is older than it is to be kept (store.retention), in small steps in the background.
type retention struct {
	store   retirer
	keep    config.Retention
	doubted func() bool // the clock is: nothing is old then
	log     *zap.Logger
}

// run makes a pass at the start and then as often as needed, until ctx is done. An error is the store's.
func (r *retention) run(ctx context.Context) error {
	for wait := time.Duration(0); rest(ctx, wait); wait = r.every() {
		if err := r.pass(ctx); err != nil && ctx.Err() == nil {
			if !passing(err) {
				return fmt.Errorf("retention: %w", err)
			}
			r.log.Warn("retention goes on later", zap.Error(err))
		}
	}
	return nil
}

// every is the time between two passes.
func (r *retention) every() time.Duration {
	shortest := min(r.keep.Log, r.keep.Messages, r.keep.Inbox, r.keep.Exceptions)
	if r.keep.Texts > 0 {
		shortest = min(shortest, r.keep.Texts)
	}
	return min(shortest/retentionShare, retentionEvery)
}

// pass makes steps until none is left to make, and tells what was dropped.
func (r *retention) pass(ctx context.Context) error {
	var did store.RetentionStep
	defer func() { r.tell(did) }()
	for !r.doubted() {
		began := time.Now()
		step, err := r.store.Retire(ctx, r.before(began))
		did = did.Add(step)
		pause := min(max(retentionYield*time.Since(began), minRetentionPause), maxRetentionPause)
		if err != nil || !step.More || !rest(ctx, pause) {
			return err
		}
	}
	return nil
}

// before says what is too old at now.
func (r *retention) before(now time.Time) store.Retention {
	keep := store.Retention{
		Messages: now.Add(-r.keep.Messages), Inbox: now.Add(-r.keep.Inbox), Exceptions: now.Add(-r.keep.Exceptions),
		Log: now.Add(-r.keep.Log),
	}
	if r.keep.Texts > 0 {
		keep.Texts = now.Add(-r.keep.Texts)
	}
	return keep
}

func (r *retention) tell(did store.RetentionStep) {
	did.More = false
	if did == (store.RetentionStep{}) {
		return
	}
	r.log.Info("retention dropped what is old", zap.Int("messages", did.Messages), zap.Int("closed", did.Closed),
		zap.Int("inbox", did.Inbox), zap.Int("exceptions", did.Exceptions), zap.Int("segments", did.Segments), zap.Int("keys", did.Keys))
}
