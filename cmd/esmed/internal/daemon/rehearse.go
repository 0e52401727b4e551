package daemon

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
	"esmed/store"
)

// RehearseReprocess implements control.Rehearser: the pass that taking up the configuration as it reads now
// would lead to, on top of the store as it is.
func (b *backend) RehearseReprocess(ctx context.Context, see func(control.ReprocessPage) error) error {
	var rules *statemachine.Rules // nil = those in force
	if b.reload != nil {
		cfg, err := b.reload()
		if err != nil {
			return fmt.Errorf("%w: %w", control.ErrConfiguration, err)
		}
		record := rulesRecord(cfg)
		rules = &record
	}
	return apiError(b.store.Rehearse(ctx, func(r *store.Rehearsal) error {
		if _, inForce := r.Rules(); rules != nil && !reflect.DeepEqual(inForce, rules) {
			if _, err := r.Apply(rules); err != nil {
				return err
			}
		}
		if _, inForce := r.Rules(); inForce == nil {
			return nil // a store that was never run
		}
		return b.rehearse(ctx, r, see)
	}))
}

// rehearse goes through the pages of a pass as it would be. Messages of which nothing can come are left
// out of them.
func (b *backend) rehearse(ctx context.Context, r *store.Rehearsal, see func(control.ReprocessPage) error) error {
	for at := (statemachine.ReprocessProgress{}); !at.Finished; {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := pageBehind(ctx, r, at)
		if err != nil {
			return err
		}
		at = page.Progress
		told := control.ReprocessPage{Rows: len(page.Rows), Messages: len(page.Messages)}
		page.Messages = slices.DeleteFunc(page.Messages, func(id statemachine.ID) bool {
			may := true
			if err == nil {
				may, err = r.MayChange(id)
			}
			return !may
		})
		if err != nil {
			return err
		}
		came, err := r.Apply(&statemachine.Operator{Action: statemachine.ActionReprocess, By: byDaemon, Reprocess: page})
		if err != nil {
			return err
		}
		told.Record, told.Decisions = came.Record.Seq, came.Decisions
		if told.ReceivedAt, err = b.receivedAt(ctx, came.Decisions); err != nil {
			return err
		}
		if err := see(told); err != nil {
			return err
		}
	}
	return nil
}

// receivedAt are our times of the receptions that decisions are about.
func (b *backend) receivedAt(ctx context.Context, decisions []statemachine.Decision) (map[uint64]time.Time, error) {
	times := make(map[uint64]time.Time, len(decisions))
	for i := range decisions {
		seq := decisions[i].Record
		if _, known := times[seq]; known {
			continue
		}
		switch rec, err := b.store.Record(ctx, seq); {
		case err == nil:
			times[seq] = rec.At
		case !errors.Is(err, store.ErrNotFound): // one that only the rehearsal has
			return nil, err
		}
	}
	return times, nil
}
