package smpptest

import (
	"slices"
	"time"

	"esmed/smpp"
)

// Cancel is a cancel_sm as it came (SMPP v3.4 §4.9.1).
type Cancel struct {
	N              uint64 // 1 for the first cancel_sm that this server saw
	Conn           int    // number of the connection, from 1
	SequenceNumber uint32
	ServiceType    string
	MessageID      string
	Source, Dest   Address
	Known          bool // a submit was given this MessageID
}

// Cancelled is what is done about one cancel_sm. The zero Cancelled is an answer ESME_ROK, and receipts as
// if nothing had been cancelled.
type Cancelled struct {
	Never   bool        // no answer
	Nack    bool        // a generic_nack in place of cancel_sm_resp
	Status  smpp.Status // of the answer
	Deleted bool        // a receipt DELETED follows the answer, if one was asked for; those not yet due are not sent
}

// cancel takes a cancel_sm. It is refused where the Config says nothing about it.
func (s *Server) cancel(c *conn, h header, octets []byte, now time.Time) {
	b := body{rest: octets}
	s.stats.cancels++
	m := Cancel{N: s.stats.cancels, Conn: c.number, SequenceNumber: h.seq, ServiceType: b.cstring(), MessageID: b.cstring(), Source: b.address(), Dest: b.address()}
	sub, known := s.taken[m.MessageID]
	m.Known = known
	r := Cancelled{Status: smpp.StatusCancelFail}
	switch {
	case b.bad:
		r.Status = smpp.StatusInvCmdLen
	case !c.sends:
		r.Status = smpp.StatusInvBndSts
	case s.cfg.OnCancel != nil:
		r = s.cfg.OnCancel(m)
	}
	line := Line{Type: LineCancel, At: now, N: m.N, Conn: m.Conn, Seq: m.SequenceNumber, Source: m.Source.Addr, Dest: m.Dest.Addr, MessageID: m.MessageID}
	if !r.Never {
		command := smpp.CommandCancelSMResp
		if r.Nack {
			command = smpp.CommandGenericNack
		}
		line.Status = r.Status.String()
		c.out = appendEmptyPDU(c.out, command, r.Status, h.seq)
	}
	s.truth.add(line)
	if known && r.Deleted && (s.cfg.Receipts.Always || sub.wantsReceipt(false)) {
		s.forget(sub.N)
		s.release(&sub, []Planned{{Kind: Final, Word: "DELETED"}}, now)
	}
}

// keepTaken keeps a submit by the id that it was given, for as long as messages can be cancelled.
func (s *Server) keepTaken(sub *Submit) {
	if s.cfg.OnCancel == nil || sub.MessageID == "" {
		return
	}
	if s.taken == nil {
		s.taken = map[string]Submit{}
	}
	s.taken[sub.MessageID] = sub.clone()
}

// forget takes what is not yet due about a submit off the schedule.
func (s *Server) forget(n uint64) {
	about := func(d due) bool { return d.delivery != nil && d.delivery.N == n }
	for _, d := range s.due.heap {
		if about(d) {
			s.stats.pending--
		}
	}
	s.due.keep(slices.DeleteFunc(s.due.heap, about))
}
