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

// WriteRaw writes octets as they are on the newest connection, whatever they are.
func (s *Server) WriteRaw(octets []byte) (err error) {
	s.turn(func(now time.Time) {
		if len(s.links) == 0 {
			err = errNoLink
			return
		}
		c := s.links[len(s.links)-1]
		c.out = append(c.out, octets...)
		s.truth.add(Line{Type: LineDelivery, At: now, Kind: Raw, Conn: c.number, Length: len(octets), Sum: sum(octets), Sends: 1})
	})
	return err
}
