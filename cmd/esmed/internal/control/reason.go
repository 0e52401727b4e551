package control

import (
	"fmt"
	"time"

	"esmed/statemachine"
)

// reason says in words why a message stands where its deciding part stands, and which record says so.
func (r renderer) reason(m *statemachine.Message, p *statemachine.Part) string {
	why := r.partReason(m.SMSC, p)
	if len(m.Parts) > 1 {
		return fmt.Sprintf("part %d: %s", p.Number, why)
	}
	return why
}

func (r renderer) partReason(smsc string, p *statemachine.Part) string {
	switch p.Basis {
	case statemachine.BasisOperator:
		return fmt.Sprintf("an operator decided so in record %d", p.BasisSeq)
	case statemachine.BasisExpiry:
		return fmt.Sprintf("its validity ended in our queue, record %d", p.BasisSeq)
	case statemachine.BasisCutoff:
		if p.State == statemachine.Submitted {
			return fmt.Sprintf("%s accepted it; its window ended in record %d and a receipt was asked for failure only", smsc, p.BasisSeq)
		}
		return fmt.Sprintf("nothing final was heard before its window ended, record %d", p.BasisSeq)
	}
	switch {
	case p.State == statemachine.Queued:
		return r.queuedReason(smsc, p)
	case p.State == statemachine.InDoubt:
		return r.doubtReason(smsc, p)
	case p.State == statemachine.Submitted:
		return submittedReason(smsc, p)
	case p.State.Reported():
		return reportedReason(smsc, &p.Reported, p.Basis)
	case len(p.Attempts) == 0:
		return fmt.Sprintf("another part failed, record %d", p.BasisSeq)
	}
	return r.attemptReason(smsc, &p.Attempts[len(p.Attempts)-1], p)
}

// attemptReason is for states that rest on the newest attempt.
func (r renderer) attemptReason(smsc string, last *statemachine.Attempt, p *statemachine.Part) string {
	switch p.State {
	case statemachine.Submitting:
		return fmt.Sprintf("attempt %d left on %s in record %d, no answer yet", last.Number, last.Session, last.Seq)
	case statemachine.Failed:
		if last.Outcome == statemachine.RefusedPerm {
			return fmt.Sprintf("%s refused attempt %d with %s in record %d", smsc, last.Number, r.statusName(last.CommandStatus), last.AnswerSeq)
		}
	}
	return fmt.Sprintf("record %d", p.BasisSeq)
}

// doubtReason names the attempt that is in doubt, which need not be the newest, and what became of that.
func (r renderer) doubtReason(smsc string, p *statemachine.Part) string {
	a, other := p.Doubt()
	if a == nil {
		return fmt.Sprintf("record %d", p.BasisSeq)
	}
	why := fmt.Sprintf("attempt %d left on %s, and its answer was lost (%s), record %d", a.Number, a.Session, a.DoubtCause, a.DoubtSeq)
	if other == nil {
		return why
	}
	switch other.Outcome {
	case statemachine.AcceptedBy:
		why += fmt.Sprintf("; attempt %d was accepted in record %d", other.Number, other.AnswerSeq)
	case statemachine.RefusedTemp, statemachine.RefusedPerm:
		why += fmt.Sprintf("; attempt %d was refused with %s in record %d", other.Number, r.statusName(other.CommandStatus), other.AnswerSeq)
	case statemachine.Doubtful:
		why += fmt.Sprintf("; so was that to attempt %d (%s), record %d", other.Number, other.DoubtCause, other.DoubtSeq)
	case statemachine.NotSent:
		why += fmt.Sprintf("; attempt %d did not leave", other.Number)
	case statemachine.Arrived:
		why += fmt.Sprintf("; the receipt in record %d shows that %s has attempt %d", other.DoubtEndSeq, smsc, other.Number)
	}
	return why
}

func (r renderer) queuedReason(smsc string, p *statemachine.Part) string {
	if len(p.Attempts) == 0 {
		return fmt.Sprintf("waits in the queue of %s since record %d", smsc, p.QueuedSeq)
	}
	last := &p.Attempts[len(p.Attempts)-1]
	switch {
	case last.Outcome == statemachine.RefusedTemp && !p.NotBefore.IsZero():
		return fmt.Sprintf("%s refused attempt %d with %s in record %d; next attempt not before %s",
			smsc, last.Number, r.statusName(last.CommandStatus), last.AnswerSeq, p.NotBefore.UTC().Format(time.RFC3339))
	case last.Outcome == statemachine.RefusedTemp:
		return fmt.Sprintf("%s refused attempt %d with %s in record %d; it will be sent again", smsc, last.Number, r.statusName(last.CommandStatus), last.AnswerSeq)
	}
	return fmt.Sprintf("back in the queue of %s since record %d", smsc, p.QueuedSeq)
}

func submittedReason(smsc string, p *statemachine.Part) string {
	if p.Basis != statemachine.BasisSubmitResp {
		return fmt.Sprintf("evidence in record %d shows that %s has it", p.BasisSeq, smsc)
	}
	if !p.Asked && !p.Partial {
		return fmt.Sprintf("%s accepted it in record %d; no receipt was asked for", smsc, p.BasisSeq)
	}
	return fmt.Sprintf("%s accepted it in record %d; no outcome was reported yet", smsc, p.BasisSeq)
}

func reportedReason(smsc string, rep *statemachine.Reported, basis statemachine.Basis) string {
	if rep.SMSC != "" {
		smsc = rep.SMSC
	}
	word := rep.RawStat
	if word == "" {
		word = rep.State.String()
	}
	switch basis {
	case statemachine.BasisQuery:
		return fmt.Sprintf("%s answered query_sm with %s in record %d", smsc, rep.State, rep.Seq)
	case statemachine.BasisCallback:
		return fmt.Sprintf("the callback in record %d reported %s, matched by %s", rep.Seq, word, rep.By)
	}
	return fmt.Sprintf("%s reported %s in record %d, matched by %s", smsc, word, rep.Seq, rep.By)
}
