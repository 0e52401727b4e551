package statemachine

import (
	"slices"
	"strings"
	"time"

	"esmed/receipt"
)

// narrowing is one step by which several candidates become fewer. Each candidate is asked for its
// answer: if one agrees, those that agree are left; else those that do not refuse.
type narrowing []question

// question is what a candidate is asked.
type question uint8

const (
	aboutEvent question = iota
	aboutAddress
	aboutReference
	aboutDates
	aboutWindow
)

// questionNames are as in Decision.NarrowedBy.
var questionNames = [...]string{"logical_event", "address", "user_message_reference", "dates", "window"}

// narrowings are the steps in their order (DESIGN §4).
var narrowings = [...]narrowing{{aboutEvent}, {aboutAddress, aboutReference}, {aboutDates}, {aboutWindow}}

// dateSlack is how much a receipt's done date may lie before our submit: clocks differ, and dates come
// without zone.
const dateSlack = 24 * time.Hour

// narrow takes candidates away until one is left or none, and names what did; "" when there was only one,
// or when several are left.
func (s *step) narrow(e *evidence, left []candidate) ([]candidate, string) {
	if len(left) < 2 {
		return left, ""
	}
	for _, n := range narrowings {
		var by string
		if left, by = s.keep(n, e, left); len(left) < 2 {
			return left, by
		}
	}
	return left, ""
}

// keep takes a step and names the questions whose answers told the candidates apart.
func (s *step) keep(n narrowing, e *evidence, of []candidate) (left []candidate, by string) {
	answers := make([]Answer, len(of))
	var told []string
	for _, q := range n {
		differ := false
		first := s.ask(q, e, &of[0])
		for i := range of {
			answer := s.ask(q, e, &of[i])
			differ = differ || answer != first
			answers[i] = max(answers[i], answer) // one refusal is enough
		}
		if differ {
			told = append(told, questionNames[q])
		}
	}
	want := slices.Contains(answers, Agrees)
	for i := range of {
		if answers[i] == Agrees || !want && answers[i] == Silent {
			left = append(left, of[i])
		}
	}
	return left, strings.Join(told, "+")
}

func (s *step) ask(q question, e *evidence, c *candidate) Answer {
	switch q {
	case aboutEvent:
		return s.askEvent(e, c)
	case aboutAddress:
		return s.askAddress(e, c)
	case aboutReference:
		return s.askReference(e, c)
	case aboutDates:
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

// askDates: what was done more than a day before our submit is not about it, nor what we had before it left.
func (s *step) askDates(e *evidence, c *candidate) Answer {
	return c.all(func(a *Attempt) Answer {
		if e.before(a) || e.seq < a.Seq {
			return Refuses
		}
		return Silent
	})
}

// before reports whether what the evidence reports was done before the attempt was made.
func (e *evidence) before(a *Attempt) bool {
	return !e.reported.IsZero() && e.reported.Wall.Before(a.At.Add(-dateSlack))
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
