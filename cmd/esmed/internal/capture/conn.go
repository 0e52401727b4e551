package capture

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"esmed/smpp"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/reassembly"
)

// Connection is a TCP connection that spoke SMPP, as it looks when it is over or the capture is.
type Connection struct {
	ESME       netip.AddrPort `json:"esme"`
	SMSC       netip.AddrPort `json:"smsc"`
	First      time.Time      `json:"first"` // of its PDUs
	Last       time.Time      `json:"last"`
	Begun      bool           `json:"begun"` // its beginning was captured
	Ended      bool           `json:"ended"` // its end was captured (FIN or RST)
	FromESME   int            `json:"pdus_from_esme"`
	FromSMSC   int            `json:"pdus_from_smsc"`
	Skipped    int            `json:"skipped"`   // octets that belong to no PDU
	Lost       int            `json:"lost"`      // octets that were not captured
	Forgotten  int            `json:"forgotten"` // requests whose answers were not looked for: too many were unanswered
	Unanswered []Request      `json:"-"`         // in their order

	conn *conn
}

// Request is one that was not answered.
type Request struct {
	Number         int            `json:"line"`
	At             time.Time      `json:"at"`
	CommandID      string         `json:"command_id"`
	SequenceNumber uint32         `json:"sequence_number"`
	FromESME       bool           `json:"from_esme"` // else from the SMSC
	ESME           netip.AddrPort `json:"esme"`
	SMSC           netip.AddrPort `json:"smsc"`
}

// conn is a TCP connection. Its two ends are sides 0 and 1; 0 sent the first packet that was captured.
type conn struct {
	a     *assembly
	ends  [2]netip.AddrPort
	sides [2]side
	esme  int  // the side that is the ESME; -1 = not known yet
	dead  bool // it does not speak SMPP
	tls   bool
	begun bool
	fin   bool // FIN or RST was seen
	first time.Time
	last  time.Time
	over  bool
}

// side is one end of a connection, and what it sent.
type side struct {
	framer
	at      time.Time // of the last octets
	started bool      // reassembly has a place to begin at
	waiting map[waitKey]Request
	dropped int // requests that were not put there: there were too many
}

// waitKey finds the request that a response answers: by its sequence number and kind (SMPP v3.4 §3.2).
type waitKey struct {
	answer smpp.CommandID
	number uint32
}

// maxWaiting bounds the unanswered requests of one end. A window is rarely over a thousand.
const maxWaiting = 64 << 10

// New implements reassembly.StreamFactory.
func (a *assembly) New(net, tcp gopacket.Flow, t *layers.TCP, _ reassembly.AssemblerContext) reassembly.Stream {
	a.sum.Connections++
	c := &conn{a: a, esme: -1, ends: [2]netip.AddrPort{endpoint(net.Src(), tcp.Src()), endpoint(net.Dst(), tcp.Dst())}}
	for i := range c.sides {
		c.sides[i].emit = func(f frame) { c.take(i, f) }
	}
	return c
}

func endpoint(host, port gopacket.Endpoint) netip.AddrPort {
	addr, _ := netip.AddrFromSlice(host.Raw())
	return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(port.Raw()))
}

// Accept implements reassembly.Stream. A connection whose beginning was not captured begins where it is met.
func (c *conn) Accept(t *layers.TCP, _ gopacket.CaptureInfo, dir reassembly.TCPFlowDirection, _ reassembly.Sequence, start *bool, _ reassembly.AssemblerContext) bool {
	s := &c.sides[sideOf(dir)]
	switch {
	case t.SYN:
		c.begun = true
		s.begun = s.begun || !s.started
		s.started = true
	case !s.started && len(t.Payload) > 0:
		*start, s.started = true, true
	}
	c.fin = c.fin || t.FIN || t.RST
	return !c.dead || t.FIN || t.RST
}

func sideOf(dir reassembly.TCPFlowDirection) int {
	if dir == reassembly.TCPDirClientToServer {
		return 0
	}
	return 1
}

// ReassembledSG implements reassembly.Stream.
func (c *conn) ReassembledSG(sg reassembly.ScatterGather, _ reassembly.AssemblerContext) {
	dir, _, _, skip := sg.Info()
	s := &c.sides[sideOf(dir)]
	n, saved := sg.Lengths()
	if c.dead || c.a.err != nil {
		return
	}
	if skip > 0 {
		s.gap(skip, s.at)
	}
	if n -= saved; n <= 0 {
		return
	}
	s.at = sg.CaptureInfo(saved).Timestamp
	octets := sg.Fetch(saved + n)[saved:]
	if s.begun && s.found == 0 && len(s.buf) == 0 && isTLS(octets) {
		c.dead, c.tls = true, true
		c.a.sum.TLS++
		return
	}
	s.write(octets, s.at)
	if s.hopeless() && c.sides[0].found+c.sides[1].found == 0 {
		c.dead = true
		c.sides[0].buf, c.sides[1].buf = nil, nil
	}
}

// isTLS says whether a stream begins with a handshake of TLS (RFC 8446 §5.1).
func isTLS(b []byte) bool { return len(b) >= 3 && b[0] == 22 && b[1] == 3 && b[2] <= 4 }

