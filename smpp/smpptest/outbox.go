package smpptest

import (
	"encoding/binary"
	"slices"
	"time"

	"esmed/smpp"
)

// delivery is a request of the SMSC on its way: it belongs to the account, not to a connection.
type delivery struct {
	Delivery
	d      uint64
	pdu    []byte // sequence_number 0
	shared bool   // pdu is another delivery's too
	sends  int
	sentAt time.Time
	then   *answer // written right after this was first sent
}

// outbox holds what waits to be sent.
type outbox struct {
	count  uint64
	ready  queue
	parked []*delivery // refused for other reasons than ESME_RX_T_APPN: sent again after the next bind
	turn   int         // connection that is next
	done   []*delivery // acknowledged, to be used again; at most maxDone
}

// queue is a FIFO whose front can be pushed to.
type queue struct {
	items []*delivery
	head  int
}

func (q *queue) len() int                { return len(q.items) - q.head }
func (q *queue) pushBack(d ...*delivery) { q.items = append(q.items, d...) }

func (q *queue) pushFront(d ...*delivery) {
	q.items = slices.Concat(d, q.items[q.head:])
	q.head = 0
}

func (q *queue) pop() *delivery {
	d := q.items[q.head]
	q.items[q.head] = nil
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	} else if q.head > 4096 && q.head > len(q.items)/2 {
		q.items, q.head = slices.Delete(q.items, 0, q.head), 0
	}
	return d
}

// admit numbers a delivery and counts it as pending until it is acknowledged. Its pdu is to be written.
func (s *Server) admit(d Delivery) *delivery {
	s.box.count++
	s.stats.deliveries++
	s.stats.pending++
	dl := s.box.fresh()
	dl.Delivery, dl.d = d, s.box.count
	return dl
}

// maxDone bounds how many deliveries are kept for use: about a window's worth.
const maxDone = 1024

// fresh is an empty delivery, perhaps with the memory of an earlier one's pdu.
func (b *outbox) fresh() *delivery {
	last := len(b.done) - 1
	if last < 0 {
		return &delivery{}
	}
	dl := b.done[last]
	b.done = b.done[:last]
	*dl = delivery{pdu: dl.pdu[:0]}
	return dl
}

// finish takes a delivery that nothing refers to any more.
func (b *outbox) finish(dl *delivery) {
	if !dl.shared && len(b.done) < maxDone {
		b.done = append(b.done, dl)
	}
}

// Deliver queues a request and says by which number the truth knows it. It is sent as soon as a
// receiver is bound and its window has room, and again after each bind until it is acknowledged.
func (s *Server) Deliver(d Delivery) (number uint64) {
	s.turn(func(time.Time) {
		dl := s.admit(d)
		dl.pdu = d.append(dl.pdu)
		s.box.ready.pushBack(dl)
		number = dl.d
	})
	return number
}

// release puts what was planned for a submit on its way. It returns the last that is to go before the
// response, or nil.
func (s *Server) release(sub *Submit, planned []Planned, now time.Time) (before *delivery) {
	var final *delivery
	for i := range planned {
		p := &planned[i]
		var dl *delivery
		if p.Kind == Duplicate && final != nil {
			dl = s.admit(final.Delivery)
			dl.Kind, dl.pdu, dl.shared, final.shared = Duplicate, final.pdu, true, true
		} else {
			dl = s.admit(s.compose(sub, p, now))
			dl.pdu = dl.Delivery.append(dl.pdu)
		}
		if p.Kind == Final {
			final = dl
		}
		switch {
		case p.BeforeResponse:
			before = dl
			s.box.ready.pushBack(dl)
		case p.Delay <= 0:
			s.box.ready.pushBack(dl)
		default:
			s.after(p.Delay, now, due{delivery: dl})
		}
	}
	return before
}

// pump sends what is ready to the receivers in turn, as far as their windows have room.
func (s *Server) pump(now time.Time) {
	for s.box.ready.len() > 0 {
		c := s.receiver()
		if c == nil {
			return
		}
		s.send(c, s.box.ready.pop(), now)
	}
}

