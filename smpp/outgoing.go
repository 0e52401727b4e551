package smpp

import (
	"slices"
	"time"
)

// accepting says whether new requests of ours may begin.
func (l *link) accepting() bool {
	return l.state.sends() && l.stop == nil && l.cut == nil && l.over == nil
}

// reserve gives up to n slots; there must be a free one.
func (l *link) reserve(n int) []Slot {
	slots := make([]Slot, min(max(n, 1), l.window.free()))
	for i := range slots {
		slots[i] = Slot{Session: l.cfg.Name, SequenceNumber: l.window.reserve().seq, session: l.session}
	}
	return slots
}

// submit writes each of the batch whose slot still holds.
func (l *link) submit(now time.Time, batch []Submit) {
	for i := range batch {
		s := &batch[i]
		p := l.window.slot(s.Slot.SequenceNumber)
		if p == nil || !l.state.sends() || l.cut != nil || l.over != nil {
			l.window.release(s.Slot.SequenceNumber)
			s.notWritten()
			continue
		}
		l.status.Submits++
		l.send(now, p, s.PDU, s.Done)
	}
}

// release takes back slots that were not used, the newest first, so that their numbers are used next.
func (l *link) release(slots []Slot) {
	for _, s := range slices.Backward(slots) {
		l.window.release(s.SequenceNumber)
	}
}

// request writes a query_sm or cancel_sm under a sequence number of the session's.
func (l *link) request(now time.Time, o outgoing) {
	p := l.window.take(ParseHeader(o.pdu).CommandID)
	SetSequenceNumber(o.pdu, p.seq)
	l.send(now, p, o.pdu, func(a Answer) { o.reply <- a })
}

// outgoing is a request outside the window.
type outgoing struct {
	pdu   []byte
	reply chan Answer // has room for the one answer
}
