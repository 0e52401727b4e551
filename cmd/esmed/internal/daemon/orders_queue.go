package daemon

import (
	"context"
	"errors"
	"slices"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
	"esmed/store"
)

// dropAtOnce is how many messages are dropped with one record: few enough that traffic passes between them.
const dropAtOnce = 256

// HoldQueue implements control.Orderer.
func (o *orders) HoldQueue(ctx context.Context, smsc string, hold bool, by, reason string) (control.QueueOrder, error) {
	done, err := o.holdQueue(ctx, smsc, hold, by, reason)
	return done, apiError(err)
}

func (o *orders) holdQueue(ctx context.Context, smsc string, hold bool, by, reason string) (done control.QueueOrder, err error) {
	if _, err := o.queue(ctx, smsc); err != nil {
		return done, err
	}
	action := statemachine.ActionRelease
	if hold {
		action = statemachine.ActionHold
	}
	came, err := o.order(ctx, smsc, &statemachine.Operator{Action: action, By: by, Reason: reason, SMSC: smsc})
	if err != nil {
		return done, err
	}
	if m := o.fleet.member(smsc); hold && m != nil {
		m.dispatcher.outlet.recall()
	}
	queue, err := o.queue(ctx, smsc)
	return control.QueueOrder{Changed: came.NoEffect == "", Detail: came.NoEffect, Record: came.Record, Queue: queue}, err
}

// queue is one queue as it is now; control.ErrNotFound when there is none of that name.
func (o *orders) queue(ctx context.Context, smsc string) (control.Queue, error) {
	all, err := o.queues(ctx)
	for _, q := range all {
		if q.SMSC == smsc {
			return q, nil
		}
	}
	return control.Queue{}, errors.Join(err, control.ErrNotFound)
}

// DropQueue implements control.Orderer. What is accepted after it began is not dropped.
func (o *orders) DropQueue(ctx context.Context, smsc, by, reason string, progress func(control.QueueDrop) error) (control.QueueDrop, error) {
	done, err := o.dropQueue(ctx, smsc, by, reason, progress)
	return done, apiError(err)
}

func (o *orders) dropQueue(ctx context.Context, smsc, by, reason string, progress func(control.QueueDrop) error) (done control.QueueDrop, err error) {
	if _, err := o.queue(ctx, smsc); err != nil {
		return done, err
	}
	newest, _, err := o.store.Messages(ctx, store.Filter{Limit: 1})
	if err != nil || len(newest) == 0 {
		return done, err
	}
	for after, more := "", true; more; more = after != "" {
		var page []statemachine.ID
		if page, after, err = o.store.QueuedMessages(ctx, smsc, after, dropAtOnce); err != nil {
			return done, err
		}
		page = slices.DeleteFunc(page, func(id statemachine.ID) bool { return id > newest[0].ID })
		if err := o.dropPage(ctx, smsc, page, by, reason, &done); err != nil {
			return done, err
		}
		if err := progress(done); err != nil {
			return done, err
		}
	}
	return done, nil
}

// dropPage drops what of a page of messages waits, and counts it.
func (o *orders) dropPage(ctx context.Context, smsc string, page []statemachine.ID, by, reason string, done *control.QueueDrop) error {
	if len(page) > 0 {
		came, err := o.order(ctx, smsc, &statemachine.Operator{
			Action: statemachine.ActionDrop, By: by, Reason: reason, SMSC: smsc, Messages: page,
		})
		if err != nil {
			return err
		}
		dropped := map[statemachine.ID]bool{}
		for i := range came.Decisions {
			dropped[came.Decisions[i].Message] = true
		}
		done.Messages += len(dropped)
		done.Parts += len(came.Decisions)
	}
	queue, err := o.queue(ctx, smsc)
	done.Left = queue.Waiting + queue.Delayed
	return err
}
