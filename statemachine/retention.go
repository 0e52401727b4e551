package statemachine

import "errors"

// ErrGone is the error of View.Record and View.Decision for what retention dropped (Drop.Log). It does not
// end the step: a reception that is gone stays what it was held or judged as.
var ErrGone = errors.New("statemachine: dropped by retention")

// retained names how retention ends an exception.
const retained = "retention"

// retention closes what is still open before it is dropped, or drops it (DESIGN §5).
func (s *step) retention(r *Retention) error {
	s.by = "esmed"
	if err := s.closeMessages(r.Close); err != nil {
		return err
	}
	if err := s.dropRows(r.Inbox); err != nil {
		return err
	}
	drop := Drop{Messages: r.Messages, Log: r.Log}
	var err error
	if drop.Exceptions, err = s.dropExceptions(r.Exceptions); err != nil {
		return err
	}
	switch {
	case drop.Messages != "" || drop.Log != 0 || len(drop.Exceptions) > 0:
		s.eff.Drop = &drop
	case len(s.edited) == 0 && len(s.eff.Inbox) == 0:
		return s.noEffect("all of it is closed or dropped already")
	}
	return nil
}

// Loose reports whether something outside the message still waits for it: a part that is not closed or is
// queued, or an attempt whose answer is. It must be closed by a retention record before it is dropped.
func (m *Message) Loose() bool {
	for i := range m.Parts {
		if m.Parts[i].loose() {
			return true
		}
	}
	return false
}

func (p *Part) loose() bool { return !p.Closed() || p.Queued() || p.has(Unanswered) }

// closeMessages closes those that are loose.
func (s *step) closeMessages(ids []ID) error {
	for _, id := range ids {
		was, err := s.message(id)
		if err != nil {
			return err
		}
		if was == nil || !was.Loose() {
			continue
		}
		m, err := s.edit(id)
		if err != nil {
			return err
		}
		for i := range m.Parts {
			if err := s.closePart(m, &m.Parts[i]); err != nil {
				return err
			}
		}
		if err := s.wakeDestination(m); err != nil {
			return err
		}
	}
	return nil
}

// closePart ends all that waits for the part. What the SMSC may have is UNREPORTED (or SUBMITTED where it
// has it, and silence says nothing); what never arrived has expired.
func (s *step) closePart(m *Message, p *Part) error {
	if !p.loose() {
		return nil
	}
	from := p.State
	s.dequeue(m, p)
	s.giveUp(m, p)
	basis := BasisExpiry
	if !p.Closed() && (p.mayHaveArrived() || p.Reported.State != NoState) {
		basis, p.CutoffSeq = BasisCutoff, s.rec.Seq
	}
	if err := s.settle(m, p, basis, s.rec.Seq, retained); err != nil {
		return err
	}
	s.concluded(m, p, 0, from, "what still waited for it ended: the time to keep it is over")
	return nil
}

// giveUp puts in doubt what is unanswered: nobody will know the answer's message any more.
func (s *step) giveUp(m *Message, p *Part) {
	for _, number := range p.which(func(a *Attempt) bool { return a.Outcome == Unanswered }) {
		p.attempt(number).lost(&AttemptInDoubt{Cause: retained}, s.rec.Seq)
		s.changeUnanswered(m, AttemptRef{m.ID, p.Number, number}, true)
	}
}

// dropRows takes rows out of the inbox. Each of their receptions leaves a decision that says so.
func (s *step) dropRows(keys []InboxKey) error {
	for _, key := range keys {
		row, err := s.inboxRow(key)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		for _, seq := range row.Receptions {
			s.decide(nil, Decision{
				Record: seq, Correlation: row.Why, Verdict: VerdictHeld, Why: "the time to keep it in the inbox was over",
			})
		}
		s.putRow(key, nil)
		for _, kind := range [...]ExceptionKind{KindUnmatched, KindAmbiguous, KindAddressMismatch} {
			if err := s.resolve(kind, string(key), retained, s.by); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropExceptions takes them from the messages that list them, and gives those that there are.
func (s *step) dropExceptions(ids []string) ([]string, error) {
	var dropped []string
	for _, id := range ids {
		x, err := s.view.Exception(id)
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		dropped = append(dropped, id)
		if err := s.unlist(x); err != nil {
			return nil, err
		}
	}
	return dropped, nil
}
