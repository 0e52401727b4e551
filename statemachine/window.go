package statemachine

import "time"

// WindowEnd is when the window of an attempt is over (DESIGN §3, Cut-off): it runs from its accepted
// submit_sm_resp, or while there is none from its sent record, but not before the schedule time, for the
// validity sent plus receipt_grace, or for delivery_window if none was sent. Zero when the rules give no
// window. Nil rules give none.
func (m *Message) WindowEnd(a *Attempt, rules *SMSCRules) time.Time {
	if rules == nil {
		return time.Time{}
	}
	length := rules.DeliveryWindow
	if !a.ValidUntil.IsZero() {
		length = a.ValidUntil.Sub(a.At) + rules.ReceiptGrace
	}
	if length <= 0 {
		return time.Time{}
	}
	start := a.At
	if a.Outcome == AcceptedBy && !a.saidAccepted() {
		start = a.AnsweredAt
	}
	if m.ScheduledAt.After(start) {
		start = m.ScheduledAt
	}
	return start.Add(length)
}

// CutoffAt is when a cutoff record is due for the part unless something final is heard: the end of its
// window. False while there is none to wait for: the part is closed, it is not certain that the SMSC has it,
// or the rules give no window.
func (m *Message) CutoffAt(p *Part, rules *SMSCRules) (time.Time, bool) {
	if !p.cutoffDue() {
		return time.Time{}, false
	}
	end := m.partWindowEnd(p, rules)
	return end, !end.IsZero()
}

// partWindowEnd is the last end of the windows of the part's attempts that may have arrived or, where
// evidence came for one that was refused, of all its attempts. Zero when none has a window.
func (m *Message) partWindowEnd(p *Part, rules *SMSCRules) time.Time {
	var end, arrived time.Time
	for i := range p.Attempts {
		a := &p.Attempts[i]
		t := m.WindowEnd(a, rules)
		if t.After(end) {
			end = t
		}
		if a.MayHaveArrived() && t.After(arrived) {
			arrived = t
		}
	}
	if !arrived.IsZero() {
		return arrived
	}
	return end
}

// cutoffDue reports whether a cutoff may end the part. One in doubt is never cut off.
func (p *Part) cutoffDue() bool {
	return !p.Closed() && (p.State == Submitted || p.State.Reported())
}

// wait is what a part's window means to whoever looks at the clock. The zero wait is that it means nothing.
type wait struct {
	end  time.Time
	what waitFor
}

type waitFor uint8

const (
	waitNone    waitFor = iota
	waitOutcome         // a cutoff is due at its end
	waitDoubt           // the doubt is overdue from its end on
	waitOver            // it ended in silence
)

// waits says what the part's window means, from what is stored of the part alone.
func (p *Part) waits() wait {
	what := p.waitsFor()
	if what == waitNone || p.WindowEnd.IsZero() {
		return wait{}
	}
	return wait{p.WindowEnd, what}
}

func (p *Part) waitsFor() waitFor {
	switch {
	case p.State == Unreported:
		return waitOver
	case p.State == InDoubt:
		return waitDoubt
	case p.cutoffDue():
		return waitOutcome
	}
	return waitNone
}

// rewindow brings the window of each part of an edited message up to the rules in force, and what the clock
// is looked at for up to the windows. was is the message before the step, nil when the step made it.
func (s *step) rewindow(was, m *Message) {
	for i := range m.Parts {
		var before wait
		if was != nil {
			before = was.Parts[i].waits()
		}
		p := &m.Parts[i]
		p.WindowEnd = s.windowEnd(m, p, before.what)
		s.changeWait(m, p.Number, before, p.waits())
	}
}

// windowEnd is Part.WindowEnd as the step leaves it. A window that ended in silence keeps its end; one that
// the rules give no end, as those of an SMSC that was taken out of the configuration, keeps what it had.
func (s *step) windowEnd(m *Message, p *Part, before waitFor) time.Time {
	what := p.waitsFor()
	if what == waitNone {
		return time.Time{}
	}
	if what == waitOver && (before == waitOver || m.ID == s.refolded) {
		return p.WindowEnd
	}
	end := m.partWindowEnd(p, s.smsc(m.SMSC))
	if end.IsZero() {
		end = p.WindowEnd
	}
	if what == waitOver && (end.IsZero() || end.After(s.rec.At)) { // closed before its window was over
		end = s.rec.At
	}
	return end.UTC()
}

// changeWait puts the new wait of a part in the place of the old one.
func (s *step) changeWait(m *Message, part int, before, now wait) {
	if before.what == now.what && before.end.Equal(now.end) {
		return
	}
	s.putWait(m, part, before, true)
	s.putWait(m, part, now, false)
}

func (s *step) putWait(m *Message, part int, w wait, remove bool) {
	switch w.what {
	case waitOutcome, waitDoubt:
		s.eff.Windows = append(s.eff.Windows, WindowChange{
			SMSC: m.SMSC, At: w.end, Doubt: w.what == waitDoubt, Ref: AttemptRef{Message: m.ID, Part: part}, Remove: remove,
		})
	case waitOver:
		delta := int64(1)
		if remove {
			delta = -1
		}
		s.eff.Overdue = append(s.eff.Overdue, OverdueChange{SMSC: m.SMSC, Minute: w.end.Truncate(time.Minute), Delta: delta})
	}
}

// reviewWindows has the windows of messages brought up to the rules in force that nothing else changed.
func (s *step) reviewWindows(ids []ID) error {
	for _, id := range ids {
		m, err := s.message(id)
		if err != nil {
			return err
		}
		if m == nil || !s.windowMoved(m) {
			continue
		}
		if _, err := s.edit(id); err != nil {
			return err
		}
	}
	return nil
}

// windowMoved reports whether the rules in force give a part of the message another window than it has.
func (s *step) windowMoved(m *Message) bool {
	for i := range m.Parts {
		p := &m.Parts[i]
		if !s.windowEnd(m, p, p.waits().what).Equal(p.WindowEnd) {
			return true
		}
	}
	return false
}
