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
	return slices.Clone(s.truth.lines)
}

// Submits are all submits so far, in the order in which they came; nil if the truth goes to
// Config.Truth.
func (s *Server) Submits() []Submit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.submits)
}

// Flush writes out what the truth's writer still holds back.
func (s *Server) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.truth.flush()
}

// Drop cuts all connections now.
func (s *Server) Drop(d Drop) {
	s.turn(func(now time.Time) {
		for _, c := range slices.Clone(s.links) {
			c.cut(d, nil, now)
		}
	})
}

// Unbind sends unbind on all bound connections, which end when it is answered.
func (s *Server) Unbind() {
	s.turn(func(time.Time) {
		for _, c := range s.links {
			if c.bound && !c.unbinding {
				c.unbinding, c.receives = true, false
				c.out = appendEmptyPDU(c.out, smpp.CommandUnbind, smpp.StatusOK, c.takeSequence(Counting))
			}
		}
	})
}

// Silence makes all connections fall silent now, as Link.SilentAfter does.
func (s *Server) Silence() {
	s.turn(func(now time.Time) {
		for _, c := range s.links {
			if !c.silent {
				c.fallSilent(now)
			}
		}
	})
}

var errNoLink = errors.New("smpptest: no connection is open")

// WriteRaw writes octets as they are on the newest connection, whatever they are. The truth has a line
// for each whole PDU among them and one for the rest; it takes no notice of what answers them.
func (s *Server) WriteRaw(octets []byte) (err error) {
	s.turn(func(now time.Time) {
		if len(s.links) == 0 {
			err = errNoLink
			return
		}
		c := s.links[len(s.links)-1]
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
