package smpptest

import (
	"time"

	"esmed/smpp"
)

// bind takes a bind_transmitter, bind_receiver or bind_transceiver (SMPP v3.4 §4.1).
func (s *Server) bind(c *conn, h header, octets []byte, now time.Time) {
	b := body{rest: octets}
	systemID, password := b.cstring(), b.cstring()
	s.binds++
	if cfg := s.cfg.Bind; cfg.IgnoreFirst < 0 || s.binds <= cfg.IgnoreFirst {
		c.note("unanswered", now)
		return
	}
	status := s.admitBind(c, systemID, password, b.bad)
	if status != smpp.StatusOK {
		c.out = appendEmptyPDU(c.out, h.command.Response(), status, h.seq)
		s.truth.add(Line{Type: LineLink, At: now, Conn: c.number, Event: "refused", Status: status.String()})
		return
	}
	c.bound, c.systemID, c.sends = true, systemID, h.command != smpp.CommandBindReceiver
	s.seats[systemID]++
	receives := h.command != smpp.CommandBindTransmitter
	if receives {
		s.unpark()
	}
	if receives && s.cfg.Bind.DeliverFirst {
		c.receives = true
		s.deliverSomething(c, now)
	}
	start := len(c.out)
	c.out = appendCString(appendHeader(c.out, h.command.Response(), smpp.StatusOK, h.seq), "smscsim")
	c.out = endPDU(appendTLV(c.out, smpp.TagSCInterfaceVersion, 0x34), start)
	c.receives = receives
	c.note("bound", now)
	s.enquire(c, now)
}

func (s *Server) admitBind(c *conn, systemID, password string, bad bool) smpp.Status {
	cfg := s.cfg.Bind
	switch {
	case c.bound:
		return smpp.StatusAlyBnd
	case bad:
		return smpp.StatusInvCmdLen
	case cfg.Refuse != smpp.StatusOK && (cfg.RefuseFirst == 0 || s.binds <= cfg.RefuseFirst):
		return cfg.Refuse
	case s.cfg.SystemID != "" && s.cfg.SystemID != systemID:
		return smpp.StatusInvSysID
	case s.cfg.Password != "" && s.cfg.Password != password:
		return smpp.StatusInvPaswd
	case cfg.AtMost > 0 && s.seats[systemID] >= cfg.AtMost:
		return smpp.StatusAlyBnd
	}
	return smpp.StatusOK
}

// vacate ends a bind, at once or when the SMSC finds out that its connection is gone.
func (s *Server) vacate(c *conn, event string, now time.Time) {
	free := func(time.Time) { s.seats[c.systemID]-- }
	switch linger := s.cfg.Bind.Linger; {
	case !c.bound:
	case linger > 0 && event != "unbound":
		s.after(linger, now, due{tick: free})
	default:
		free(now)
	}
}

// deliverSomething writes what waits, or an MO message if nothing does.
func (s *Server) deliverSomething(c *conn, now time.Time) {
	if s.box.ready.len() == 0 {
		d := message(&Submit{Dest: Address{Addr: "447700900123", TON: 1, NPI: 1}, Source: Address{Addr: "15550100", TON: 1, NPI: 1}}, []byte("Hello"))
		d.Kind = MO
		dl := s.admit(d)
		dl.pdu = d.append(dl.pdu)
		s.box.ready.pushBack(dl)
	}
	for s.box.ready.len() > 0 && c.hasRoom(&s.cfg.Traffic) {
		s.send(c, s.box.ready.pop(), now)
	}
}

// enquire sends an enquire_link on a bound connection, again and again.
func (s *Server) enquire(c *conn, now time.Time) {
	every := s.cfg.Traffic.EnquireLink
	if every <= 0 || c.over {
		return
	}
	s.after(every, now, due{tick: func(now time.Time) {
		if c.over {
			return
		}
		if !c.silent {
			c.out = appendEmptyPDU(c.out, smpp.CommandEnquireLink, smpp.StatusOK, c.takeSequence(s.cfg.Traffic.Sequence))
		}
		s.enquire(c, now)
	}})
}
