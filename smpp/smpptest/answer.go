package smpptest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"esmed/smpp"
)

// answer is a submit_sm_resp on its way, with what is to follow it.
type answer struct {
	c      *conn
	sub    Submit
	status smpp.Status
	after  []Planned // released when it is written
}

// submit takes a submit_sm (SMPP v3.4 §4.4).
func (s *Server) submit(c *conn, h header, octets []byte, now time.Time) {
	sub, err := parseSubmit(octets)
	s.stats.submits++
	sub.N, sub.Conn, sub.SequenceNumber, sub.At = s.stats.submits, c.number, h.seq, now
	sub.number, sub.written = s.nextNumber, s.cfg.IDs.Response.write(s.cfg.Seed, s.nextNumber)
	sub.MessageID = sub.written
	c.asked(h.seq)
	a := Action{Status: smpp.StatusInvCmdLen} // of a body that cannot be taken apart
	switch {
	case c.silent:
		sub.MessageID, sub.number = "", 0
		s.seen(&sub, a, true, now)
		return
	case err != nil:
	case !c.sends:
		a.Status = smpp.StatusInvBndSts
	default:
		a = s.plan(&sub, now)
		if s.cfg.OnSubmit != nil {
			a = s.cfg.OnSubmit(sub, a)
		}
	}
	s.decide(&sub, &a)
	s.seen(&sub, a, false, now)
	s.carryOut(answer{c: c, sub: sub, status: a.Status}, a, now)
}

// decide settles the id and whether the submit is taken on.
func (s *Server) decide(sub *Submit, a *Action) {
	if a.Status != smpp.StatusOK {
		sub.MessageID, sub.number, a.Receipts = "", 0, nil
		s.stats.refused++
		return
	}
	sub.MessageID = a.MessageID
	s.keepTaken(sub)
	s.nextNumber++
	s.stats.accepted++
	s.stats.textSum += Fingerprint(sub.Dest.Addr, sub.text())
}

// seen writes a submit to the truth.
func (s *Server) seen(sub *Submit, a Action, ignored bool, now time.Time) {
	if s.truth.none {
		return
	}
	ref, _ := sub.tlv(s.cfg.Receipts.ClientRefTLV)
	line := Line{Type: LineSubmit, At: now, N: sub.N, Conn: sub.Conn, Seq: sub.SequenceNumber, Source: sub.Source.Addr, Dest: sub.Dest.Addr,
		Class: sub.ESMClass, RegisteredDelivery: sub.RegisteredDelivery, Text: sum(sub.text()), Ref: strings.TrimRight(string(ref), "\x00"), Ignored: ignored}
	if p := sub.part(); p.of > 1 {
		line.Part, line.Parts = p.n, p.of
		line.JoinedBy, _ = p.several()
	}
	if !ignored {
		line.Status, line.MessageID = a.Status.String(), sub.MessageID
	}
	s.truth.add(line)
	if s.truth.out == nil {
		s.submits.add(sub.clone())
	}
}

// carryOut does what an Action says.
func (s *Server) carryOut(one answer, a Action, now time.Time) {
	first := slices.ContainsFunc(a.Receipts, func(p Planned) bool { return p.BeforeResponse })
	a.FromSubmit = a.FromSubmit || first && (a.Held || a.Delay > 0 || a.shuffled)
	if a.atOnce() && !first && s.cfg.Traffic.Sequence != Collide {
		s.atOnce = one
		s.atOnce.after = a.Receipts
		s.respond(&s.atOnce, now)
		return
	}
	kept := one
	s.carryOutLater(&kept, a, first, now)
}

