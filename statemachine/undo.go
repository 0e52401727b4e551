package statemachine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"esmed/receipt"
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
		return nil, Record{}, s.noEffect(fmt.Sprintf("%s ended by itself: %s of %s, record %d", x.ID, x.Resolution.Action, x.Resolution.By, was.Seq))
	case string(decided.Action) != x.Resolution.Action || decided.Exception != "" && decided.Exception != x.ID:
		return nil, Record{}, s.noEffect(fmt.Sprintf("%s ended with what record %d decided about %s: take that back", x.ID, was.Seq, decided.Exception))
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

// putBack puts a message that was folded again in the place of what it was.
func (s *step) putBack(o *Operator, x *Exception, m *Message, r *refold) error {
	was, now := *m, r.now()
	s.requeueAs(m, now)
	freed, err := s.reindexAs(m, now, r)
	if err != nil {
		return err
	}
	m.Parts, m.Counts = now.Parts, now.Counts
	m.SubmittedAt, m.FinalisedAt = now.SubmittedAt, now.FinalisedAt
	s.refolded = m.ID
	for i := range m.Parts {
		from, to := was.Parts[i].State, m.Parts[i].State
		if from != to || i+1 == x.Part || x.Part == 0 && i+1 == max(1, r.without.Fact.(*Operator).Target.Part) {
			s.decide(m, Decision{Record: r.without.Seq, Part: i + 1, By: ByOperator, From: from, To: to, Why: takenBack(o, r.without)})
		}
	}
	s.tellAgain(m, r)
	for i := range m.Parts {
		for _, kind := range [...]ExceptionKind{KindConflict, KindInDoubt, KindNoMessageID} {
			if err := s.openAs(x, kind, m, i+1, r); err != nil {
				return err
			}
		}
	}
	if err := s.part(x, m, r); err != nil {
		return err
	}
	return s.wakeAround(m, freed)
}

// wakeAround has the rows judged again that may see another message now: those that wait for its ids, or for one
// that it no longer has, and those that waited because it was closed.
func (s *step) wakeAround(m *Message, freed []receipt.Key) error {
	keys := freed
	for _, entry := range m.Reindex(s.smsc(m.SMSC)) {
		keys = append(keys, entry.Key)
	}
	if err := s.wakeKeys(m.Account, keys); err != nil {
		return err
	}
	rows, err := s.view.HeldFor(m.Account, m.destination())
	if err != nil {
		return err
	}
	return s.wake(rows...)
}

// requeueAs makes queue and list of unanswered attempts follow from the message as it is folded again.
func (s *step) requeueAs(m, now *Message) {
	for i := range m.Parts {
		old, p := &m.Parts[i], &now.Parts[i]
		if old.QueuedSeq == p.QueuedSeq && old.NotBefore.Equal(p.NotBefore) {
			continue
		}
		s.dequeue(m, old)
		if p.Queued() {
			s.enqueue(m, p)
		}
	}
}

// reindexAs makes the index follow from the ids that the message's attempts have as it is folded again, and
// gives the keys that an attempt is not found by any more.
func (s *step) reindexAs(m, now *Message, r *refold) ([]receipt.Key, error) {
	var freed []receipt.Key
	for i := range m.Parts {
		for j := range m.Parts[i].Attempts {
			old, a := &m.Parts[i].Attempts[j], &now.Parts[i].Attempts[j]
			if old.MessageID == a.MessageID && slices.Equal(s.keys(m, old), s.keys(m, a)) {
				continue
			}
			ref := AttemptRef{Message: m.ID, Part: i + 1, Attempt: j + 1}
			former, kept := r.keysOf(m.SMSC, old), r.keysOf(m.SMSC, a)
			s.unindex(m.Account, former, kept, ref)
			s.index(m.Account, s.keys(m, a), ref)
			freed = append(freed, former...)
			if err := s.unduplicate(m, ref, old.MessageID, r.without.Seq); err != nil {
				return nil, err
			}
		}
	}
	return freed, nil
}

