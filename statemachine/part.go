package statemachine

import (
	"slices"
	"time"

	"esmed/receipt"
)

// Final reports whether the state is locked: by itself, or because the SMSC's rules called ACCEPTED or
// UNKNOWN final when it was reported.
func (p *Part) Final() bool {
	return p.State.Final() || p.State.Reported() && p.Reported.Final
}

// Closed reports whether nothing more is waited for: the part is final, its window is over, or it was
// accepted and asked for no receipt. Evidence may still change a closed part that is not final.
func (p *Part) Closed() bool {
	if p.Final() || p.CutoffSeq != 0 {
		return true
	}
	return !p.asks() && (p.State == Submitted || p.State.Reported())
}

// asks reports whether a receipt was asked for at all.
func (p *Part) asks() bool { return p.Asked || p.Partial }

// queued reports whether a part of the message waits in the queue.
func (m *Message) queued() bool {
	for i := range m.Parts {
		if m.Parts[i].Queued() {
			return true
		}
	}
	return false
}

// Queued reports whether the part waits in the queue, which its State shows only if nothing was
// reported of it and no attempt is unanswered.
func (p *Part) Queued() bool { return p.QueuedSeq != 0 }

// MaybeDoubled reports whether more than one attempt may have arrived.
func (p *Part) MaybeDoubled() bool {
	n := 0
	for i := range p.Attempts {
		if p.Attempts[i].MayHaveArrived() {
			n++
		}
	}
	return n > 1
}

// Accepted is the attempt that the SMSC accepted: the one that the reported state is about, else the
// first; nil when none was.
func (p *Part) Accepted() *Attempt {
	if a := p.attempt(p.Reported.Attempt); a != nil && a.Outcome == AcceptedBy {
		return a
	}
	return p.first(AcceptedBy)
}

// attempt is nil when there is no attempt of that number.
func (p *Part) attempt(number int) *Attempt {
	if number < 1 || number > len(p.Attempts) {
		return nil
	}
	return &p.Attempts[number-1]
}

// first is the first attempt with that outcome, or nil.
func (p *Part) first(o Outcome) *Attempt {
	for i := range p.Attempts {
		if p.Attempts[i].Outcome == o {
			return &p.Attempts[i]
		}
	}
	return nil
}

func (p *Part) has(o Outcome) bool { return p.first(o) != nil }

// arrived reports whether the SMSC certainly has the part.
func (p *Part) arrived() bool { return p.has(AcceptedBy) || p.has(Arrived) }

// mayHaveArrived reports whether the SMSC has the part, or may have it.
func (p *Part) mayHaveArrived() bool {
	for i := range p.Attempts {
		if p.Attempts[i].MayHaveArrived() {
			return true
		}
	}
	return false
}

// which gives the numbers of the attempts of which that is true.
func (p *Part) which(is func(*Attempt) bool) []int {
	var numbers []int
	for i := range p.Attempts {
		if a := &p.Attempts[i]; is(a) {
			numbers = append(numbers, a.Number)
		}
	}
	return numbers
}

// Doubt gives the first attempt that is in doubt, nil when none is, and beside it the attempt whose fate
// belongs to the same story: the first accepted one, else the newest; nil when that is the one in doubt.
func (p *Part) Doubt() (doubt, other *Attempt) {
	doubt = p.first(Doubtful)
	if doubt == nil {
		return nil, nil
	}
	if other = p.first(AcceptedBy); other == nil {
		other = &p.Attempts[len(p.Attempts)-1]
	}
	if other == doubt {
		other = nil
	}
	return doubt, other
}

// doubtSeqs are the records that put attempts in doubt which still are.
func (p *Part) doubtSeqs() []uint64 {
	var seqs []uint64
	for i := range p.Attempts {
		if p.Attempts[i].Outcome == Doubtful {
			seqs = append(seqs, p.Attempts[i].DoubtSeq)
		}
	}
	return seqs
}

