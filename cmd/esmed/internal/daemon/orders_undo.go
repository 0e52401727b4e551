package daemon

import (
	"context"
	"errors"
	"slices"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
	"esmed/store"
)

// Operate implements control.Operator. What takes a resend back takes its part off the queue, and so has its turn with
// the dispatcher: what was taken back does not leave.
func (o *orders) Operate(ctx context.Context, facts ...*statemachine.Operator) ([]control.Judged, error) {
	judged, err := o.takingTurns(ctx, facts)
	return judged, apiError(err)
}

func (o *orders) takingTurns(ctx context.Context, facts []*statemachine.Operator) (judged []control.Judged, err error) {
	smscs, err := o.requeued(ctx, facts)
	if err != nil {
		return nil, err
	}
	give := func(ctx context.Context) (err error) {
		judged, err = o.operate(ctx, facts)
		return err
	}
	for _, smsc := range smscs {
		inside := give
		give = func(ctx context.Context) error { return o.gates.of(smsc).order(ctx, inside) }
	}
	err = give(ctx)
	return judged, err
}

// requeued are the SMSCs, in order, in whose queues something may wait by decisions that are taken back.
func (o *orders) requeued(ctx context.Context, facts []*statemachine.Operator) (smscs []string, err error) {
	for _, f := range facts {
		if f.Action != statemachine.ActionUndo {
			continue
		}
		x, err := o.store.Exception(ctx, f.Exception)
		if errors.Is(err, store.ErrNotFound) || err == nil && x.Kind != statemachine.KindInDoubt {
			continue
		}
		if err != nil {
			return nil, err
		}
		m, err := o.store.Message(ctx, x.Message)
		switch {
		case err == nil:
			smscs = append(smscs, m.SMSC)
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	slices.Sort(smscs)
	return slices.Compact(smscs), nil
}
