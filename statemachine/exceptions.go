package statemachine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Exception.Status values.
const (
	StatusOpen      = "open"
	StatusResolved  = "resolved"
	StatusDismissed = "dismissed"
)

// matter is what an exception is opened about.
type matter struct {
	kind       ExceptionKind
	group      string
	smsc       string
	account    string
	m          *Message // an edited message that shows the exception, or nil
	part       int
	record     uint64
	records    []uint64 // in place of record where there may be several
	candidates []AttemptRef
	reason     string
}

// raise opens an exception, or counts the matter in the one that is open for its kind and group.
func (s *step) raise(a matter) error {
	x, err := s.openException(a.kind, a.group)
	if err != nil {
		return err
	}
	if x == nil {
		x = s.newException(a)
	} else {
		x = s.ownException(x)
	}
	x.Count++
	x.LastAt = s.rec.At
	x.note(a.record)
	for _, seq := range a.records {
		x.note(seq)
	}
	for _, ref := range a.candidates {
		if !slices.Contains(x.Candidates, ref) && len(x.Candidates) < MaxExceptionRecords {
			x.Candidates = append(slices.Clip(x.Candidates), ref)
		}
	}
	if a.m != nil && slices.Contains(x.shownBy(), a.m.ID) {
		a.m.list(x)
	}
	return nil
}

func (s *step) newException(a matter) *Exception {
	id := exceptionID(s.rec.Seq, s.opened)
	s.opened++
	x := &Exception{
		ID: id, Kind: a.kind, Group: a.group, Status: StatusOpen, SMSC: a.smsc, Account: a.account,
		Part: a.part, FirstAt: s.rec.At, Reason: a.reason,
	}
	if a.m != nil {
		x.Message = a.m.ID
	}
	s.eff.Exceptions = append(s.eff.Exceptions, x)
	return x
}

// exceptionID names the one that a record opened as its nth, from 0.
func exceptionID(seq uint64, n int) string {
	if n == 0 {
		return fmt.Sprintf("x%d", seq)
	}
	return fmt.Sprintf("x%d.%d", seq, n)
}

// openedBy is the record that opened it, which its id tells.
func (x *Exception) openedBy() uint64 {
	seq, _, _ := strings.Cut(strings.TrimPrefix(x.ID, "x"), ".")
	n, _ := strconv.ParseUint(seq, 10, 64) // 0 for an id that is not ours
	return n
}

// ownException gives the step's own copy of an exception.
func (s *step) ownException(x *Exception) *Exception {
	if slices.Contains(s.eff.Exceptions, x) {
		return x
	}
	own := *x
	s.eff.Exceptions = append(s.eff.Exceptions, &own)
	return &own
}

// note adds a record to the first ones.
func (x *Exception) note(seq uint64) {
	if seq != 0 && len(x.Records) < MaxExceptionRecords && !slices.Contains(x.Records, seq) {
		x.Records = append(slices.Clip(x.Records), seq)
	}
}

// resolve ends the open exception of a kind and group, if there is one, because of this record.
func (s *step) resolve(kind ExceptionKind, group, action, by string) error {
	x, err := s.openException(kind, group)
	if err != nil || x == nil {
		return err
	}
	return s.end(x, StatusResolved, Resolution{Action: action, By: by})
}

// end ends an exception because of this record, whose time and number the resolution gets. Its message no
// longer lists it.
func (s *step) end(x *Exception, status string, how Resolution) error {
	x = s.ownException(x)
	how.At, how.Seq = s.rec.At, s.rec.Seq
	x.Status, x.Resolution = status, &how
	x.note(s.rec.Seq)
	return s.unlist(x)
}

// unlist takes an exception from the messages that show it as open.
func (s *step) unlist(x *Exception) error {
	for _, id := range x.shownBy() {
		if err := s.unlistFrom(id, x); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) unlistFrom(id ID, x *Exception) error {
	m, err := s.message(id)
	if err != nil || m == nil {
		return err
	}
	i := slices.Index(m.Exceptions, x.ID)
	if i < 0 {
		return nil
	}
	if m, err = s.edit(id); err != nil {
		return err
	}
	m.Exceptions = slices.Delete(slices.Clone(m.Exceptions), i, i+1)
	return nil
}

// shownBy are the messages that may show the exception as open: its own, and each that was given an id which
// others have too.
func (x *Exception) shownBy() []ID {
	var ids []ID
	if x.Message != "" {
		ids = append(ids, x.Message)
	}
	if x.Kind != KindDuplicateMessageID {
		return ids
	}
	for _, ref := range x.Candidates {
		if !slices.Contains(ids, ref.Message) {
			ids = append(ids, ref.Message)
		}
	}
	return ids
}

// list has the message show an open exception.
func (m *Message) list(x *Exception) {
	if !slices.Contains(m.Exceptions, x.ID) {
		m.Exceptions = append(slices.Clip(m.Exceptions), x.ID)
	}
}

// Groups: what makes matters of a kind one thing to decide.

func partGroup(m *Message, part int) string { return fmt.Sprintf("%s/%d", m.ID, part) }

func wordGroup(account, word string) string { return account + "/" + strings.ToUpper(word) }
