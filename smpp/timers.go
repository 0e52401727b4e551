package smpp

import "time"

// silence decides when to ask whether the SMSC is still there. It is a value; all times are given.
type silence struct {
	limit time.Duration // 0: never asks
	heard time.Time     // when the last PDU came, or the session was bound
	asked bool          // an enquire_link is outstanding
}

func (s *silence) hear(now time.Time) { s.heard = now }

// next is when an enquire_link is due; zero for never.
func (s *silence) next() time.Time {
	if s.limit == 0 || s.asked {
		return time.Time{}
	}
	return s.heard.Add(s.limit)
}

// due says whether it is time for an enquire_link.
func (s *silence) due(now time.Time) bool {
	at := s.next()
	return !at.IsZero() && !at.After(now)
}

// earliest is the first of the times that are not zero; zero when all are.
func earliest(times ...time.Time) time.Time {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
