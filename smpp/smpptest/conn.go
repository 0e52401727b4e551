package smpptest

import (
	"crypto/tls"
	"net"
	"slices"
	"time"

	"esmed/smpp"
)

// conn is one connection. Its fields but nc and wake are guarded by the server's mutex.
type conn struct {
	s      *Server
	nc     net.Conn
	number int
	wake   chan struct{} // capacity 1: out has octets, or over is set

	out, spare []byte // what the writer takes next, and the buffer it is done with
	over       bool   // nothing more is taken in or written
	silent     bool   // SilentAfter is reached

	bound           bool
	systemID        string // of the bind
	sends, receives bool   // what the ESME's bind type allows it: submit_sm, deliver_sm
	unbinding       bool
	stopped         chan struct{} // not nil while nothing is taken in; closed when that ends

	received    int
	outstanding map[uint32]*delivery // our requests by sequence_number
	sequence    uint32               // of our last request
	lastSubmit  uint32               // sequence_number of the last submit_sm
	unanswered  []uint32             // with Collide: sequence_numbers of submits without answer
}

func (c *conn) note(event string, now time.Time) {
	c.s.truth.add(Line{Type: LineLink, At: now, Conn: c.number, Event: event})
}

// read takes PDUs until the connection ends.
func (c *conn) read() {
	defer c.nc.Close()
	buf := make([]byte, 0, 1<<16)
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, cap(buf))
		}
		n, err := c.nc.Read(c.allowance(buf[len(buf):cap(buf)]))
		buf = buf[:len(buf)+n]
		c.mayTakeIn()
		c.s.turn(func(now time.Time) {
			rest := c.take(buf, now)
			buf = buf[:copy(buf, rest)]
			if err != nil {
				c.end("closed", now)
			}
		})
		if err != nil {
			return
		}
	}
}

// take handles the whole PDUs at the front of b and returns the rest.
func (c *conn) take(b []byte, now time.Time) []byte {
	for len(b) >= headerLen && !c.over {
		h := readHeader(b)
		if h.length < headerLen || h.length > maxFrame {
			c.out = appendEmptyPDU(c.out, smpp.CommandGenericNack, smpp.StatusInvCmdLen, h.seq)
			c.end("broken framing", now)
			break
		}
		if int(h.length) > len(b) {
			return b
		}
		c.pdu(h, b[headerLen:h.length], now)
		b = b[h.length:]
	}
	if c.over {
		return nil
	}
	return b
}

// pdu handles one PDU of the ESME.
func (c *conn) pdu(h header, octets []byte, now time.Time) {
	c.received++
	if after := c.s.cfg.Link.SilentAfter; after > 0 && c.received > after && !c.silent {
		c.fallSilent(now)
	}
	switch h.command {
	case smpp.CommandSubmitSM:
		c.s.submit(c, h, octets, now)
	case smpp.CommandDeliverSMResp, smpp.CommandDataSMResp, smpp.CommandGenericNack:
		c.s.acknowledge(c, h, now)
	case smpp.CommandEnquireLinkResp:
		c.s.stats.enquireAnswers++
	case smpp.CommandUnbindResp:
		if c.unbinding {
			c.end("unbound", now)
		}
	default:
		if !c.silent && !h.command.IsResponse() {
			c.request(h, octets, now)
		}
	}
}

func (c *conn) fallSilent(now time.Time) {
	c.silent, c.receives = true, false
	c.note("silent", now)
}

// request answers every request but submit_sm, or hands it to who does.
func (c *conn) request(h header, octets []byte, now time.Time) {
	status := smpp.StatusOK
	switch h.command {
	case smpp.CommandBindTransceiver, smpp.CommandBindReceiver, smpp.CommandBindTransmitter:
		c.s.bind(c, h, octets, now)
		return
	case smpp.CommandEnquireLink:
		c.s.stats.enquireLinks++
	case smpp.CommandUnbind:
		c.out = appendEmptyPDU(c.out, smpp.CommandUnbindResp, smpp.StatusOK, h.seq)
		c.end("unbound", now)
		return
	case smpp.CommandQuerySM:
		c.s.query(c, h, octets, now)
		return
	case smpp.CommandCancelSM:
		c.s.cancel(c, h, octets, now)
		return
	case smpp.CommandReplaceSM:
		status = smpp.StatusReplaceFail
	default:
		c.out = appendEmptyPDU(c.out, smpp.CommandGenericNack, smpp.StatusInvCmdID, h.seq)
		return
	}
	c.out = appendEmptyPDU(c.out, h.command.Response(), status, h.seq)
}

// end takes the connection out of use: what is in its buffer is still written, what it left
// unacknowledged goes back to the outbox.
func (c *conn) end(event string, now time.Time) {
	if c.over {
		return
	}
	c.over, c.receives = true, false
	c.resumeReading()
	c.s.vacate(c, event, now)
	c.note(event, now)
	c.s.links = slices.DeleteFunc(c.s.links, func(l *conn) bool { return l == c })
	c.s.takeBack(c)
	c.wakeWriter()
}

// cut ends the connection in the manner of d; a is the answer at which it happens, or nil.
func (c *conn) cut(d Drop, a *answer, now time.Time) {
	if c.over {
		return
	}
	c.s.truth.add(Line{Type: LineLink, At: now, Conn: c.number, Event: "dropped", Drop: d})
	switch d {
	case DropReset:
		c.out = nil
		if tcp, ok := c.bare().(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // the connection may be gone already, which is as good
		}
		c.bare().Close()
	case DropMid:
		half := appendEmptyPDU(nil, smpp.CommandEnquireLink, smpp.StatusOK, c.sequence+1)
		if a != nil {
			half = a.append(nil)
		}
		c.out = append(c.out, half[:len(half)/2]...)
	}
	c.end("closed", now)
}

func (c *conn) wakeWriter() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// lingering is how long an ended connection waits for the ESME to close its side, so that what was
// written last is not lost with an RST.
const lingering = time.Second

// write moves what is in the buffer to the wire until the connection is over.
func (c *conn) write() {
	for range c.wake {
		c.s.mu.Lock()
		link := c.s.cfg.Link
		c.s.mu.Unlock()
		if link.Gather > 0 {
			time.Sleep(link.Gather)
		}
		c.s.mu.Lock()
		out, over := c.out, c.over
		c.out, c.spare = c.spare[:0], nil
		c.s.mu.Unlock()
		if c.push(out, link.Fragment) != nil {
			c.bare().Close() // the reader sees it and ends the connection
			return
		}
		if over {
			c.closeWrite()
			return
		}
		c.s.mu.Lock()
		c.spare = out
		c.s.mu.Unlock()
	}
}

// push writes octets in pieces of n, or whole.
func (c *conn) push(octets []byte, n int) error {
	if n <= 0 {
		n = len(octets)
	}
	for len(octets) > 0 {
		piece := octets[:min(n, len(octets))]
		if _, err := c.nc.Write(piece); err != nil {
			return err
		}
		octets = octets[len(piece):]
	}
	return nil
}

func (c *conn) closeWrite() {
	if t, ok := c.nc.(*tls.Conn); ok {
		_ = t.CloseWrite() // close_notify; the FIN below says the same to who never shook hands
	}
	tcp, ok := c.bare().(*net.TCPConn)
	if !ok || tcp.CloseWrite() != nil || tcp.SetReadDeadline(time.Now().Add(lingering)) != nil {
		c.nc.Close()
	}
}

// bare is the connection without its TLS.
func (c *conn) bare() net.Conn {
	if t, ok := c.nc.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c.nc
}
