package statemachine

import (
	"time"

	"esmed/receipt"
)

// narrowing is one step by which several candidates become fewer. Each candidate is asked for its
// answer: if one agrees, those that agree are left; else those that do not refuse.
type narrowing uint8

// The steps in their order (DESIGN §4).
const (
	byEvent narrowing = iota
	byAddress
	byReference
	byDates
	byWindow
	narrowings
)

// narrowingNames are as in Decision.NarrowedBy.
var narrowingNames = [narrowings]string{"logical_event", "address", "user_message_reference", "dates", "window"}

// dateSlack is how much a receipt's done date may lie before our submit: clocks differ, and dates come
// without zone.
const dateSlack = 24 * time.Hour

// narrow takes candidates away until one is left, and names the step that left one; "" when there was
// only one, or when several are left or none.
func (s *step) narrow(e *evidence, left []candidate) ([]candidate, string) {
	if len(left) < 2 {
		return left, ""
	}
	for n := range narrowings {
		if left = s.keep(n, e, left); len(left) == 1 {
			return left, narrowingNames[n]
		}
	}
	return left, ""
}

func (s *step) keep(n narrowing, e *evidence, of []candidate) []candidate {
	answers := make([]Answer, len(of))
	want := Silent
	for i := range of {
		if answers[i] = s.ask(n, e, &of[i]); answers[i] == Agrees {
			want = Agrees
		}
	}
	var left []candidate
	for i := range of {
		if answers[i] == want || want == Silent && answers[i] != Refuses {
			left = append(left, of[i])
		}
	}
	return left
}

func (s *step) ask(n narrowing, e *evidence, c *candidate) Answer {
	switch n {
	case byEvent:
		return s.askEvent(e, c)
	case byAddress:
		return s.askAddress(e, c)
	case byReference:
		return s.askReference(e, c)
	case byDates:
		return s.askDates(e, c)
	}
	return s.askWindow(e, c)
}

// askEvent: one that already knows this logical event is its owner.
func (s *step) askEvent(e *evidence, c *candidate) Answer {
	if c.knows(e.event) {
		return Agrees
	}
	return Silent
}

// askAddress uses the address check unless the SMSC's addresses mean nothing.
func (s *step) askAddress(e *evidence, c *candidate) Answer {
	if e.rules.Receipt.AddressCheck == receipt.AddressOff {
		return Silent
	}
	return c.m.checkAddress(e)
}

// askReference compares the echoed user_message_reference with what the attempts were sent with.
func (s *step) askReference(e *evidence, c *candidate) Answer {
	echoed := e.receipt.UserMessageRef
	if !e.rules.Receipt.UserMessageReference || echoed == nil {
		return Silent
	}
	return c.all(func(a *Attempt) Answer {
		switch a.UserMessageReference {
		case 0:
			return Silent
		case *echoed:
			return Agrees
		}
		return Refuses
	})
}

// askDates: what was done more than a day before our submit is not about it.
func (s *step) askDates(e *evidence, c *candidate) Answer {
	if e.reported.IsZero() {
		return Silent
	}
	return c.all(func(a *Attempt) Answer {
		if e.reported.Wall.Before(a.At.Add(-dateSlack)) {
			return Refuses
		}
		return Silent
	})
}

// askWindow: nothing is waited for any more after the window.
func (s *step) askWindow(e *evidence, c *candidate) Answer {
	rules := s.smsc(c.m.SMSC)
	return c.all(func(a *Attempt) Answer {
		if end := c.m.WindowEnd(a, rules); !end.IsZero() && !e.at.Before(end) {
			return Refuses
		}
		return Silent
	})
}

// all asks about each attempt that fits: the candidate agrees if one does, and refuses if all do.
func (c *candidate) all(ask func(*Attempt) Answer) Answer {
	refusals := 0
	for _, ref := range c.refs {
		a := c.m.attempt(ref)
		if a == nil {
			continue
		}
		switch ask(a) {
		case Agrees:
			return Agrees
		case Refuses:
			refusals++
		}
	}
	if refusals == len(c.refs) {
		return Refuses
	}
	return Silent
}

// checkAddress is CheckAddress for the message: its destination in E.164 form where there is one.
func (m *Message) checkAddress(e *evidence) Answer {
	return CheckAddress(m.Source.Addr, m.destination(), e.receipt.Source, e.receipt.Dest)
}

// destination is what tells submits to the same destination: the E.164 form, else the address as sent.
func (m *Message) destination() string {
	if m.E164 != "" {
		return m.E164
	}
	return m.Dest.Addr
}
