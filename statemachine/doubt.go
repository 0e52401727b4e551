package statemachine

import (
	"fmt"
	"time"

	"esmed/receipt"
)

// What a person decides about attempts whose answer, or whose id, is not known.

// resend puts a part whose attempt is in doubt back into the queue. It may arrive twice then.
func (s *step) resend(o *Operator, x *Exception) error {
	m, p, err := s.find(x.Message, x.Part)
	if err != nil || p == nil {
		return err
	}
	a := p.first(Doubtful)
	switch {
	case a == nil:
		return s.noEffect(noDoubt)
	case m.failed():
		return s.noEffect("another part of the message failed")
	case !m.ValidUntil.IsZero() && !s.rec.At.Before(m.ValidUntil):
		return s.noEffect("its validity ended at " + m.ValidUntil.UTC().Format(time.RFC3339))
	case !p.mayRetry():
		return s.noEffect(fmt.Sprintf("the part is %s, and more than the doubt is known of it", p.State))
	}
	if err := s.conclude(o, x); err != nil {
		return err
	}
	from := p.State
	s.requeue(m, p, o)
	if err := s.settle(m, p, BasisNone, s.rec.Seq, DoubtOperator); err != nil {
		return err
	}
	s.ruled(m, p.Number, a.Number, from, p.State, o)
	return nil
}

const noDoubt = "no attempt of the part is in doubt any more"

func (s *step) requeue(m *Message, p *Part, o *Operator) {
	p.Ruling = s.ruling(o)
	p.enqueue(s.rec.Seq, time.Time{})
	s.enqueue(m, p)
}

// notSent takes that no attempt of the part whose answer was lost ever left.
func (s *step) notSent(o *Operator, x *Exception) error {
	m, p, err := s.find(x.Message, x.Part)
	if err != nil || p == nil {
		return err
	}
	doubtful := p.which(func(a *Attempt) bool { return a.Outcome == Doubtful })
	if len(doubtful) == 0 {
		return s.noEffect(noDoubt)
	}
	if err := s.conclude(o, x); err != nil {
		return err
	}
	from := p.State
	for _, number := range doubtful {
		a := p.attempt(number)
		a.Outcome = NotSent
		a.endDoubt(DoubtOperator, s.rec.Seq)
	}
	if m.retries(p) {
		s.requeue(m, p, o)
	}
	basis, seq := s.notSentBasis(p)
	if err := s.settle(m, p, basis, seq, DoubtOperator); err != nil {
		return err
	}
	s.ruled(m, p.Number, only(doubtful), from, p.State, o)
	return nil
}

// saidAccepted takes that the SMSC accepted an attempt with an id: the first one in doubt, or the first one
// that was accepted and has none.
func (s *step) saidAccepted(o *Operator, x *Exception) error {
	m, p, err := s.find(x.Message, x.Part)
	if err != nil || p == nil {
		return err
	}
	id := receipt.MessageID([]byte(o.MessageID))
	number := s.withoutID(x.Kind, m, p)
	switch {
	case len(s.smsc(m.SMSC).Receipt.ResponseKeys(id)) == 0:
		return s.noEffect("it does not say which message_id the SMSC gave")
	case number == 0 && x.Kind == KindInDoubt:
		return s.noEffect(noDoubt)
	case number == 0:
		return s.noEffect("the message_id of each accepted attempt is known")
	}
	if err := s.conclude(o, x); err != nil {
		return err
	}
	from := p.State
	a := p.attempt(number)
	a.MessageID, a.Learnt = id, false
	if x.Kind == KindInDoubt {
		a.Outcome, a.AnsweredAt = AcceptedBy, s.rec.At
		a.endDoubt(DoubtOperator, s.rec.Seq)
		p.Ruling = s.ruling(o)
		if m.SubmittedAt.IsZero() {
			m.SubmittedAt = s.rec.At
		}
	}
	if err := s.settle(m, p, BasisOperator, s.rec.Seq, DoubtOperator); err != nil {
		return err
	}
	s.ruled(m, p.Number, number, from, p.State, o)
	return s.identify(m, AttemptRef{Message: m.ID, Part: p.Number, Attempt: number}, m.SMSC, id)
}

// withoutID is the first attempt that an exception of that kind is about, 0 when there is none any more.
func (s *step) withoutID(kind ExceptionKind, m *Message, p *Part) int {
	for i := range p.Attempts {
		a := &p.Attempts[i]
		if kind == KindInDoubt && a.Outcome == Doubtful || kind == KindNoMessageID && a.Outcome == AcceptedBy && len(s.keys(m, a)) == 0 {
			return a.Number
		}
	}
	return 0
}
