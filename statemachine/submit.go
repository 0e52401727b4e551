package statemachine

import (
	"fmt"
	"time"

	"esmed/receipt"
)

// Bits of registered_delivery that ask for a receipt (SMPP v3.4 §5.2.17).
const (
	receiptMask  = 0x03
	receiptFinal = 0x01
)

// accepted takes a message from an application. All its parts wait in the queue.
func (s *step) accepted(a *MessageAccepted) error {
	old, err := s.message(a.Message)
	if err != nil {
		return err
	}
	switch {
	case old != nil:
		return s.noEffect("the message exists")
	case len(a.Parts) == 0:
		return s.noEffect("the message has no parts")
	}
	m := newMessage(len(a.Parts))
	m.ID, m.SMSC, m.Account, m.Owner, m.Ref = a.Message, a.SMSC, a.Account, a.Owner, a.Ref
	m.To, m.E164, m.Source, m.Dest = a.To, a.E164, a.Source, a.Dest
	m.RegisteredDelivery, m.Priority, m.InDoubt = a.RegisteredDelivery, a.Priority, a.InDoubt
	m.AcceptedSeq, m.AcceptedAt, m.ScheduledAt = s.rec.Seq, s.rec.At, a.ScheduledAt
	m.ValidUntil, m.ValidityAsked = a.ValidUntil, a.ValidityAsked
	asked := a.RegisteredDelivery & receiptMask
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Number, p.State, p.Basis, p.BasisSeq, p.QueuedSeq = i+1, Queued, BasisNone, s.rec.Seq, s.rec.Seq
		p.Asked = asked == receiptFinal && !a.Parts[i].NoReceipt
		p.Partial = asked > receiptFinal && !a.Parts[i].NoReceipt
		s.enqueue(m, p)
	}
	s.made(m)
	return nil
}

// sent notes that an attempt leaves. It does so even when the part is no longer queued: the record is
// written before the applier may have seen what took it off, and its PDU leaves all the same.
func (s *step) sent(r *Sent) error {
	m, p, err := s.find(r.Message, r.Part)
	if err != nil || p == nil {
		return err
	}
	if r.Attempt != len(p.Attempts)+1 {
		return s.noEffect(fmt.Sprintf("attempt %d was made before, or is not the next one", r.Attempt))
	}
	p.Attempts = append(p.Attempts, Attempt{
		Number: r.Attempt, At: s.rec.At, Seq: s.rec.Seq, Session: r.Session, SequenceNumber: r.SequenceNumber,
		ValidUntil: r.ValidUntil, UserMessageReference: r.UserMessageReference,
	})
	s.dequeue(m, p)
	s.changeUnanswered(m, AttemptRef{m.ID, r.Part, r.Attempt}, false)
	return s.settle(m, p, BasisNone, s.rec.Seq, "")
}

// submitResp takes the SMSC's answer to submit_sm (SMPP v3.4 §4.4.2). It may come after the response
// timer gave up on it.
func (s *step) submitResp(r *SubmitResp) error {
	m, p, err := s.find(r.Message, r.Part)
	if err != nil || p == nil {
		return err
	}
	a := p.attempt(r.Attempt)
	switch {
	case a == nil:
		return s.noEffect(fmt.Sprintf("attempt %d was never sent", r.Attempt))
	case a.AnswerSeq != 0:
		return s.noEffect(fmt.Sprintf("attempt %d was answered before", r.Attempt))
	}
	s.by = r.SMSC
	from, ref := p.State, AttemptRef{m.ID, r.Part, r.Attempt}
	if a.Outcome == Unanswered {
		s.changeUnanswered(m, ref, true)
	}
	id := receipt.MessageID([]byte(r.MessageID))
	if a.saidAccepted() {
		if err := s.unsay(m, p, ref, id, r.CommandStatus == 0); err != nil {
			return err
		}
	}
	a.answer(r, id, s.rec.At, s.rec.Seq)
	if a.Outcome == AcceptedBy && m.SubmittedAt.IsZero() {
		m.SubmittedAt = s.rec.At
	}
	if a.Outcome == RefusedTemp && m.retries(p) {
		p.enqueue(s.rec.Seq, r.RetryAt)
		s.enqueue(m, p)
	}
	if err := s.settle(m, p, BasisSubmitResp, s.rec.Seq, DoubtLateAnswer); err != nil {
		return err
	}
	s.concluded(m, p, r.Attempt, from, a.refusal())
	if err := s.failQueued(m, p); err != nil {
		return err
	}
	if a.Outcome == AcceptedBy {
		if err := s.answered(m, p, ref, r.SMSC, id); err != nil {
			return err
		}
	}
	return s.wakeDestination(m)
}

