package statemachine

// openOrder ranks the states of open parts: the least advanced one is the message's (DESIGN §3).
var openOrder = [...]uint8{
	InDoubt: 1, Queued: 2, Submitting: 3, Submitted: 4, Scheduled: 5, Enroute: 6, Unknown: 7, Accepted: 8,
	Unreported: 0,
}

// closedOrder ranks the states of closed parts. SCHEDULED and ENROUTE are met only in parts that asked
// for no receipt and were reported on nevertheless.
var closedOrder = [...]uint8{
	Unreported: 1, Failed: 2, Rejected: 3, Undeliverable: 4, Deleted: 5, Expired: 6, Skipped: 7, Unknown: 8,
	Accepted: 9, Delivered: 10, Submitted: 11, Scheduled: 12, Enroute: 13,
}

// Deciding is the part whose state is the message's: while a part is open the least advanced of the open
// ones, else the first in the order of closed states. Nil only for a message without parts.
func (m *Message) Deciding() *Part {
	var open, closed *Part
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case !p.Closed():
			if open == nil || openOrder[p.State] < openOrder[open.State] {
				open = p
			}
		case m.bears(p):
			if closed == nil || closedOrder[p.State] < closedOrder[closed.State] || p.failedBefore(closed) {
				closed = p
			}
		}
	}
	if open != nil {
		return open
	}
	return closed
}

// failedBefore prefers, of two parts that failed, the one that failed by itself.
func (p *Part) failedBefore(q *Part) bool {
	return p.State == Failed && q.State == Failed && p.failedItself() && !q.failedItself()
}

func (p *Part) failedItself() bool {
	if p.Basis == BasisExpiry || p.withdrawn() {
		return true
	}
	for i := range p.Attempts {
		if p.Attempts[i].AnswerSeq == p.BasisSeq {
			return true
		}
	}
	return false
}

// bears reports whether a closed part has a say in the outcome. Where some parts asked for a receipt
// (long_receipts: last, first) the others have none once they are accepted: what is reported of them
// beside that shows in the part alone, so that it can neither hold back nor unlock the message.
func (m *Message) bears(p *Part) bool {
	return p.asks() || p.State == Failed || !m.asks()
}

func (m *Message) asks() bool {
	for i := range m.Parts {
		if m.Parts[i].asks() {
			return true
		}
	}
	return false
}

// Closed reports whether nothing more is waited for in any part.
func (m *Message) Closed() bool {
	for i := range m.Parts {
		if !m.Parts[i].Closed() {
			return false
		}
	}
	return true
}

// Final reports whether the outcome is locked: a failed part settles it, else all parts that have a say
// must be final.
func (m *Message) Final() bool {
	if !m.Closed() {
		return false
	}
	if m.Deciding().State == Failed {
		return true
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; m.bears(p) && !p.Final() {
			return false
		}
	}
	return true
}

// MaybeDoubled reports whether a part may have arrived more than once.
func (m *Message) MaybeDoubled() bool {
	for i := range m.Parts {
		if m.Parts[i].MaybeDoubled() {
			return true
		}
	}
	return false
}

// Part is nil when there is no part of that number.
func (m *Message) Part(number int) *Part {
	if number < 1 || number > len(m.Parts) {
		return nil
	}
	return &m.Parts[number-1]
}

// attempt is nil when there is none of that part and number.
func (m *Message) attempt(ref AttemptRef) *Attempt {
	if p := m.Part(ref.Part); p != nil {
		return p.attempt(ref.Attempt)
	}
	return nil
}

// failed reports whether a part failed, and with it the message.
func (m *Message) failed() bool {
	for i := range m.Parts {
		if m.Parts[i].State == Failed {
			return true
		}
	}
	return false
}
