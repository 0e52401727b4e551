package command

import (
	"context"
	"fmt"
	"slices"

	"esmed/cmd/esmed/internal/control"
)

// restored is the cause of a doubt that began with a backup (statemachine.AttemptInDoubt).
const restored = "restored"

const (
	// maxHistory is of how many receptions a story reads the records; of messages with more it gives counts.
	maxHistory = 500
	// maxTold is how many of them it tells one by one.
	maxTold = 12
)

// narrator tells the stories of messages.
type narrator struct {
	ctx context.Context
	c   *control.Client
	o   output
	err error // what kept it from telling

	queues []control.Queue // nil while nobody asked
}

// narrate tells the story of each message.
func (n *narrator) narrate(ms []control.Message) {
	for i, m := range ms {
		if i > 0 {
			n.o.printf("\n")
		}
		s := story{output: n.o, m: m}
		if m.Receptions.Receipts <= maxHistory && n.err == nil {
			s.events, n.err = n.c.MessageEvents(n.ctx, m.ID)
		}
		if m.State == "QUEUED" {
			s.waits = n.waits(&m)
		}
		s.tell()
	}
}

// story is what is known of one message; events are its records, none when there are too many.
type story struct {
	output
	m      control.Message
	events []control.Event
	waits  string // what it waits for in its queue; "" = it does not
}

func (s *story) tell() {
	m := &s.m
	s.printf("Message %s to %s from %s\n", clean(m.ID), clean(m.To), or(m.Source.Addr, "the SMSC's own sender"))
	s.printf("State   %s, %s\n", s.state(m.State), firmness(m, s.reporter()))
	if len(m.Parts) > 1 {
		s.printf("Parts   %d: %s\n", len(m.Parts), s.partStates(m.Parts))
	}
	s.printf("Because %s\n", or(m.Reason, "nothing has happened to it yet"))
	if s.waits != "" {
		s.printf("Waits   %s\n", s.waits)
	}
	if m.MaybeDoubled {
		s.printf("        More than one attempt may have arrived: the recipient may have it twice.\n")
	}
	s.printf("\nWhat was asked\n")
	s.item(clock(m.AcceptedAt), "accepted by us for %s%s; %s", clean(m.SMSC), withRef(m.Ref), receiptAsked(m.RegisteredDelivery))
	s.submits()
	s.reported()
	s.others()
	s.decided()
	for _, x := range m.Exceptions {
		s.printf("\nTo be decided: exception %s (esmed exceptions show %s)\n", clean(x), clean(x))
	}
	s.printf("\nRecord by record: esmed events %s\n", clean(m.ID))
}

// item is a line of a story's section.
func (s *story) item(at, format string, args ...any) {
	s.printf("  %-24s  %s\n", at, fmt.Sprintf(format, args...))
}

// reporter is the SMSC that the deciding receipt came from: another one than the message went to where
// several share an account.
func (s *story) reporter() string {
	if r := s.m.Receipt; r != nil {
		if e, _ := s.reception(r.Record); e != nil && e.SMSC != "" {
			return e.SMSC
		}
	}
	return s.m.SMSC
}

func firmness(m *control.Message, reporter string) string {
	switch {
	case m.Final && m.Basis == "receipt":
		return "final: reported by " + clean(reporter)
	case m.Final && m.Basis == "query_sm":
		return "final: " + clean(m.SMSC) + " answered so when asked"
	case m.Final && m.Basis == "submit_sm_resp":
		return "final: refused by " + clean(m.SMSC)
	case m.Final && m.Basis == "expiry":
		return "final: expired in our queue"
	case m.Final && m.Basis == "operator":
		return "final: decided by an operator"
	case m.Final:
		return "final"
	case m.Closed:
		return "closed: a report that still comes counts"
	}
	return "not final"
}

func withRef(ref string) string {
	if ref == "" {
		return ""
	}
	return ", ref " + quote(ref)
}

// receiptAsked reads registered_delivery (SMPP v3.4 §5.2.17).
func receiptAsked(octet int) string {
	asked := [...]string{"no receipt was asked for", "a final receipt was asked for", "a receipt was asked for failure only", "a receipt was asked for success only"}[octet&0x03]
	if octet&0x10 != 0 {
		asked += ", and intermediate notifications"
	}
	return asked
}

