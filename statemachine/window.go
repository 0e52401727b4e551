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
	if a.Outcome == AcceptedBy {
		start = a.AnsweredAt
	}
	if m.ScheduledAt.After(start) {
		start = m.ScheduledAt
	}
	return start.Add(length)
}

// CutoffAt is when a cutoff record is due for the part unless something final is heard: the end of the
// last window of its attempts that arrived. False while there is none to wait for: the part is closed,
// or has not arrived for certain.
func (m *Message) CutoffAt(p *Part, rules *SMSCRules) (time.Time, bool) {
	if !p.cutoffDue() {
		return time.Time{}, false
	}
	var end time.Time
	for i := range p.Attempts {
		a := &p.Attempts[i]
		if !a.arrived() {
			continue
		}
		if t := m.WindowEnd(a, rules); t.After(end) {
			end = t
		}
	}
	return end, !end.IsZero()
}

// cutoffDue reports whether a cutoff may end the part. One in doubt is never cut off.
func (p *Part) cutoffDue() bool {
	return !p.Closed() && (p.State == Submitted || p.State.Reported())
}