// ReassemblyComplete implements reassembly.Stream.
func (c *conn) ReassemblyComplete(reassembly.AssemblerContext) bool {
	if c.over {
		return true
	}
	c.over = true
	if c.dead {
		return true
	}
	for i := range c.sides {
		c.sides[i].end(c.sides[i].at)
	}
	if c.sides[0].found+c.sides[1].found == 0 || c.a.err != nil {
		return true
	}
	if err := c.a.ended(c.connection()); err != nil {
		c.a.fail(err)
	}
	return true
}

// take gives out one PDU of a side.
func (c *conn) take(from int, f frame) {
	if c.a.err != nil {
		return
	}
	if c.first.IsZero() {
		c.first = f.at
		c.a.sum.SMPP++
	}
	if f.at.After(c.last) {
		c.last = f.at
	}
	c.a.sum.PDUs++
	p := &PDU{
		Number: c.a.sum.PDUs, At: f.at, From: c.ends[from], To: c.ends[1-from],
		Octets: f.octets, Length: f.length, Skipped: f.skipped, Cut: f.cut, conn: c, side: from,
	}
	h := p.Header()
	if c.esme < 0 {
		c.esme = esmeSide(h.CommandID, from)
	}
	if h.CommandID.IsResponse() {
		p.Answers = c.answered(from, h)
	} else {
		c.asked(from, p, h)
	}
	if err := c.a.see(p); err != nil {
		c.a.fail(err)
	}
}

// esmeSide says which side is the ESME when from sends the command; -1 when either may.
func esmeSide(id smpp.CommandID, from int) int {
	switch id.Request() {
	case smpp.CommandBindReceiver, smpp.CommandBindTransmitter, smpp.CommandBindTransceiver, smpp.CommandSubmitSM,
		smpp.CommandSubmitMulti, smpp.CommandQuerySM, smpp.CommandCancelSM, smpp.CommandReplaceSM,
		smpp.CommandBroadcastSM, smpp.CommandQueryBroadcastSM, smpp.CommandCancelBroadcastSM:
	case smpp.CommandDeliverSM, smpp.CommandAlertNotification, smpp.CommandOutbind:
		from = 1 - from
	default:
		return -1
	}
	if id.IsResponse() {
		return 1 - from
	}
	return from
}

// client is the side that is the ESME, or is taken for it: the one of the higher port.
func (c *conn) client() int {
	if c.esme >= 0 {
		return c.esme
	}
	if c.ends[0].Port() < c.ends[1].Port() {
		return 1
	}
	return 0
}

// asked keeps a request until it is answered.
func (c *conn) asked(from int, p *PDU, h smpp.Header) {
	s := &c.sides[from]
	switch h.CommandID {
	case smpp.CommandAlertNotification, smpp.CommandOutbind: // have no answer (SMPP v3.4 §4.1.7, §4.12)
		return
	}
	if len(s.waiting) >= maxWaiting {
		s.dropped++
		return
	}
	if s.waiting == nil {
		s.waiting = make(map[waitKey]Request)
	}
	s.waiting[waitKey{h.CommandID.Response(), h.SequenceNumber}] = Request{
		Number: p.Number, At: p.At, CommandID: h.CommandID.String(), SequenceNumber: h.SequenceNumber,
	}
}

// answered finds the request that a response of from answers; 0 when there is none.
func (c *conn) answered(from int, h smpp.Header) int {
	waiting := c.sides[1-from].waiting
	key := waitKey{h.CommandID, h.SequenceNumber}
	if h.CommandID == smpp.CommandGenericNack {
		key = anyOf(waiting, h.SequenceNumber)
	}
	r, ok := waiting[key]
	if !ok {
		return 0
	}
	delete(waiting, key)
	return r.Number
}

// anyOf finds the request of a sequence number whatever its kind: a generic_nack does not say.
func anyOf(waiting map[waitKey]Request, number uint32) waitKey {
	for _, id := range answers {
		if key := (waitKey{id, number}); waiting[key].Number != 0 {
			return key
		}
	}
	return waitKey{}
}

// answers are the commands that answer something.
var answers = [...]smpp.CommandID{
	smpp.CommandSubmitSMResp, smpp.CommandDeliverSMResp, smpp.CommandDataSMResp, smpp.CommandEnquireLinkResp,
	smpp.CommandBindTransceiverResp, smpp.CommandBindTransmitterResp, smpp.CommandBindReceiverResp, smpp.CommandUnbindResp,
	smpp.CommandQuerySMResp, smpp.CommandCancelSMResp, smpp.CommandReplaceSMResp, smpp.CommandSubmitMultiResp,
	smpp.CommandBroadcastSMResp, smpp.CommandQueryBroadcastSMResp, smpp.CommandCancelBroadcastSMResp, smpp.CommandGenericNack,
}

// connection is c as it is told of when it is over.
func (c *conn) connection() *Connection {
	e := c.client()
	end := &Connection{
		ESME: c.ends[e], SMSC: c.ends[1-e], First: c.first, Last: c.last, Begun: c.begun, Ended: c.fin,
		FromESME: c.sides[e].found, FromSMSC: c.sides[1-e].found, conn: c,
	}
	for i := range c.sides {
		s := &c.sides[i]
		end.Skipped += s.passed
		end.Lost += s.lost
		end.Forgotten += s.dropped
		for _, r := range s.waiting {
			r.FromESME, r.ESME, r.SMSC = i == e, end.ESME, end.SMSC
			end.Unanswered = append(end.Unanswered, r)
		}
	}
	slices.SortFunc(end.Unanswered, func(a, b Request) int { return a.Number - b.Number })
	return end
}
