package statemachine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"esmed/receipt"
)

// assign judges the receptions of an inbox row as evidence about the part that a person named.
func (s *step) assign(o *Operator, about *subject) error {
	m, p, err := s.assignee(o, about.x)
	if err != nil || p == nil {
		return err
	}
	if !about.x.ofRow() {
		return s.confirm(o, about.x, p)
	}
	row := about.row
	if row == nil {
		return s.noEffect("the row is not in the inbox any more")
	}
	s.putRow(row.Key, nil)
	if err := s.conclude(o, about.x); err != nil {
		return err
	}
	for _, seq := range row.Receptions {
		e, err := s.readAgain(seq)
		if errors.Is(err, ErrGone) {
			return s.noEffect(notKept)
		}
		if err != nil {
			return err
		}
		if err := s.assignOne(o, about.x, m, p, &e); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) assignOne(o *Operator, x *Exception, m *Message, p *Part, e *evidence) error {
	if !e.receipt.IsEvidence() { // under the rules of today
		return s.setAside(e)
	}
	id := cmp.Or(e.receipt.TLVID, e.receipt.TextID)
	ref := AttemptRef{Message: m.ID, Part: p.Number, Attempt: s.attemptNamed(e, m, p)}
	return s.apply(e, &finding{
		correlation: Matched, candidate: candidate{m: m, refs: []AttemptRef{ref}, by: ByOperator, id: id},
		count: len(x.Candidates), ruling: s.ruling(o), why: o.said(),
	})
}

// attemptNamed is the attempt of the part that the evidence's ids name, 0 when that is open.
func (s *step) attemptNamed(e *evidence, m *Message, p *Part) int {
	ids := e.keys()
	return only(p.which(func(a *Attempt) bool {
		return slices.ContainsFunc(s.keys(m, a), func(key receipt.Key) bool { return slices.Contains(ids, key) })
	}))
}

// assignee is the part that the record names, of an edited message. The part is nil, and the record without
// effect, when it cannot be the owner.
func (s *step) assignee(o *Operator, x *Exception) (*Message, *Part, error) {
	m, err := s.edit(o.Target.Message)
	if err != nil {
		return nil, nil, err
	}
	if m == nil {
		return nil, nil, s.noEffect(noMessage)
	}
	number := o.Target.Part
	if number == 0 && len(m.Parts) == 1 {
		number = 1
	}
	p := m.Part(number)
	switch {
	case m.Account != x.Account:
		return nil, nil, s.noEffect(fmt.Sprintf("the message belongs to account %s, the receipt to %s", m.Account, x.Account))
	case number == 0:
		return nil, nil, s.noEffect(fmt.Sprintf("the message has %d parts: name the one, as %s/1", len(m.Parts), m.ID))
	case p == nil:
		return nil, nil, s.noEffect(fmt.Sprintf("the message has no part %d", number))
	case len(p.Attempts) == 0:
		return nil, nil, s.noEffect("the part was never sent")
	}
	return m, p, nil
}

// confirm ends an exception whose receipts are matched already, since the rules only flag their addresses.
func (s *step) confirm(o *Operator, x *Exception, p *Part) error {
	if len(x.Candidates) != 1 || x.Candidates[0].Message != o.Target.Message || x.Candidates[0].Part != p.Number {
		return s.noEffect("its receipts are matched already (address_check: flag): there is nothing to assign, dismiss it")
	}
	if err := s.conclude(o, x); err != nil {
		return err
	}
	m, err := s.edit(o.Target.Message)
	if err != nil || m == nil {
		return err
	}
	s.ruled(m, p.Number, 0, p.State, p.State, o)
	return nil
}
