package statemachine

import "fmt"

// operator puts in what a person decided. What no longer holds is refused, with a reason for that person.
func (s *step) operator(o *Operator) error {
	s.by = o.By
	switch o.Action {
	case ActionReprocess:
		return s.reprocess(o)
	case ActionUndo:
		return s.undo(o)
	case ActionCancel:
		return s.cancel(o)
	case ActionDrop:
		return s.drop(o)
	case ActionHold, ActionRelease:
		return s.holdQueue(o)
	}
	about, err := s.subject(o)
	if err != nil || about == nil {
		return err
	}
	switch o.Action {
	case ActionDismiss:
		return s.dismiss(o, about)
	case ActionAssign:
		return s.assign(o, about)
	case ActionResend:
		return s.resend(o, about.x)
	case ActionNotSent:
		return s.notSent(o, about.x)
	case ActionAccepted:
		return s.saidAccepted(o, about.x)
	}
	return s.takeSecond(o, about.x)
}

// ends reports whether a person may end an exception of the kind so.
func (k ExceptionKind) ends(a Action) bool {
	switch a {
	case ActionDismiss:
		return true
	case ActionAssign:
		return k == KindAmbiguous || k == KindAddressMismatch || k == KindUnmatched
	case ActionResend, ActionNotSent:
		return k == KindInDoubt
	case ActionAccepted:
		return k == KindInDoubt || k == KindNoMessageID
	case ActionTake:
		return k == KindConflict
	}
	return false
}

// said tells who decided what and why, for people.
func (o *Operator) said() string {
	said := fmt.Sprintf("%s by %s", o.Action, o.By)
	if o.Reason != "" {
		said += ": " + o.Reason
	}
	return said
}

// ruling is what a part keeps of the decision.
func (s *step) ruling(o *Operator) Ruling {
	return Ruling{Action: o.Action, By: o.By, Reason: o.Reason, Seq: s.rec.Seq}
}

// subject is what a person decides about.
type subject struct {
	x   *Exception
	row *InboxRow // that it is about; nil: about none, or one that is gone
}

// subject finds what the record is about, an open exception of a kind that may be ended so. Nil, and the
// record without effect, when there is none.
func (s *step) subject(o *Operator) (*subject, error) {
	var about *subject
	var err error
	switch {
	case o.Exception != "":
		about, err = s.exceptionNamed(o.Exception)
	case o.Row != "":
		about, err = s.rowNamed(o)
	default:
		err = s.noEffect("it names nothing to decide about")
	}
	if err != nil || about == nil {
		return nil, err
	}
	if !about.x.Kind.ends(o.Action) {
		return nil, s.noEffect(fmt.Sprintf("%s is no answer to an exception of kind %s", o.Action, about.x.Kind))
	}
	return about, nil
}

const noException = "there is no such exception (any more)"

func (s *step) exceptionNamed(id string) (*subject, error) {
	x, err := s.view.Exception(id)
	switch {
	case err != nil:
		return nil, err
	case x == nil:
		return nil, s.noEffect(noException)
	case x.Status != StatusOpen:
		return nil, s.noEffect(fmt.Sprintf("%s is %s already: %s", x.ID, x.Status, x.Resolution.said()))
	}
	about := subject{x: x}
	if x.ofRow() {
		about.row, err = s.inboxRow(InboxKey(x.Group))
	}
	return &about, err
}

// rowNamed finds the exception of a row, or opens one: a row that nobody owns has none of its own.
func (s *step) rowNamed(o *Operator) (*subject, error) {
	row, err := s.inboxRow(o.Row)
	switch {
	case err != nil:
		return nil, err
	case row == nil:
		return nil, s.noEffect("the row is not in the inbox any more")
	case row.Dismissed != "" && o.Action == ActionDismiss:
		return nil, s.noEffect("the row was dismissed before, by " + row.Dismissed)
	}
	for _, kind := range [...]ExceptionKind{KindUnmatched, KindAmbiguous, KindAddressMismatch} {
		x, err := s.openException(kind, string(row.Key))
		if err != nil || x != nil {
			return &subject{x, row}, err
		}
	}
	kind, held := rowException(row.Why)
	if !held {
		kind = KindUnmatched
	}
	x := s.newException(matter{
		kind: kind, group: string(row.Key), smsc: row.SMSC, account: row.Account, reason: "no message was found that it belongs to",
	})
	x.Count, x.LastAt = uint64(len(row.Receptions)), s.rec.At
	for _, seq := range row.Receptions {
		x.note(seq)
	}
	return &subject{x, row}, nil
}

// ofRow reports whether the exception is about a row of the inbox, whose key is its group then. Where the
// rules say to flag addresses only, there is none.
func (x *Exception) ofRow() bool {
	switch x.Kind {
	case KindAmbiguous, KindUnmatched:
		return true
	case KindAddressMismatch:
		return x.Group != x.Account
	}
	return false
}

// conclude ends the exception by the person's decision.
func (s *step) conclude(o *Operator, x *Exception) error {
	status := StatusResolved
	if o.Action == ActionDismiss {
		status = StatusDismissed
	}
	return s.end(x, status, Resolution{Action: string(o.Action), By: o.By, Reason: o.Reason})
}

// ruled appends the decision that a person's record is for a part.
func (s *step) ruled(m *Message, part, attempt int, from, to State, o *Operator) {
	s.decide(m, Decision{
		Record: s.rec.Seq, Part: part, Attempt: attempt, By: ByOperator, ExternalID: o.MessageID, From: from, To: to, Why: o.said(),
	})
}

// dismiss takes that nothing is to be done. A row stays in the inbox, where a late id still finds it.
func (s *step) dismiss(o *Operator, about *subject) error {
	x := about.x
	if err := s.conclude(o, x); err != nil {
		return err
	}
	if about.row != nil {
		row := *about.row
		row.Dismissed = x.ID
		s.putRow(row.Key, &row)
	}
	if x.Message == "" {
		return nil
	}
	m, err := s.edit(x.Message)
	if err != nil || m == nil {
		return err
	}
	state := m.State
	if p := m.Part(x.Part); p != nil {
		state = p.State
	}
	s.ruled(m, x.Part, 0, state, state, o)
	return nil
}
