package statemachine

import "slices"

// edited is a message that a step changes.
type edited struct {
	now   *Message
	was   *Message // as it was, but for its attempts and events; nil when the step made it
	tally Tally    // of what it was
	saved saved
}

// saved is what an edited message was that is edited in place.
type saved struct {
	message  Message // but for its Parts, which are the copies
	own      []Part  // the message's own
	parts    []Part  // copies
	attempts []Attempt
	events   []Event
}

// maxEdits is how many edited messages a step keeps room of. Few records change more.
const maxEdits = 8

// message is the message as the step left it so far, nil when there is none.
func (s *step) message(id ID) (*Message, error) {
	if x := s.editing(id); x != nil {
		return x.now, nil
	}
	m, _, err := s.view.Message(id)
	return m, err
}

// editing is nil while the step does not change the message.
func (s *step) editing(id ID) *edited {
	for _, x := range s.edited {
		if x.now.ID == id {
			return x
		}
	}
	return nil
}

// edit gives a message that the step may change, with its parts and their attempts and events; nil when there is none.
// Exceptions is replaced, never modified.
func (s *step) edit(id ID) (*Message, error) {
	if x := s.editing(id); x != nil {
		return x.now, nil
	}
	m, own, err := s.view.Message(id)
	if err != nil || m == nil {
		return nil, err
	}
	x := s.newEdit()
	x.tally = m.Tally()
	if own {
		x.now, x.was = m, x.saved.save(m)
	} else {
		x.now, x.was = m.copied(), m
	}
	return x.now, nil
}

// made takes a message that the step made.
func (s *step) made(m *Message) {
	x := s.newEdit()
	x.now, x.was, x.tally = m, nil, Tally{}
}

// newEdit gives one more, whose fields are those of an earlier one.
func (s *step) newEdit() *edited {
	if n := len(s.edited); n < cap(s.edited) {
		if s.edited = s.edited[:n+1]; s.edited[n] != nil {
			return s.edited[n]
		}
		s.edited = s.edited[:n]
	}
	x := new(edited)
	s.edited = append(s.edited, x)
	return x
}

// save keeps the message and gives what it is.
func (s *saved) save(m *Message) *Message {
	s.message, s.own = *m, m.Parts
	s.parts = append(s.parts[:0], m.Parts...)
	s.message.Parts = s.parts
	s.attempts, s.events = s.attempts[:0], s.events[:0]
	for i := range m.Parts {
		s.attempts = append(s.attempts, m.Parts[i].Attempts...)
		s.events = append(s.events, m.Parts[i].Events...)
	}
	return &s.message
}

// takeBack makes the messages that were edited in place what they were.
func (s *step) takeBack() {
	for _, x := range s.edited {
		if x.was == &x.saved.message {
			x.saved.restore(x.now)
		}
	}
}

func (s *saved) restore(m *Message) {
	*m = s.message
	m.Parts = s.own
	copy(m.Parts, s.parts)
	attempts, events := s.attempts, s.events
	for i := range m.Parts {
		p := &m.Parts[i]
		attempts = attempts[copy(p.Attempts, attempts):]
		events = events[copy(p.Events, events):]
	}
}

// single is a message of one part that was sent once at most, in one piece: one of 1 KiB, the size of a class of the
// allocator's.
type single struct {
	message Message
	part    [1]Part
	attempt [1]Attempt
}

// copied gives a copy that shares no parts, attempts and events with m.
func (m *Message) copied() *Message {
	if len(m.Parts) == 1 && len(m.Parts[0].Attempts) <= 1 {
		return m.copiedSingle()
	}
	c := *m
	c.Parts = slices.Clone(m.Parts)
	for i := range c.Parts {
		p := &c.Parts[i]
		p.Attempts, p.Events = slices.Clone(p.Attempts), slices.Clone(p.Events)
	}
	return &c
}

func (m *Message) copiedSingle() *Message {
	c := &single{message: *m, part: [1]Part{m.Parts[0]}}
	c.message.Parts = c.part[:]
	p := &c.part[0]
	if len(p.Attempts) == 1 {
		c.attempt[0] = p.Attempts[0]
		p.Attempts = c.attempt[:]
	}
	p.Events = slices.Clone(p.Events)
	return &c.message
}

// newMessage gives an empty message with its parts.
func newMessage(parts int) *Message {
	if parts == 1 {
		c := new(struct {
			message Message
			part    [1]Part
		})
		c.message.Parts = c.part[:]
		return &c.message
	}
	return &Message{Parts: make([]Part, parts)}
}
