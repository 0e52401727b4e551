package statemachine

import (
	"time"

	"esmed/receipt"
)

// Fold derives what follows from the log. It is a pure value: the same View and Record give the same
// Effects.
type Fold struct {
	// Decode takes a PDU, header included, apart. It never fails: what it cannot take apart is Broken. A
	// pure function, called for receptions only.
	Decode func(pdu []byte) receipt.Delivery
}

// Step says what rec changes: it empties eff and fills it. All of eff is valid until the next Step with it. Its error
// is always one of the View's; eff is empty then. The caller puts all Effects in place, together, before it takes the
// next record; a Rules record, which has none, it puts in force itself.
func (f Fold) Step(v View, rec Record, eff *Effects) error {
	s := eff.begin(f, v, rec)
	why, err := s.run()
	if err != nil || why != "" {
		s.takeBack()
		eff.reset()
		eff.NoEffect = why
	}
	s.leave()
	return err
}

// step is one record on its way to its effects. What it changed so far it sees itself (overlay.go).
type step struct {
	fold     Fold
	view     View
	rec      Record
	rulesSeq uint64
	rules    *Rules

	eff    *Effects
	edited []*edited
	woken  []*waiting
	opened int    // exceptions opened so far
	by     string // who is behind the record, for what it resolves
	again  bool   // the record is folded once more (refold.go)

	refolded ID // message that was folded again: what ended in it ended when it did

	own   evidence    // what a Reception says
	found []candidate // room for the next ones
}

// begin empties e and gives the step that fills it, in the room that e keeps for it.
func (e *Effects) begin(f Fold, v View, rec Record) *step {
	e.reset()
	s := &e.step
	*s = step{fold: f, view: v, rec: rec, eff: e, edited: s.edited[:0], woken: s.woken[:0], found: s.found[:0]}
	s.rulesSeq, s.rules = v.Rules()
	return s
}

// leave lets go of what the step was given.
func (s *step) leave() {
	if cap(s.edited) > maxEdits {
		s.edited = nil
	}
	clear(s.woken)
	clear(s.found)
	s.view, s.rec, s.eff = nil, Record{}, nil
}

// run is the whole step; why tells why the record changes nothing.
func (s *step) run() (why string, err error) {
	if err := s.take(); err != nil || s.eff.NoEffect != "" {
		return s.eff.NoEffect, err
	}
	if err := s.judgeWoken(); err != nil {
		return "", err
	}
	if _, retried := s.rec.Fact.(*Retry); retried && len(s.eff.Decisions)+len(s.eff.Inbox)+len(s.eff.Exceptions) == 0 {
		return "it still has no owner", nil
	}
	if op, ok := s.rec.Fact.(*Operator); ok && op.Reprocess != nil {
		if err := s.reviewWindows(op.Reprocess.Messages); err != nil {
			return "", err
		}
	}
	s.finish()
	return "", nil
}

// take lets the record do its work.
func (s *step) take() error {
	switch f := s.rec.Fact.(type) {
	case *MessageAccepted:
		return s.accepted(f)
	case *Sent:
		return s.sent(f)
	case *SubmitResp:
		return s.submitResp(f)
	case *AttemptInDoubt:
		return s.inDoubt(f)
	case *QueueExpired:
		return s.expired(f)
	case *Reception:
		return s.reception(f)
	case *Cutoff:
		return s.cutoff(f)
	case *QueryResp:
		return s.queryResp(f)
	case *CancelResp:
		return s.cancelResp(f)
	case *Retry:
		return s.retry(f)
	case *Retention:
		return s.retention(f)
	case *Operator:
		return s.operator(f)
	case *Restored:
		return s.restored(f)
	}
	return nil // Rules, SessionEvent, Other
}

// noEffect says why the record changes nothing.
func (s *step) noEffect(why string) error {
	s.eff.NoEffect = why
	return nil
}

// finish folds the messages that the step changed and takes what that changes in windows and counters.
func (s *step) finish() {
	for _, x := range s.edited {
		m := x.now
		m.State = m.Deciding().State
		m.UpdatedAt = s.rec.At
		switch {
		case !m.Final(): // also where a person took back what had made it so
			m.FinalisedAt = time.Time{}
		case m.FinalisedAt.IsZero():
			m.FinalisedAt = s.rec.At
		}
		s.rewindow(x.was, m)
		change := MessageChange{Message: m}
		if x.was != nil {
			change.Was = x.was.State
		}
		s.eff.Messages = append(s.eff.Messages, change)
		if delta := m.Tally().Sub(x.tally); delta != (Tally{}) {
			s.eff.Tallies = append(s.eff.Tallies, TallyChange{Hour: m.Hour(), SMSC: m.SMSC, Delta: delta})
		}
	}
}

// smsc gives an SMSC's rules, those of an SMSC whose configuration says nothing when it is not known.
func (s *step) smsc(name string) *SMSCRules {
	if s.rules != nil {
		for i := range s.rules.SMSCs {
			if s.rules.SMSCs[i].SMSC == name {
				return &s.rules.SMSCs[i]
			}
		}
	}
	return &SMSCRules{SMSC: name, Account: name, Receipt: receipt.DefaultRules()}
}
