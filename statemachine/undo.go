package statemachine

import (
	"errors"
	"fmt"
	"slices"
)

// undo takes back what a person decided about an exception. The decision stays in the log; the message it
// concerned is folded again from its other records.
func (s *step) undo(o *Operator) error {
	x, was, err := s.undoable(o)
	if err != nil || x == nil {
		return err
	}
	decided := was.Fact.(*Operator)
	id := x.Message
	if decided.Action == ActionAssign {
		id = decided.Target.Message
	}
	if id == "" || !x.ofPart() && decided.Action == ActionDismiss || decided.Action == ActionAssign && !x.ofRow() {
		return s.reopen(o, x, was)
	}
	m, err := s.edit(id)
	switch {
	case err != nil:
		return err
	case m == nil:
		return s.noEffect(noMessage)
	case decided.Action == ActionResend && m.Part(x.Part).QueuedSeq != was.Seq:
		return s.noEffect("the part does not wait in the queue for that any more: it may have been sent again")
	}
	r, err := s.refoldWithout(m, was)
	if errors.Is(err, ErrGone) {
		return s.noEffect(notKept)
	}
	if err != nil {
		return err
	}
	return s.putBack(o, x, m, r)
}

const notKept = "not all that it rests on is kept any more"

// undoable finds the exception and the person's record that ended it. The exception is nil, and the record
// without effect, when there is nothing to take back.
func (s *step) undoable(o *Operator) (*Exception, Record, error) {
	x, err := s.view.Exception(o.Exception)
	switch {
	case err != nil:
		return nil, Record{}, err
	case x == nil:
		return nil, Record{}, s.noEffect(noException)
	case x.Status == StatusOpen || x.Resolution == nil:
		return nil, Record{}, s.noEffect(x.ID + " is open: nothing was decided about it that stands")
	}
	was, err := s.view.Record(x.Resolution.Seq)
	if errors.Is(err, ErrGone) {
		return nil, Record{}, s.noEffect(notKept)
	}
	if err != nil {
		return nil, Record{}, err
	}
	decided, ok := was.Fact.(*Operator)
	switch {
	case !ok || decided.Action == ActionReprocess || decided.Action == ActionUndo:
		return nil, Record{}, s.noEffect(fmt.Sprintf("%s ended by itself: %s", x.ID, x.Resolution.said()))
	case string(decided.Action) != x.Resolution.Action || decided.Exception != "" && decided.Exception != x.ID:
		about, err := s.decidedBy(was, decided)
		if err != nil {
			return nil, Record{}, err
		}
		return nil, Record{}, s.noEffect(fmt.Sprintf("%s ended with what record %d decided about %s: take that back", x.ID, was.Seq, about))
	}
	if !x.ofRow() {
		return x, was, nil
	}
	other, err := s.openException(x.Kind, x.Group)
	if err != nil {
		return nil, Record{}, err
	}
	if other != nil {
		return nil, Record{}, s.noEffect(fmt.Sprintf("%s is open about the same receipts by now: decide about that first", other.ID))
	}
	return x, was, nil
}

// decidedBy names the exception that a person's record decided. A row's own is not in the record: it is the
// one that the record opened, unless the row had one before.
func (s *step) decidedBy(was Record, decided *Operator) (string, error) {
	if decided.Exception != "" {
		return decided.Exception, nil
	}
	x, err := s.view.Exception(exceptionID(was.Seq, 0))
	if err != nil || x == nil {
		return "a receipt that waited", err
	}
	return x.ID, nil
}

// ofPart reports whether the exception is about a part and follows from what is known of that alone.
func (x *Exception) ofPart() bool {
	return x.Kind == KindConflict || x.Kind == KindInDoubt || x.Kind == KindNoMessageID
}

// takenBack tells who took back what, for people.
func takenBack(o *Operator, was Record) string {
	said := fmt.Sprintf("%s by %s of record %d (%s)", o.Action, o.By, was.Seq, was.Fact.(*Operator).said())
	if o.Reason != "" {
		said += ": " + o.Reason
	}
	return said
}

// reopen opens an exception again that a person dismissed, or confirmed, which changed nothing else.
func (s *step) reopen(o *Operator, x *Exception, was Record) error {
	if x.ofRow() {
		row, err := s.inboxRow(InboxKey(x.Group))
		if err != nil {
			return err
		}
		if row == nil || row.Dismissed != x.ID {
			return s.noEffect("the row that was dismissed is not in the inbox any more, or is held for something else")
		}
		shown := *row
		shown.Dismissed = ""
		s.putRow(row.Key, &shown)
	}
	other, err := s.openException(x.Kind, x.Group)
	if err != nil {
		return err
	}
	if other != nil {
		return s.noEffect(fmt.Sprintf("%s is open about the same by now", other.ID))
	}
	id, part := x.Message, max(1, x.Part)
	if decided := was.Fact.(*Operator); decided.Action == ActionAssign {
		id, part = decided.Target.Message, max(1, decided.Target.Part)
	}
	own := s.ownException(x)
	own.open(was.Seq)
	m, err := s.edit(id)
	if err != nil || m == nil {
		return err
	}
	if x.Message != "" {
		m.list(own)
	}
	s.decide(m, Decision{Record: was.Seq, Part: part, By: ByOperator, From: m.State, To: m.State, Why: takenBack(o, was)})
	return nil
}

// open makes an exception of the step's own open again, and forgets the record that had ended it.
func (x *Exception) open(ended uint64) {
	x.Status, x.Resolution = StatusOpen, nil
	x.forget(ended)
}

// discount takes a matter out of an exception of the step's own that counts several.
func (x *Exception) discount(record uint64) {
	x.Count--
	x.forget(record)
}

func (x *Exception) forget(record uint64) {
	x.Records = slices.DeleteFunc(slices.Clone(x.Records), func(seq uint64) bool { return seq == record })
}