// inDoubt takes that the answer to an attempt was lost, or that the attempt did not leave after all.
func (s *step) inDoubt(r *AttemptInDoubt) error {
	m, p, err := s.find(r.Message, r.Part)
	if err != nil || p == nil {
		return err
	}
	if r.Cause == causeRestored && r.Attempt == len(p.Attempts)+1 {
		return s.supposed(m, p, r)
	}
	a := p.attempt(r.Attempt)
	switch {
	case a == nil:
		return s.noEffect(fmt.Sprintf("attempt %d was never sent", r.Attempt))
	case a.Outcome != Unanswered:
		return s.noEffect(fmt.Sprintf("attempt %d has an outcome", r.Attempt))
	}
	s.by = r.SMSC
	from := p.State
	s.changeUnanswered(m, AttemptRef{m.ID, r.Part, r.Attempt}, true)
	why := fmt.Sprintf("its answer was lost (%s)", r.Cause)
	notSent := a.lost(r, s.rec.Seq)
	if notSent {
		why = "it did not leave"
	}
	if (notSent || a.Outcome == Doubtful && s.resends(m)) && m.retries(p) {
		why += "; it is to be sent again"
		p.enqueue(s.rec.Seq, r.RetryAt)
		s.enqueue(m, p)
	}
	basis, seq := s.notSentBasis(p)
	if err := s.settle(m, p, basis, seq, ""); err != nil {
		return err
	}
	s.concluded(m, p, r.Attempt, from, why)
	if err := s.failQueued(m, p); err != nil {
		return err
	}
	return s.wakeDestination(m)
}

// resends reports whether a part of the message whose answer was lost is sent again.
func (s *step) resends(m *Message) bool {
	if m.InDoubt != "" {
		return m.InDoubt == "resend"
	}
	return s.smsc(m.SMSC).InDoubtResend
}

// expired takes a message out of our queue whose validity ended there. What of it may have arrived stays.
func (s *step) expired(r *QueueExpired) error {
	m, err := s.edit(r.Message)
	if err != nil {
		return err
	}
	if m == nil {
		return s.noEffect(noMessage)
	}
	n := 0
	for i := range m.Parts {
		if !m.Parts[i].Queued() {
			continue
		}
		n++
		p := m.Part(i + 1)
		from := p.State
		s.dequeue(m, p)
		if err := s.settle(m, p, BasisExpiry, s.rec.Seq, ""); err != nil {
			return err
		}
		s.concluded(m, p, 0, from, "its validity ended in our queue")
	}
	if n == 0 {
		return s.noEffect("no part of it waits in the queue")
	}
	return nil
}

// cutoff ends a part of which nothing final was heard until its window was over, under the rules in force.
func (s *step) cutoff(r *Cutoff) error {
	m, p, err := s.find(r.Message, r.Part)
	if err != nil || p == nil {
		return err
	}
	if !p.cutoffDue() {
		return s.noEffect(fmt.Sprintf("the part is %s", p.State))
	}
	end := s.windowEnd(m, p, waitOutcome)
	if s.rec.At.Before(end) && end.Equal(p.WindowEnd) {
		return s.noEffect("the part's window is open until " + end.Format(time.RFC3339))
	}
	from := p.State
	if s.rec.At.Before(end) { // other rules made it longer since: it is looked at again then
		s.concluded(m, p, 0, from, "its window is open until "+end.Format(time.RFC3339)+" now")
		return nil
	}
	p.CutoffSeq = s.rec.Seq
	if err := s.settle(m, p, BasisCutoff, s.rec.Seq, ""); err != nil {
		return err
	}
	s.concluded(m, p, 0, from, "nothing final was reported within its window")
	return nil
}

const noMessage = "there is no such message (any more)"

// find gives the step's own copy of a message and a part of it. The part is nil, and the record without
// effect, when there is none.
func (s *step) find(id ID, part int) (*Message, *Part, error) {
	m, err := s.edit(id)
	if err != nil {
		return nil, nil, err
	}
	if m == nil {
		return nil, nil, s.noEffect(noMessage)
	}
	p := m.Part(part)
	if p == nil {
		return nil, nil, s.noEffect(fmt.Sprintf("the message has no part %d", part))
	}
	return m, p, nil
}