// receiver is the next connection that may be sent a request, or nil.
func (s *Server) receiver() *conn {
	for range s.links {
		s.box.turn++
		if c := s.links[s.box.turn%len(s.links)]; c.receives && c.hasRoom(&s.cfg.Traffic) {
			return c
		}
	}
	return nil
}

func (s *Server) send(c *conn, dl *delivery, now time.Time) {
	seq := c.takeSequence(s.cfg.Traffic.Sequence)
	start := len(c.out)
	c.out = append(c.out, dl.pdu...)
	pdu := c.out[start:]
	binary.BigEndian.PutUint32(pdu[12:], seq)
	c.outstanding[seq] = dl
	dl.sends++
	dl.sentAt = now
	s.stats.sent++
	if !s.truth.none {
		s.truth.add(dl.line(c, pdu, now))
	}
	if a := dl.then; a != nil {
		dl.then = nil
		s.stats.pending--
		s.respond(a, now)
	}
}

// line is the truth of a delivery that was just written as pdu.
func (dl *delivery) line(c *conn, pdu []byte, now time.Time) Line {
	h := readHeader(pdu)
	line := Line{Type: LineDelivery, At: now, D: dl.d, N: dl.N, Kind: dl.Kind, Command: h.command, Conn: c.number, Seq: h.seq,
		Class: dl.ESMClass, Source: dl.Source.Addr, Dest: dl.Dest.Addr, TLVID: dl.TLVID, TextID: dl.TextID, Word: dl.Word, State: dl.State,
		Length: len(pdu), Sum: sum(pdu), Sends: dl.sends}
	if dl.MessageState >= 0 {
		line.MessageState = &dl.MessageState
	}
	return line
}

// acknowledge takes an ESME's answer to a request of ours: h is deliver_sm_resp, data_sm_resp or
// generic_nack.
func (s *Server) acknowledge(c *conn, h header, now time.Time) {
	dl := c.outstanding[h.seq]
	if dl == nil || h.command != smpp.CommandGenericNack && h.command != readHeader(dl.pdu).command.Response() {
		s.stats.strayAcks++
		s.truth.add(Line{Type: LineAck, At: now, Conn: c.number, Seq: h.seq, Status: h.status.String()})
		return
	}
	delete(c.outstanding, h.seq)
	latency := now.Sub(dl.sentAt)
	s.stats.latency.Add(latency)
	s.truth.add(Line{Type: LineAck, At: now, Conn: c.number, Seq: h.seq, Status: h.status.String(), D: dl.d, LatencyUS: latency.Microseconds()})
	switch {
	case h.status == smpp.StatusOK && h.command != smpp.CommandGenericNack, dl.Kind == UnknownCommand:
		s.stats.acked++
		s.stats.pending--
		s.stats.lastAck = now
		if dl.Kind == Final {
			s.stats.finals++
		}
		s.box.finish(dl)
	case h.status == smpp.StatusXTAppn:
		s.stats.refusedDeliveries++
		s.after(s.cfg.Receipts.Retry, now, due{delivery: dl})
	default:
		s.stats.refusedDeliveries++
		s.box.parked = append(s.box.parked, dl)
	}
}

// takeBack puts what a lost connection left unacknowledged in front of everything else, in the order
// in which it was made.
func (s *Server) takeBack(c *conn) {
	lost := make([]*delivery, 0, len(c.outstanding))
	for _, dl := range c.outstanding {
		lost = append(lost, dl)
	}
	clear(c.outstanding)
	slices.SortFunc(lost, func(a, b *delivery) int { return int(a.d) - int(b.d) })
	s.box.ready.pushFront(lost...)
}

// unpark makes ready what was refused before this bind.
func (s *Server) unpark() {
	s.box.ready.pushBack(s.box.parked...)
	s.box.parked = nil
}