// carryOutLater does what an Action says that is more than to answer; first: a receipt goes before the answer.
func (s *Server) carryOutLater(ans *answer, a Action, first bool, now time.Time) {
	switch {
	case a.Drop != "":
		s.release(&ans.sub, a.Receipts, now)
		if a.Drop == DropAfter {
			s.respond(ans, now)
		}
		ans.c.cut(a.Drop, ans, now)
	case a.Never:
		s.release(&ans.sub, a.Receipts, now)
	case a.Held:
		s.keepReceipts(ans, a, now)
		s.held[ans.sub.N] = ans
	case a.Delay > 0:
		s.keepReceipts(ans, a, now)
		s.stats.pending++
		s.after(a.Delay, now, due{answer: ans})
	case a.shuffled:
		s.keepReceipts(ans, a, now)
		s.shuffleIn(ans, now)
	case first && s.hasReceiver():
		s.stats.pending++
		s.release(&ans.sub, a.Receipts, now).then = ans
	case s.cfg.Traffic.Sequence == Collide:
		s.keepReceipts(ans, a, now)
		s.batch = append(s.batch, ans)
	default:
		ans.after = a.Receipts
		s.respond(ans, now)
	}
}

// atOnce says whether nothing stands between a submit and its answer.
func (a *Action) atOnce() bool {
	return a.Drop == "" && !a.Never && !a.Held && a.Delay <= 0 && !a.shuffled
}

// keepReceipts keeps what is planned with the answer, or releases it where it does not wait for it.
func (s *Server) keepReceipts(ans *answer, a Action, now time.Time) {
	if a.FromSubmit {
		s.release(&ans.sub, a.Receipts, now)
		return
	}
	ans.sub, ans.after = ans.sub.clone(), slices.Clone(a.Receipts)
}

// respond writes an answer, unless its connection is gone, and releases what was to follow it.
func (s *Server) respond(a *answer, now time.Time) {
	if !a.c.over && !a.c.silent {
		a.c.out = a.append(a.c.out)
		a.c.answered(a.sub.SequenceNumber)
		s.stats.answered++
		s.truth.add(Line{Type: LineResponse, At: now, N: a.sub.N, Conn: a.c.number, Seq: a.sub.SequenceNumber})
	}
	s.release(&a.sub, a.after, now)
	a.after = nil
}

// append writes the submit_sm_resp (SMPP v3.4 §4.4.2); without a body unless the status is ESME_ROK.
func (a *answer) append(b []byte) []byte {
	start := len(b)
	b = appendHeader(b, smpp.CommandSubmitSMResp, a.status, a.sub.SequenceNumber)
	if a.status == smpp.StatusOK {
		b = appendCString(b, a.sub.MessageID)
	}
	return endPDU(b, start)
}

// Answer writes the response to submit n that an Action held back. It fails if none is held.
func (s *Server) Answer(n uint64) (err error) {
	s.turn(func(now time.Time) {
		a := s.held[n]
		if a == nil {
			err = fmt.Errorf("smpptest: no answer is held for submit %d", n)
			return
		}
		delete(s.held, n)
		s.respond(a, now)
	})
	return err
}

const shuffleWait = 20 * time.Millisecond // how long answers wait for others to change places with

func (s *Server) shuffleIn(a *answer, now time.Time) {
	s.stats.pending++
	s.shuffle = append(s.shuffle, a)
	if len(s.shuffle) >= s.cfg.Answers.Shuffle {
		s.shuffleOut(now)
	} else if len(s.shuffle) == 1 {
		s.after(shuffleWait, now, due{tick: s.shuffleOut})
	}
}

func (s *Server) shuffleOut(now time.Time) {
	d := newDice(s.cfg.Seed, s.stats.submits)
	for n := len(s.shuffle); n > 0; n-- {
		i := int(d.next() % uint64(n))
		s.stats.pending--
		s.respond(s.shuffle[i], now)
		s.shuffle[i] = s.shuffle[n-1]
	}
	s.shuffle = s.shuffle[:0]
}

// hasReceiver says whether a request can be sent at all, now or when a window has room.
func (s *Server) hasReceiver() bool {
	return slices.ContainsFunc(s.links, func(c *conn) bool { return c.receives })
}