// submits tells each attempt and its answer. The answer that the SMSC accepted the message with has a line,
// as it has a time and a record of its own.
func (s *story) submits() {
	m := &s.m
	s.printf("\nWhat was sent, and what %s answered\n", clean(m.SMSC))
	accepted, sent := m.Acceptance, false
	told, rest := toldParts(m)
	for _, p := range told {
		for _, a := range p.Attempts {
			sent = true
			what := fmt.Sprintf("attempt %d", a.Attempt)
			if len(m.Parts) > 1 {
				what = fmt.Sprintf("part %d, attempt %d", p.Part, a.Attempt)
			}
			what += leftWords(a)
			if accepted == nil || a.CommandStatus != accepted.CommandStatus || a.MessageID != accepted.MessageID {
				s.item(clock(a.At), "%s: %s", what, s.answered(p.Part, a))
				continue
			}
			if accepted.CommandStatus == "" {
				s.item(clock(a.At), "%s: %s", what, s.answered(p.Part, a))
				s.item(clock(accepted.At), "an operator said that %s accepted it as %s (record %d)", clean(m.SMSC), quote(a.MessageID), accepted.Record)
			} else {
				s.item(clock(a.At), "%s", what)
				s.item(clock(accepted.At), "%s accepted it with %s (record %d)", clean(m.SMSC), s.answered(p.Part, a), accepted.Record)
				s.learnt(a, accepted.Record)
			}
			accepted = nil
		}
	}
	if !sent {
		s.item("-", "nothing was sent yet")
	}
	if len(rest) > 0 {
		s.item("...", "and %s more: %s", plural(len(rest), "part"), s.partStates(rest))
	}
}

// learnt tells how the id of an attempt became known that was answered without one.
func (s *story) learnt(a control.Attempt, answer uint64) {
	if !s.withoutID(answer, a) {
		return
	}
	for _, e := range slices.Backward(s.events) {
		if o := e.Operator; o != nil && o.Action == "accepted" && o.MessageID == a.MessageID {
			s.item(clock(e.At), "an operator said that its message_id is %s (record %d)", quote(a.MessageID), e.Seq)
			return
		}
	}
	s.item("", "its message_id %s was learnt from a report", quote(a.MessageID))
}

// withoutID reports whether the SMSC's answer, that record, had no message_id although one is known by now.
func (s *story) withoutID(answer uint64, a control.Attempt) bool {
	e, _ := s.reception(answer)
	return a.MessageID != "" && e != nil && e.Type == "submit_resp" && givenID(*e) == ""
}

// leftWords says where an attempt left. That of a store which begins anew from a backup may have left elsewhere,
// since the backup was made.
func leftWords(a control.Attempt) string {
	if a.Session == "" {
		return " may have left after the backup was made that this store was restored from"
	}
	return fmt.Sprintf(" left on %s, sequence_number %d", clean(a.Session), a.SequenceNumber)
}

// answered says what is known of the answer to an attempt.
func (s *story) answered(part int, a control.Attempt) string {
	switch {
	case s.m.Acceptance != nil && a.MessageID == s.m.Acceptance.MessageID && s.withoutID(s.m.Acceptance.Record, a):
		return clean(a.CommandStatus) + " and no message_id"
	case a.CommandStatus != "" && a.MessageID != "":
		return clean(a.CommandStatus) + ", message_id " + quote(a.MessageID)
	case a.CommandStatus != "":
		return clean(a.CommandStatus)
	}
	words := "no answer is known"
	for _, e := range s.events {
		if e.Type == "in_doubt" && e.Part == part && e.Attempt == a.Attempt {
			words = lostWords(e.Detail, e.Seq)
		}
	}
	return words
}

// lostWords says why no answer to an attempt is known.
func lostWords(cause string, record uint64) string {
	if cause == restored {
		return fmt.Sprintf("no answer is known here (restored, record %d)", record)
	}
	return fmt.Sprintf("its answer was lost (%s, record %d)", clean(cause), record)
}

func (s *story) reported() {
	m := &s.m
	s.printf("\nWhat %s reported\n", clean(s.reporter()))
	r := m.Receipt
	if r == nil {
		s.item("-", "%s", unreported(m))
		return
	}
	e, d := s.reception(r.Record)
	words := reportedWords(r, e)
	if d != nil && len(m.Parts) > 1 {
		words = fmt.Sprintf("part %d: %s", d.Part, words)
	}
	if e != nil {
		words += onSession(*e)
	}
	s.item(clock(r.At), "%s (record %d)", words, r.Record)
	if d != nil && d.Correlation == "matched" {
		s.item("", "%s", foundWords(*d))
	}
	if r.DoneDate != "" {
		s.item("", "done %s by its own clock", clean(r.DoneDate))
	}
	if m.Verification == nil {
		s.item("", "nothing but its report says so: no independent verification")
		return
	}
	s.item(clock(m.Verification.At), "independent verification: %s (record %d)", clean(m.Verification.Result), m.Verification.Record)
}

