package daemon

import (
	"context"
	"errors"
	"fmt"

	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
)

// Query implements control.Orderer.
func (o *orders) Query(ctx context.Context, id statemachine.ID, part int) (control.Inquiry, error) {
	found, err := o.query(ctx, id, part)
	return found, apiError(err)
}

func (o *orders) query(ctx context.Context, id statemachine.ID, part int) (found control.Inquiry, err error) {
	m, err := o.store.Message(ctx, id)
	if err != nil {
		return found, err
	}
	if part > len(m.Parts) {
		return found, control.ErrNoPart
	}
	found = control.Inquiry{Message: string(id), OK: true, Asked: []control.Asked{}}
	k := o.asker(m)
	for i := range m.Parts {
		if p := &m.Parts[i]; part == 0 || part == p.Number {
			if err := queryPart(ctx, k, p, &found); err != nil {
				return found, err
			}
		}
	}
	if m, err = o.store.Message(ctx, id); err != nil {
		return found, err
	}
	found.State, found.Final = m.State.String(), m.Final()
	return found, nil
}

// queryPart asks about each attempt of a part that the SMSC gave an id, also when the part is closed: a person
// may want to know what it says now, and what is final stays.
func queryPart(ctx context.Context, k *asker, p *statemachine.Part, found *control.Inquiry) error {
	asked := control.Asked{Part: p.Number, Outcome: control.OutcomeUnasked, From: p.State.String(), To: p.State.String()}
	rows := 0
	for i := range p.Attempts {
		a := &p.Attempts[i]
		if !a.MayHaveArrived() {
			continue
		}
		row := asked
		row.Attempt = a.Number
		if err := queryAttempt(ctx, k, a, &row); err != nil {
			return err
		}
		rows++
		found.OK = found.OK && row.Outcome == control.OutcomeAnswered
		found.Asked = append(found.Asked, row)
	}
	if rows > 0 {
		return nil
	}
	asked.Detail = "nothing of it is at the SMSC"
	if p.Queued() {
		asked.Detail = "it waits here and was not sent yet (esmed queue stat says why)"
	}
	found.OK, found.Asked = false, append(found.Asked, asked)
	return nil
}

func queryAttempt(ctx context.Context, k *asker, a *statemachine.Attempt, row *control.Asked) error {
	if row.Detail = unaskable(a); row.Detail != "" {
		return nil
	}
	r, id, err := k.ask(ctx, row.Part, a, (*inquirer).query)
	row.MessageID = id
	switch {
	case errors.Is(err, errUnasked):
		row.Detail = k.why
		return nil
	case err != nil:
		return err
	case r.Outcome != smpp.Answered:
		row.Outcome = control.OutcomeUnanswered
		row.Detail = fmt.Sprintf("query_sm left on %s and %s", r.Session, unansweredWords(r.Answer.Outcome))
		return nil
	}
	row.CommandStatus, row.Record = r.CommandStatus.String(), r.Record.Seq
	judgeQuery(row, &r)
	return nil
}

// judgeQuery tells what an answer says, and what it did to the part.
func judgeQuery(row *control.Asked, r *reply) {
	row.Outcome = control.OutcomeRefused
	if r.CommandStatus == smpp.StatusOK {
		row.Outcome = control.OutcomeAnswered
	}
	if fact, ok := r.Record.Fact.(*statemachine.QueryResp); ok && r.CommandStatus == smpp.StatusOK {
		octet, code := int(fact.MessageState), int(fact.ErrorCode)
		row.MessageState, row.ErrorCode, row.FinalDate = &octet, &code, fact.FinalDateRaw
		if named, ok := receipt.FromWire(fact.MessageState); ok && fact.MessageState != 0 { // 0 says nothing (DESIGN §3)
			row.Reported = named.String()
		}
	}
	row.Detail = r.NoEffect
	for i := range r.Decisions {
		d := &r.Decisions[i]
		row.Verdict, row.From, row.To, row.Detail = string(d.Verdict), d.From.String(), d.To.String(), d.Why
	}
}
