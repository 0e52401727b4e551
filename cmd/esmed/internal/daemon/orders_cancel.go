package daemon

import (
	"context"
	"errors"
	"fmt"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/statemachine"
)

// Cancel implements control.Orderer.
func (o *orders) Cancel(ctx context.Context, id statemachine.ID, by, reason string) (control.Cancellation, error) {
	done, err := o.cancel(ctx, id, by, reason)
	return done, apiError(err)
}

func (o *orders) cancel(ctx context.Context, id statemachine.ID, by, reason string) (done control.Cancellation, err error) {
	m, err := o.store.Message(ctx, id)
	if err != nil {
		return done, err
	}
	came, err := o.order(ctx, m.SMSC, &statemachine.Operator{
		Action: statemachine.ActionCancel, By: by, Reason: reason, Messages: []statemachine.ID{id},
	})
	if err != nil {
		return done, err
	}
	if m, err = o.store.Message(ctx, id); err != nil {
		return done, err
	}
	done = control.Cancellation{Message: string(id), OK: true, Record: came.Record, Parts: []control.CancelledPart{}}
	k := o.asker(m)
	for i := range m.Parts {
		if err := cancelPart(ctx, k, &m.Parts[i], &done); err != nil {
			return done, err
		}
	}
	if m, err = o.store.Message(ctx, id); err != nil {
		return done, err
	}
	done.State = m.State.String()
	return done, nil
}

// cancelPart tells what became of a part that does not wait here any more, and has the SMSC asked to cancel
// what it took, or may have taken, of it.
func cancelPart(ctx context.Context, k *asker, p *statemachine.Part, done *control.Cancellation) error {
	row := control.CancelledPart{Part: p.Number, State: p.State.String()}
	switch {
	case p.State == statemachine.Failed && p.Basis == statemachine.BasisOperator:
		row.OK, row.Outcome, row.Record = true, control.OutcomeCancelled, p.BasisSeq
		row.Detail = "it waited here and will not be sent"
	case p.Final():
		row.Outcome, row.Record = control.OutcomeClosed, p.BasisSeq
		row.Detail = fmt.Sprintf("it is %s: nothing is left to cancel", p.State)
	}
	if row.Outcome != "" {
		tellCancelled(done, row)
		return nil
	}
	for i := range p.Attempts {
		a := &p.Attempts[i]
		if !a.MayHaveArrived() {
			continue
		}
		row := row
		row.Attempt = a.Number
		if err := cancelAttempt(ctx, k, a, &row); err != nil {
			return err
		}
		tellCancelled(done, row)
	}
	return nil
}

func tellCancelled(done *control.Cancellation, row control.CancelledPart) {
	done.OK = done.OK && row.OK
	done.Parts = append(done.Parts, row)
}

// cancelAttempt has the SMSC asked to cancel what one attempt brought, where it can be asked.
func cancelAttempt(ctx context.Context, k *asker, a *statemachine.Attempt, row *control.CancelledPart) error {
	row.Outcome, row.Detail = control.OutcomeUnasked, unaskable(a)
	if row.Detail != "" {
		return nil
	}
	r, id, err := k.ask(ctx, row.Part, a, (*inquirer).cancel)
	row.MessageID = id
	switch {
	case errors.Is(err, errUnasked):
		row.Detail = k.why
		return nil
	case err != nil:
		return err
	case r.Outcome != smpp.Answered:
		row.Outcome = control.OutcomeUnanswered
		row.Detail = fmt.Sprintf("cancel_sm left on %s and %s: ask again, or wait for a receipt", r.Session, unansweredWords(r.Answer.Outcome))
		return nil
	}
	row.CommandStatus, row.Record = r.CommandStatus.String(), r.Record.Seq
	if r.CommandStatus == smpp.StatusOK {
		row.OK, row.Outcome = true, control.OutcomeAccepted
		row.Detail = "the SMSC took the order: what became of the message a receipt says, or esmed query"
		return nil
	}
	row.Outcome = control.OutcomeRefused
	row.Detail = "the SMSC refuses: it may have been delivered already, or is not known there (any more): esmed query says how it stands"
	return nil
}

// unansweredWords say how a question ended that has no answer.
func unansweredWords(o smpp.Outcome) string {
	switch o {
	case smpp.TimedOut:
		return "was not answered in time"
	case smpp.NotWritten:
		return "was not written, as the session ended"
	}
	return "the session ended before its answer"
}
