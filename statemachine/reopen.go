package statemachine

import (
	"maps"
	"slices"
)

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

// unduplicate takes an attempt out of the exception that it was given an id which others have too.
func (s *step) unduplicate(m *Message, ref AttemptRef, id string, without uint64) error {
	x, err := s.openException(KindDuplicateMessageID, m.Account+"/"+id)
	if err != nil || x == nil || !slices.Contains(x.Candidates, ref) {
		return err
	}
	x = s.ownException(x)
	if len(x.Candidates) <= 2 {
		if err := s.end(x, StatusResolved, Resolution{Action: string(ActionUndo), By: s.by}); err != nil {
			return err
		}
	}
	x.Candidates = slices.DeleteFunc(slices.Clone(x.Candidates), func(other AttemptRef) bool { return other == ref })
	x.discount(without)
	if slices.Contains(x.shownBy(), m.ID) {
		return nil
	}
	return s.unlistFrom(m.ID, x)
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