// current is the state that attempts and evidence give (DESIGN §3, Attempts). A part that failed stays so.
func (p *Part) current() State {
	switch {
	case p.State == Failed:
		return Failed
	case p.Reported.Final:
		return p.Reported.State
	case p.CutoffSeq != 0 && (p.Asked || !p.arrived() && p.Reported.State == NoState):
		return Unreported
	case p.CutoffSeq != 0:
		return Submitted
	case p.Reported.State != NoState:
		return p.Reported.State
	}
	return p.fromAttempts()
}

// fromAttempts is the state of a part of which nothing was reported. One that asked for no receipt is
// closed when it has arrived, whatever its other attempts come to.
func (p *Part) fromAttempts() State {
	switch {
	case !p.asks() && p.arrived():
		return Submitted
	case p.has(Unanswered):
		return Submitting
	case p.Queued():
		return Queued
	case p.has(Doubtful):
		return InDoubt
	case p.arrived():
		return Submitted
	}
	return Failed
}

// settle brings State up to what attempts and evidence give and, if that moved it, notes what it rests on.
func (p *Part) settle(basis Basis, seq uint64) {
	state := p.current()
	if state == InDoubt { // the doubt's record, not the one that answered another attempt
		p.State, p.Basis, p.BasisSeq = InDoubt, BasisNone, p.first(Doubtful).DoubtSeq
		return
	}
	if state == p.State && p.Reported.Seq != seq { // a newer report of the same state is what it rests on now
		return
	}
	p.State, p.Basis, p.BasisSeq = state, basis, seq
	switch state {
	case Queued, Submitting:
		p.Basis = BasisNone
	case Submitted:
		if p.CutoffSeq == 0 {
			p.restOnArrival()
		}
	}
}

// restOnArrival has a submitted part rest on what showed that it arrived, not on the record that ended
// another attempt's doubt or refused one: on its acceptance, else on the receipt that echoed our reference.
func (p *Part) restOnArrival() {
	if a := p.first(AcceptedBy); a != nil {
		p.Basis, p.BasisSeq = a.acceptance()
	} else if a := p.first(Arrived); a != nil {
		p.Basis, p.BasisSeq = BasisReceipt, a.DoubtEndSeq
	}
}

// failWith notes that the part failed because another part of its message did.
func (p *Part) failWith(m *Message) {
	for i := range m.Parts {
		if other := &m.Parts[i]; other != p && other.State == Failed {
			p.Basis, p.BasisSeq = other.Basis, other.BasisSeq
			return
		}
	}
}

// mayRetry reports whether sending the part once more makes sense: nobody has it for certain, no attempt
// is on its way, and nothing more was concluded.
func (p *Part) mayRetry() bool {
	return !p.Queued() && !p.Closed() && !p.arrived() && !p.has(Unanswered) && p.Reported.State == NoState
}

// retries reports whether a part of the message is to be sent once more by itself.
func (m *Message) retries(p *Part) bool { return p.mayRetry() && !p.keptOut() && !m.failed() }

func (p *Part) enqueue(seq uint64, notBefore time.Time) { p.QueuedSeq, p.NotBefore = seq, notBefore }

func (p *Part) dequeue() { p.QueuedSeq, p.NotBefore = 0, time.Time{} }

// event is the logical event that the part knows by that fingerprint, else nil. The zero fingerprint,
// that of an answer to our own query, is no event.
func (p *Part) event(f receipt.Fingerprint) *Event {
	if f.IsZero() {
		return nil
	}
	for i := range p.Events {
		if p.Events[i].Fingerprint == f {
			return &p.Events[i]
		}
	}
	return nil
}

// remember counts the event, forgetting the oldest one when there are too many.
func (p *Part) remember(f receipt.Fingerprint, seq uint64) {
	if f.IsZero() {
		return
	}
	if known := p.event(f); known != nil {
		known.Count++
		return
	}
	if len(p.Events) == MaxEvents {
		p.Events = slices.Delete(p.Events, 0, 1)
	}
	p.Events = append(p.Events, Event{Fingerprint: f, Seq: seq, Count: 1})
}
