package smpptest

import (
	"errors"
	"slices"
	"time"

	"esmed/smpp"
)

// Truth is a copy of the ground truth so far; nil if it goes to Config.Truth.
func (s *Server) Truth() []Line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.truth.lines.all()
}

// Submits are all submits so far, in the order in which they came; nil if the truth goes to
// Config.Truth.
func (s *Server) Submits() []Submit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.submits.all()
}

// Flush writes out what the truth's writer still holds back.
func (s *Server) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.truth.flush()
}

// Drop cuts these connections now, by their numbers; all of them if none is named.
func (s *Server) Drop(d Drop, conns ...int) {
	s.turn(func(now time.Time) {
		for _, c := range s.chosen(conns) {
			c.cut(d, nil, now)
		}
	})
}

// Unbind sends unbind on these bound connections, or on all, which end when it is answered.
func (s *Server) Unbind(conns ...int) {
	s.turn(func(time.Time) {
		for _, c := range s.chosen(conns) {
			if c.bound && !c.unbinding {
				c.unbinding, c.receives = true, false
				c.out = appendEmptyPDU(c.out, smpp.CommandUnbind, smpp.StatusOK, c.takeSequence(Counting))
			}
		}
	})
}

// Silence makes these connections, or all, fall silent now, as Link.SilentAfter does.
func (s *Server) Silence(conns ...int) {
	s.turn(func(now time.Time) {
		for _, c := range s.chosen(conns) {
			if !c.silent {
				c.fallSilent(now)
			}
		}
	})
}

// StopReading takes nothing more in from these connections, or from all, so that what the ESME writes
// fills the buffers between them. What is written to the ESME goes on.
func (s *Server) StopReading(conns ...int) {
	s.turn(func(time.Time) {
		for _, c := range s.chosen(conns) {
			if c.stopped == nil {
				c.stopped = make(chan struct{})
			}
		}
	})
}

// ResumeReading ends what StopReading began.
func (s *Server) ResumeReading(conns ...int) {
	s.turn(func(time.Time) {
		for _, c := range s.chosen(conns) {
			c.resumeReading()
		}
	})
}

// chosen are the open connections of these numbers; all of them if none is named.
func (s *Server) chosen(conns []int) []*conn {
	links := slices.Clone(s.links)
	if len(conns) == 0 {
		return links
	}
	return slices.DeleteFunc(links, func(c *conn) bool { return !slices.Contains(conns, c.number) })
}

var errNoLink = errors.New("smpptest: no connection is open")

// WriteRaw writes octets as they are on the newest connection, whatever they are. The truth has a line
// for each whole PDU among them and one for the rest; it takes no notice of what answers them.
func (s *Server) WriteRaw(octets []byte) (err error) {
	return s.writeRaw(func(*conn) []byte { return octets })
}

// Outbind writes an outbind (SMPP v3.4 §4.1.7) on the newest connection. It has no answer.
func (s *Server) Outbind(systemID, password string) error {
	return s.writeRaw(func(c *conn) []byte {
		b := appendHeader(nil, smpp.CommandOutbind, smpp.StatusOK, c.takeSequence(Counting))
		return endPDU(appendCString(appendCString(b, systemID), password), 0)
	})
}

// AlertNotification writes an alert_notification (SMPP v3.4 §4.12.1) on the newest connection: the
// subscriber has become reachable for the ESME. It has no answer.
func (s *Server) AlertNotification(subscriber, esme Address) error {
	return s.writeRaw(func(c *conn) []byte {
		b := appendHeader(nil, smpp.CommandAlertNotification, smpp.StatusOK, c.takeSequence(Counting))
		b = appendAddress(appendAddress(b, subscriber), esme)
		return endPDU(appendTLV(b, smpp.TagMSAvailabilityStatus, 0), 0)
	})
}

func (s *Server) writeRaw(make func(*conn) []byte) (err error) {
	s.turn(func(now time.Time) {
		if len(s.links) == 0 {
			err = errNoLink
			return
		}
		c := s.links[len(s.links)-1]
		octets := make(c)
		c.out = append(c.out, octets...)
		for rest := octets; len(rest) > 0; {
			pdu := wholePDU(rest)
			rest = rest[len(pdu):]
			s.truth.add(Line{Type: LineDelivery, At: now, Kind: Raw, Conn: c.number, Length: len(pdu), Sum: sum(pdu), Sends: 1})
		}
	})
	return err
}

// wholePDU is the PDU at the front of b, or all of b if there is none.
func wholePDU(b []byte) []byte {
	if len(b) < headerLen {
		return b
	}
	if n := readHeader(b).length; n >= headerLen && n <= uint32(len(b)) {
		return b[:n]
	}
	return b
}