// reception finds a record that was received, and the decision about it that stands; nil where the story has
// no records.
func (s *story) reception(seq uint64) (received *control.Event, stands *control.Decision) {
	for i := range s.events {
		e := &s.events[i]
		if e.Seq == seq {
			received = e
		}
		for j := range e.Decisions {
			if d := &e.Decisions[j]; d.Record == seq && d.Verdict != "" {
				stands = d
			}
		}
	}
	return received, stands
}

// unreported says why there is no report, where that is no wonder.
func unreported(m *control.Message) string {
	switch {
	case m.Receptions.Receipts > 0:
		return "nothing that counts"
	case m.State == "FAILED":
		return "nothing, as it has no such message"
	case m.RegisteredDelivery&0x03 == 0:
		return "nothing, as no receipt was asked for"
	}
	return "nothing yet"
}

// reportedWords say what r says; e, the event that it came in, has the rules' word for its error code.
func reportedWords(r *control.MessageReceipt, e *control.Event) string {
	words := or(r.RawStat, "no word in its text")
	if r.MessageState != nil {
		words += fmt.Sprintf(", message_state %d", *r.MessageState)
	}
	word := ""
	if e != nil && e.Receipt != nil {
		word = e.Receipt.ErrWord
	}
	if r.Err != "" {
		words += ", " + errWords(r.Err, word)
	}
	return words
}

// others tells what else was received for the message, and why it did not count.
func (s *story) others() {
	n := s.m.Receptions
	if n.Duplicate+n.Repeat+n.Late+n.Stale+n.Unordered+n.Noted+n.Conflict == 0 {
		return
	}
	s.printf("\nWhat was received and did not count\n")
	told := 0
	for _, e := range s.events {
		if e.Type != "reception" && e.Type != "query_resp" || told == maxTold {
			continue
		}
		_, d := s.reception(e.Seq)
		if d == nil || d.Verdict == "applied" {
			continue
		}
		told++
		s.item(clock(e.At), "%s%s (record %d)", otherWords(e), onSession(e), e.Seq)
		s.item("", "%s", withWhy(verdictWords(*d), d.Why))
	}
	if told == 0 || n.Receipts > told+1 {
		s.counts()
	}
}

// otherWords say what a reception said, in the SMSC's words.
func otherWords(e control.Event) string {
	switch {
	case e.Type == "query_resp":
		return "answer to query_sm: " + clean(e.Detail)
	case e.Receipt == nil:
		return "something that delivers nothing"
	}
	words := or(e.Receipt.RawStat, or(e.Receipt.State.String(), "no state"))
	if e.Receipt.Err != "" {
		words += ", " + errWords(e.Receipt.Err, e.Receipt.ErrWord)
	}
	return words
}

// counts says how many receptions came to what.
func (s *story) counts() {
	n := s.m.Receptions
	for _, x := range []struct {
		n   int
		why string
	}{
		{n.Duplicate, "duplicate: the same event, received again"},
		{n.Repeat, "repeat: the state that it has already"},
		{n.Late, "late: an intermediate report after its end"},
		{n.Stale, "stale: older than what had been reported"},
		{n.Unordered, "unordered: no telling whether it is newer"},
		{n.Noted, "noted: names no state that could count"},
		{n.Conflict, "conflict: another final state than the one it has"},
	} {
		if x.n > 0 {
			s.item(fmt.Sprintf("%d of %d", x.n, n.Receipts), "%s", x.why)
		}
	}
}

// decided tells what persons decided about the message, what was taken back too, and what its SMSC answered
// to an order of theirs.
func (s *story) decided() {
	first := true
	for _, e := range s.events {
		words := ""
		switch {
		case e.Operator != nil && e.Operator.Action != "reprocess":
			words = operatorWords(e)
		case e.Type == "cancel_resp":
			words = eventWords(e)
		default:
			continue
		}
		if first {
			s.printf("\nWhat was decided by hand\n")
			first = false
		}
		s.item(clock(e.At), "%s (record %d)", words, e.Seq)
	}
}
