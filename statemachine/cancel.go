package statemachine

import "fmt"

// What a person decides about messages that are not to be sent any more, and what the SMSC answers to cancel_sm.

// cancel takes what of a message waits out of the queue. What the SMSC has, or may have, is for cancel_sm: that a
// person asked for it is noted.
func (s *step) cancel(o *Operator) error {
	if len(o.Messages) != 1 {
		return s.noEffect("it does not name the one message to cancel")
	}
	m, err := s.edit(o.Messages[0])
	if err != nil {
		return err
	}
	if m == nil {
		return s.noEffect(noMessage)
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Queued():
			if err := s.withdraw(o, m, p); err != nil {
				return err
			}
		case !p.Final() && p.CutoffSeq == 0:
			p.keepOut(s.ruling(o))
			s.ruled(m, p.Number, 0, p.State, p.State, o)
		}
	}
	if len(s.eff.Decisions) == 0 {
		return s.noEffect(fmt.Sprintf("the message is %s: there is nothing to cancel any more", m.State))
	}
	return nil
}

// drop takes what of a page of messages waits for an SMSC out of its queue.
func (s *step) drop(o *Operator) error {
	for _, id := range o.Messages {
		if err := s.dropOne(o, id); err != nil {
			return err
		}
	}
	if len(s.edited) == 0 {
		return s.noEffect(fmt.Sprintf("none of it waits in the queue of %s (any more)", o.SMSC))
	}
	return nil
}

func (s *step) dropOne(o *Operator, id ID) error {
	m, err := s.message(id)
	if err != nil || m == nil || m.SMSC != o.SMSC || !m.queued() {
		return err
	}
	if m, err = s.edit(id); err != nil {
		return err
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Queued() {
			if err := s.withdraw(o, m, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// withdraw takes a part out of the queue because a person said so. One that may have arrived shows what it
// would otherwise.
func (s *step) withdraw(o *Operator, m *Message, p *Part) error {
	from := p.State
	s.dequeue(m, p)
	p.keepOut(s.ruling(o))
	if err := s.settle(m, p, BasisOperator, s.rec.Seq, ""); err != nil {
		return err
	}
	s.ruled(m, p.Number, 0, from, p.State, o)
	return nil
}

// keepOut notes who does not want the part sent again, as long as nothing shows that the SMSC has it: then there
// is nothing to be sent, and what a person said before may still be what it rests on.
func (p *Part) keepOut(r Ruling) {
	if p.Reported.State == NoState && !p.arrived() {
		p.Ruling = r
	}
}

// keptOut reports whether a person took the part out of the queue, or did not want it there again. Only another
// decision puts it back.
func (p *Part) keptOut() bool {
	return p.Ruling.Action == ActionCancel || p.Ruling.Action == ActionDrop
}

// withdrawn reports whether the part failed because a person kept it out of the queue.
func (p *Part) withdrawn() bool {
	return p.Basis == BasisOperator && p.keptOut() && p.BasisSeq == p.Ruling.Seq
}

// notSentBasis is what a part rests on that fails because an attempt of it did not leave and no other is made.
func (s *step) notSentBasis(p *Part) (Basis, uint64) {
	if p.keptOut() {
		return BasisOperator, p.Ruling.Seq
	}
	return BasisNone, s.rec.Seq
}

// cancelResp notes the SMSC's answer to cancel_sm (SMPP v3.4 §4.9.2). It says that the SMSC took the request, and
// is no evidence of what becomes of the message.
func (s *step) cancelResp(r *CancelResp) error {
	m, p, err := s.find(r.Message, r.Part)
	if err != nil || p == nil {
		return err
	}
	if p.attempt(r.Attempt) == nil {
		return s.noEffect(fmt.Sprintf("attempt %d was never sent", r.Attempt))
	}
	why := "cancel_sm was accepted"
	if r.CommandStatus != 0 {
		why = fmt.Sprintf("cancel_sm was refused with 0x%08X", r.CommandStatus)
	}
	s.concluded(m, p, r.Attempt, p.State, why)
	return nil
}