// keysOf are the forms under which an attempt was found by its id, under all rules that were in force when
// anything was decided about its message.
func (r *refold) keysOf(smsc string, a *Attempt) []receipt.Key {
	var keys []receipt.Key
	for _, seq := range r.rulesSeqs() {
		s := step{rules: r.rulesBy[seq]}
		for _, key := range a.keys(&s.smsc(smsc).Receipt) {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (r *refold) rulesSeqs() []uint64 {
	seqs := make([]uint64, 0, len(r.rulesBy))
	for seq := range r.rulesBy {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}

// unduplicate takes an attempt out of the exception that it was given an id which others have too.
func (s *step) unduplicate(m *Message, ref AttemptRef, id string, without uint64) error {
	x, err := s.openException(KindDuplicateMessageID, m.Account+"/"+id)
	if err != nil || x == nil || !slices.Contains(x.Candidates, ref) {
		return err
	}
	x = s.ownException(x)
	x.Candidates = slices.DeleteFunc(slices.Clone(x.Candidates), func(other AttemptRef) bool { return other == ref })
	x.discount(without)
	if len(x.Candidates) > 1 {
		return nil
	}
	return s.end(x, StatusResolved, Resolution{Action: string(ActionUndo), By: s.by})
}

// tellAgain appends decisions about the receptions that count for something else than what was decided last.
func (s *step) tellAgain(m *Message, r *refold) {
	last := map[judged]Verdict{}
	for _, d := range r.history {
		if d.Correlation == Matched {
			last[judged{d.Record, d.Part}] = d.Verdict
		}
	}
	var again []Decision
	for key, d := range r.stands {
		if d.Verdict != last[key] {
			again = append(again, d)
		}
	}
	slices.SortFunc(again, func(a, b Decision) int {
		return cmp.Or(cmp.Compare(a.Record, b.Record), cmp.Compare(a.Part, b.Part))
	})
	for _, d := range again {
		s.decide(m, d)
	}
}

// openAs makes the exception of a kind about a part be as that of the message that was folded again. x is the
// one that is to be open again, if anything is still to be decided about it.
func (s *step) openAs(x *Exception, kind ExceptionKind, m *Message, part int, r *refold) error {
	group := partGroup(m, part)
	open, err := s.openException(kind, group)
	if err != nil {
		return err
	}
	then := r.newest(kind, group)
	asked := x.Kind == kind && x.Group == group
	if asked && then == nil {
		return s.noEffect("nothing of it is left to decide")
	}
	if then == nil || then.Status != StatusOpen {
		if asked {
			own := s.ownException(x)
			own.Status, own.Resolution = then.Status, then.Resolution
		}
		if open != nil {
			return s.end(open, StatusResolved, Resolution{Action: string(ActionUndo), By: s.by})
		}
		return nil
	}
	is := open
	if asked {
		is = x
	}
	if is == nil {
		if is, err = s.sameException(then, r.without.Seq); err != nil || is == nil {
			return err
		}
	}
	if open != nil && open != is {
		if err := s.end(open, StatusResolved, Resolution{Action: string(ActionUndo), By: s.by}); err != nil {
			return err
		}
	}
	own := s.ownException(is)
	own.Status, own.Resolution = StatusOpen, nil
	own.Records, own.Candidates, own.Count = then.Records, then.Candidates, then.Count
	own.LastAt, own.Reason = then.LastAt, then.Reason
	m.list(own)
	return nil
}

// sameException finds what was opened by the same record as an exception of a message that was folded again,
// or opens it. Nil where retention dropped it.
func (s *step) sameException(then *Exception, without uint64) (*Exception, error) {
	opener := then.openedBy()
	for n := 0; ; n++ {
		x, err := s.view.Exception(exceptionID(opener, n))
		if err != nil || x != nil && x.Kind == then.Kind && x.Group == then.Group {
			return x, err
		}
		if x == nil {
			break
		}
	}
	if opener < without {
		return nil, nil
	}
	x := s.newException(matter{kind: then.Kind, group: then.Group, smsc: then.SMSC, account: then.Account, part: then.Part})
	x.Message, x.FirstAt = then.Message, then.FirstAt
	return x, nil
}

// newest is the exception of a kind and group that is open, else the one that ended last; nil when there was
// none.
func (r *refold) newest(kind ExceptionKind, group string) *Exception {
	var newest *Exception
	for _, id := range slices.Sorted(maps.Keys(r.Exceptions)) {
		x := r.Exceptions[id]
		switch {
		case x.Kind != kind || x.Group != group:
		case x.Status == StatusOpen:
			return x
		case newest == nil || x.Resolution.Seq >= newest.Resolution.Seq:
			newest = x
		}
	}
	return newest
}

// part puts the receptions that the message had only because of what was taken back into the inbox, and has
// them judged.
func (s *step) part(x *Exception, m *Message, r *refold) error {
	var rows []*InboxRow
	for _, d := range r.released {
		elsewhere := r.counted[d.Record]
		correlation := Unmatched
		if elsewhere {
			correlation = ""
		}
		s.decide(m, Decision{
			Record: d.Record, Part: d.Part, Attempt: d.Attempt, Correlation: correlation, Verdict: VerdictHeld,
			Why: fmt.Sprintf("was the part's by record %d alone, which was taken back", r.without.Seq), LogicalEvent: d.LogicalEvent,
		})
		if err := s.unflag(m.Account, d); err != nil {
			return err
		}
		if elsewhere {
			continue
		}
		row, err := s.rowFor(x, d.Record)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if x.ofRow() {
		s.ownException(x).open(r.without.Seq)
	}
	for _, row := range rows {
		if err := s.wake(row); err != nil {
			return err
		}
	}
	return nil
}

// unflag takes a reception that is not the part's any more out of the exception that its addresses differ.
func (s *step) unflag(account string, d *Decision) error {
	x, err := s.openException(KindAddressMismatch, account)
	if err != nil || x == nil || !slices.Contains(x.Records, d.Record) {
		return err
	}
	x = s.ownException(x)
	x.discount(d.Record)
	if x.Count > 0 {
		return nil
	}
	return s.end(x, StatusResolved, Resolution{Action: string(ActionUndo), By: s.by})
}

// rowFor puts a reception into its row, one that is held for what the exception says if that was about it.
func (s *step) rowFor(x *Exception, seq uint64) (*InboxRow, error) {
	e, err := s.readAgain(seq)
	if err != nil {
		return nil, err
	}
	key := e.inboxKey()
	old, err := s.inboxRow(key)
	if err != nil {
		return nil, err
	}
	row := e.newRow(key)
	row.Why, row.Keys = Unmatched, e.keys()
	if x.ofRow() && (x.Group == string(key) || slices.Contains(x.Records, seq)) {
		x = s.ownException(x)
		x.Group = string(key)
		row.Why = x.Kind.holds()
	}
	if old != nil {
		first := *row
		*row = *old
		if e.at.Before(old.ReceivedAt) {
			row.SMSC, row.Source, row.Dest, row.ReceivedAt = first.SMSC, first.Source, first.Dest, first.ReceivedAt
		}
	}
	row.receive(seq)
	s.putRow(key, row)
	return row, nil
}

// holds is what a row with an exception of the kind is held for.
func (k ExceptionKind) holds() Correlation {
	switch k {
	case KindAmbiguous:
		return Ambiguous
	case KindAddressMismatch:
		return AddressMismatch
	}
	return Unmatched
}
