package smpp

import (
	"slices"
	"time"
)

// accepting says whether new requests of ours may begin.
func (l *link) accepting() bool {
	return l.state.sends() && l.stop == nil && l.cut == nil && l.over == nil
}

// reserve takes every free slot. The result is good until the next call.
func (l *link) reserve() []*pending {
	l.slots = l.slots[:0]
	for l.window.free() > 0 {
		l.slots = append(l.slots, l.window.reserve())
	}
	return l.slots
}

// submit writes each of the batch, or says of each that it cannot.
func (l *link) submit(now time.Time, batch []Submit) {
	for i := range batch {
		s := &batch[i]
		if !l.state.sends() || l.cut != nil || l.over != nil {
			l.window.release(s.Slot.pending)
			s.notWritten()
			continue
		}
		l.status.Submits++
		l.send(now, s.Slot.pending, s.PDU, s.Done)
	}
}

// release takes back slots that were not used, the newest first, so that their numbers are used next.
func (l *link) release(slots []*pending) {
	for _, p := range slices.Backward(slots) {
		l.window.release(p)
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
