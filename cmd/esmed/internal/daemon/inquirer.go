package daemon

import (
	"context"
	"errors"
	"fmt"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// requester sends a query_sm or cancel_sm and waits for its outcome (smpp.Client).
type requester interface {
	Request(ctx context.Context, p smpp.PDU) (smpp.Answer, error)
}

// inquirer asks an SMSC about attempts to which it gave an id, and records what it answers. Its methods may be
// called from any goroutine.
type inquirer struct {
	cfg    *config.SMSC
	store  *store.Store
	client requester
	late   *lateAnswers
}

// errUnasked says that a question was not sent; the error that it wraps says why.
var errUnasked = errors.New("not sent")

// reply is what came of a question that was sent.
type reply struct {
	smpp.Answer
	// store.Judgement is that of the record of the answer; zero when the SMSC did not answer.
	store.Judgement
}

// query asks what became of an attempt (query_sm, SMPP v3.4 §4.8). The answer is evidence.
func (i *inquirer) query(ctx context.Context, m *statemachine.Message, about statemachine.AttemptRef, messageID string) (reply, error) {
	pdu := &smpp.QuerySM{MessageID: messageID, Source: wireAddress(m.Source)}
	return i.ask(ctx, smpp.CommandQuerySM, pdu, func(a *smpp.Answer) statemachine.Fact {
		fact := queryResp(a)
		fact.Message, fact.Part, fact.Attempt = about.Message, about.Part, about.Attempt
		fact.SMSC, fact.Account = i.cfg.Name, i.cfg.Account
		return fact
	})
}

// cancel asks that what an attempt brought be not delivered (cancel_sm, SMPP v3.4 §4.9). The answer is noted.
func (i *inquirer) cancel(ctx context.Context, m *statemachine.Message, about statemachine.AttemptRef, messageID string) (reply, error) {
	service, err := i.serviceType(ctx, m)
	if err != nil {
		return reply{}, err
	}
	pdu := &smpp.CancelSM{ServiceType: service, MessageID: messageID, Source: wireAddress(m.Source), Dest: wireAddress(m.Dest)}
	return i.ask(ctx, smpp.CommandCancelSM, pdu, func(a *smpp.Answer) statemachine.Fact {
		return &statemachine.CancelResp{
			Message: about.Message, Part: about.Part, Attempt: about.Attempt,
			SMSC: i.cfg.Name, Session: a.Session, PDU: a.PDU, CommandStatus: uint32(a.CommandStatus),
		}
	})
}

// ask sends a question and records its answer, also one that comes late, which ctx does not end any more. ctx
// bounds the wait for a session. Errors are errUnasked, and the store's.
func (i *inquirer) ask(ctx context.Context, command smpp.CommandID, question smpp.PDU, fact func(*smpp.Answer) statemachine.Fact) (reply, error) {
	answer, err := i.client.Request(ctx, question)
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", errUnasked, err)
	}
	if answer.Outcome == smpp.TimedOut {
		i.late.expect(&answer, command, fact)
	}
	if answer.Outcome != smpp.Answered {
		return reply{Answer: answer}, nil
	}
	judged, err := i.store.Judge(context.WithoutCancel(ctx), fact(&answer))
	if err != nil {
		return reply{}, err
	}
	return reply{answer, judged[0]}, nil
}

// messageID is the SMSC's id for an attempt, in the octets of its submit_sm_resp where that had one.
func (i *inquirer) messageID(ctx context.Context, a *statemachine.Attempt) (string, error) {
	if a.MessageID == "" || a.AnswerSeq == 0 {
		return a.MessageID, nil
	}
	rec, err := i.store.Record(ctx, a.AnswerSeq)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	if resp, ok := rec.Fact.(*statemachine.SubmitResp); ok && resp.MessageID != "" {
		return resp.MessageID, nil
	}
	return a.MessageID, nil
}

// serviceType is that of a message's submit_sm; "" also where its record is dropped.
func (i *inquirer) serviceType(ctx context.Context, m *statemachine.Message) (string, error) {
	rec, err := i.store.Record(ctx, m.AcceptedSeq)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	if accepted, ok := rec.Fact.(*statemachine.MessageAccepted); ok {
		return accepted.ServiceType, nil
	}
	return "", nil
}

// queryResp reads an answer to a query_sm (SMPP v3.4 §4.8.2), as far as its body can be read. A
// generic_nack says nothing but its status.
func queryResp(a *smpp.Answer) *statemachine.QueryResp {
	fact := &statemachine.QueryResp{Session: a.Session, PDU: a.PDU, CommandStatus: uint32(a.CommandStatus)}
	pdu, _ := smpp.Decode(a.PDU) // what stands before a fault is read
	if resp, ok := pdu.(*smpp.QuerySMResp); ok {
		fact.MessageID, fact.FinalDateRaw = resp.MessageID, resp.FinalDate
		fact.MessageState, fact.ErrorCode = resp.MessageState, resp.ErrorCode
	}
	return fact
}
