package statemachine

// causeRestored is AttemptInDoubt.Cause of what a backup held as queued or unanswered.
const causeRestored = "restored"

// restored notes that the store begins anew from a backup.
func (s *step) restored(r *Restored) error {
	s.eff.Restored = r
	return nil
}

// supposed takes that a part which a backup held as queued may have been sent since. Whether it is sent again
// is left to a person, whatever the rules say about doubts: all that the backup held would be sent twice.
func (s *step) supposed(m *Message, p *Part, r *AttemptInDoubt) error {
	if !p.Queued() && !s.again { // folded again, it may lack what had queued it; the attempt's number is taken
		return s.noEffect("the part does not wait in the queue")
	}
	s.by = r.SMSC
	from := p.State
	s.dequeue(m, p)
	p.Attempts = append(p.Attempts, Attempt{
		Number: r.Attempt, At: s.rec.At, Session: r.Session, Outcome: Doubtful, DoubtSeq: s.rec.Seq, DoubtCause: r.Cause,
	})
	if err := s.settle(m, p, BasisNone, s.rec.Seq, ""); err != nil {
		return err
	}
	s.concluded(m, p, r.Attempt, from, "it was queued in a backup that was restored, and may have been sent since")
	return nil
}
