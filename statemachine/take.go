package statemachine

import (
	"errors"
	"fmt"
	"slices"

	"esmed/receipt"
)

// takeSecond makes count what contradicts the part's state: the newest evidence that does or, where the part
// failed and the SMSC accepted it after all, that acceptance. The part is open again then, and its siblings
// that failed with it stay so: they were never sent.
func (s *step) takeSecond(o *Operator, x *Exception) error {
	m, p, err := s.find(x.Message, x.Part)
	if err != nil || p == nil {
		return err
	}
	d, e, err := s.contradiction(m, x)
	if err != nil {
		return err
	}
	if d == nil {
		return s.takeAcceptance(o, x, m, p)
	}
	if why := e.countAgainst(p, d.Verdict); why != "" {
		return s.noEffect(why)
	}
	if err := s.conclude(o, x); err != nil {
		return err
	}
	from := p.State
	p.Reported, p.Ruling = e.report(d.By, d.Attempt), s.ruling(o)
	s.unlock(m, p)
	if err := s.settle(m, p, BasisOperator, s.rec.Seq, DoubtOperator); err != nil {
		return err
	}
	s.decide(m, Decision{
		Record: e.seq, Part: p.Number, Attempt: d.Attempt, Correlation: Matched, By: ByOperator, ExternalID: d.ExternalID,
		Verdict: VerdictApplied, Why: o.said(), From: from, To: p.State, LogicalEvent: e.event,
	})
	return nil
}

// unlock lets go of a final state, which only a person's decision may.
func (s *step) unlock(m *Message, p *Part) {
	if p.Final() {
		p.State = NoState
	}
	if !m.FinalisedAt.IsZero() {
		m.FinalisedAt = s.rec.At
	}
}

// contradiction is the newest evidence that the exception is about, as it was judged and as it reads under
// the rules in force; nil when there is none.
func (s *step) contradiction(m *Message, x *Exception) (*Decision, evidence, error) {
	var judged []uint64
	for pos := m.LastDecision; len(x.Records) > 0 && pos.Seq >= x.Records[0]; {
		d, err := s.view.Decision(pos)
		if errors.Is(err, ErrGone) {
			return nil, evidence{}, nil
		}
		if err != nil {
			return nil, evidence{}, err
		}
		pos = d.Previous
		if d.Part != x.Part || d.Verdict == "" || slices.Contains(judged, d.Record) {
			continue
		}
		if d.Verdict == VerdictConflict || d.Verdict == VerdictNoted {
			e, err := s.readAgain(d.Record)
			if errors.Is(err, ErrGone) {
				return nil, evidence{}, nil
			}
			if err != nil || d.Verdict == VerdictConflict || e.disagrees() {
				return d, e, err
			}
		}
		judged = append(judged, d.Record)
	}
	return nil, evidence{}, nil
}

// disagrees reports whether TLV and text name different states, one of them final, whatever the rules believe.
func (e *evidence) disagrees() bool {
	r := &e.receipt
	return r.TLVState != r.TextState && r.TLVState != receipt.NoState && r.TextState != receipt.NoState && !e.neverFinalises() &&
		(r.TLVState.Final(&e.rules.Receipt) || r.TextState.Final(&e.rules.Receipt))
}

// countAgainst makes the evidence name the state that is to count. If it names none it says why.
func (e *evidence) countAgainst(p *Part, v Verdict) string {
	r, rules := &e.receipt, &e.rules.Receipt
	if v == VerdictNoted {
		switch tlv, text := r.TLVState.Final(rules), r.TextState.Final(rules); {
		case !e.differ:
			return fmt.Sprintf("the rules of %s say by now which state to believe: reprocess applies it", e.smsc)
		case tlv && text:
			return fmt.Sprintf("message_state and the text name two final states: set rules.state of %s and reprocess", e.smsc)
		case tlv:
			e.state, e.final = states[r.TLVState], true
		default:
			e.state, e.final = states[r.TextState], true
		}
	}
	switch {
	case !e.final:
		return fmt.Sprintf("under the rules in force record %d names no final state", e.seq)
	case p.Final() && p.State == e.state:
		return fmt.Sprintf("the part is %s already", p.State)
	}
	return ""
}

// takeAcceptance takes that a part which failed was accepted after all.
func (s *step) takeAcceptance(o *Operator, x *Exception, m *Message, p *Part) error {
	accepted := p.which(func(a *Attempt) bool { return a.Outcome == AcceptedBy && slices.Contains(x.Records, a.AnswerSeq) })
	if p.State != Failed || len(accepted) == 0 {
		return s.noEffect("nothing contradicts the state of the part any more")
	}
	if err := s.conclude(o, x); err != nil {
		return err
	}
	s.unlock(m, p)
	p.Ruling = s.ruling(o)
	if err := s.settle(m, p, BasisOperator, s.rec.Seq, DoubtOperator); err != nil {
		return err
	}
	if p.State == Submitted {
		p.Basis, p.BasisSeq = BasisOperator, s.rec.Seq
	}
	s.ruled(m, p.Number, accepted[0], Failed, p.State, o)
	return nil
}
