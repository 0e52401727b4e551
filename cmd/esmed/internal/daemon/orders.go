package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/statemachine"
)

// askPatience is how long an order waits for a session that sends before it says that there is none.
const askPatience = 5 * time.Second

// orders are what people order about messages and queues (control.Orderer, control.Queuer). Each takes its turn with the
// dispatcher at the gate of its SMSC, and is recorded before it is answered.
type orders struct {
	*backend
	gates *gates
	fleet *fleet
	log   *zap.Logger
}

// order records an operator's order about an SMSC's queue, unless it could have no effect, while nobody reads
// the queue.
func (o *orders) order(ctx context.Context, smsc string, fact *statemachine.Operator) (came control.Judged, err error) {
	err = o.gates.of(smsc).order(ctx, func(ctx context.Context) error {
		judged, err := o.judge(ctx, []statemachine.Fact{fact})
		if err == nil {
			came = judged[0]
		}
		return err
	})
	if err == nil && came.Record != 0 {
		o.log.Info("ordered", zap.String("action", string(fact.Action)), zap.String("smsc", smsc),
			zap.String("by", fact.By), zap.Uint64("seq", came.Record))
	}
	return came, err
}

// asker asks the SMSC of a message about its attempts, one after the other, until it does not answer.
type asker struct {
	message *statemachine.Message
	with    *inquirer // nil where why says so from the beginning
	why     string    // nobody can be asked (any more); "" = somebody can
}

func (o *orders) asker(m *statemachine.Message) *asker {
	k := &asker{message: m}
	switch s := o.fleet.member(m.SMSC); {
	case s == nil:
		k.why = m.SMSC + " is not configured any more, so that it cannot be asked"
	case s.bindWord() == control.BindStopped:
		k.why = fmt.Sprintf("%s is stopped: esmed binds start %s, then try again", m.SMSC, m.SMSC)
	default:
		k.with = s.inquirer
	}
	return k
}

// question is a method of inquirer.
type question func(*inquirer, context.Context, *statemachine.Message, statemachine.AttemptRef, string) (reply, error)

// ask puts a question about an attempt that has an id, and gives the id in it. Errors are errUnasked, after
// which why says why, and the store's.
func (k *asker) ask(ctx context.Context, part int, a *statemachine.Attempt, put question) (r reply, id string, err error) {
	if k.why != "" {
		return r, "", errUnasked
	}
	if id, err = k.with.messageID(ctx, a); err != nil {
		return r, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	smsc := k.message.SMSC
	r, err = put(k.with, ctx, k.message, statemachine.AttemptRef{Message: k.message.ID, Part: part, Attempt: a.Number}, id)
	switch {
	case err == nil && r.Outcome != smpp.Answered:
		k.why = smsc + " did not answer the question before, so that it is not asked more for now"
	case !errors.Is(err, errUnasked):
	case errors.Is(err, smpp.ErrClosed):
		k.why = "the sessions of " + smsc + " are ending: try again when they are back"
	case errors.Is(err, context.DeadlineExceeded):
		k.why = "no session of " + smsc + " is bound that sends: try again when one is (esmed binds list)"
	default:
		k.why = err.Error()
	}
	return r, id, err
}

// unaskable says why an SMSC cannot be asked about an attempt; "" when it can.
func unaskable(a *statemachine.Attempt) string {
	switch {
	case a.Outcome == statemachine.Unanswered:
		return "it is being sent just now: its SMSC can be asked once it has answered with an id, so try again then"
	case a.MessageID != "":
		return ""
	case a.Outcome == statemachine.Doubtful:
		return "its answer was lost, so that the SMSC's id for it is not known: esmed exceptions list --kind in_doubt"
	}
	return "the SMSC gave no id for it that it could be asked by"
}
