package statemachine

import (
	"cmp"
	"errors"
	"slices"

	"esmed/receipt"
)

// waiting is a row of the inbox that is judged again.
type waiting struct {
	row  *InboxRow // as it was
	next int       // index in row.Receptions of the one to judge next
	left []uint64  // those that stay
	wait []string  // destinations that these wait for
	e    evidence  // the last of those that is not gone …
	f    finding   // … and what was found for it
}

// wakeKeys has the rows judged again that wait for one of the keys.
func (s *step) wakeKeys(account string, keys []receipt.Key) error {
	for _, key := range keys {
		rows, err := s.held(account, key)
		if err != nil {
			return err
		}
		if err := s.wake(rows...); err != nil {
			return err
		}
	}
	return nil
}

// wakeDestination has the rows judged again that waited for the answer of a submit to the message's
// destination, as far as they wait for no other.
func (s *step) wakeDestination(m *Message) error {
	dest := m.destination()
	rows, err := s.view.HeldFor(m.Account, dest)
	if err != nil || len(rows) == 0 {
		return err
	}
	oldest, err := s.oldestUnanswered(m.Account, dest)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if oldest != nil && oldest.Seq < row.Receptions[0] {
			continue
		}
		if err := s.wake(row); err != nil {
			return err
		}
	}
	return nil
}

// wake adds rows to those that are judged again at the end of the step.
func (s *step) wake(rows ...*InboxRow) error {
	for _, row := range rows {
		if slices.ContainsFunc(s.woken, func(w *waiting) bool { return w.row.Key == row.Key }) {
			continue
		}
		current, err := s.inboxRow(row.Key)
		if err != nil {
			return err
		}
		if current != nil {
			s.woken = append(s.woken, &waiting{row: current})
		}
	}
	return nil
}

// judgeWoken judges all receptions of the woken rows in the order of the log. What it finds may wake more.
func (s *step) judgeWoken() error {
	for w := s.nextWoken(); w != nil; w = s.nextWoken() {
		seq := w.row.Receptions[w.next]
		w.next++
		if err := s.judgeAgain(w, seq); err != nil {
			return err
		}
	}
	slices.SortFunc(s.woken, func(a, b *waiting) int { return cmp.Compare(a.row.Receptions[0], b.row.Receptions[0]) })
	for _, w := range s.woken {
		if err := s.settleRow(w); err != nil {
			return err
		}
	}
	clear(s.woken)
	s.woken = s.woken[:0]
	return nil
}

// nextWoken is the row with the earliest reception that is not judged yet, nil when all are.
func (s *step) nextWoken() *waiting {
	var first *waiting
	for _, w := range s.woken {
		if w.next == len(w.row.Receptions) {
			continue
		}
		if first == nil || w.row.Receptions[w.next] < first.row.Receptions[first.next] {
			first = w
		}
	}
	return first
}

func (s *step) judgeAgain(w *waiting, seq uint64) error {
	e, err := s.readAgain(seq)
	if errors.Is(err, ErrGone) {
		w.left = append(w.left, seq)
		return nil
	}
	if err != nil {
		return err
	}
	if !e.receipt.IsEvidence() { // under the rules of today
		return s.setAside(&e)
	}
	f, err := s.correlate(&e)
	if err != nil {
		return err
	}
	if f.correlation == Matched {
		return s.apply(&e, &f)
	}
	w.left = append(w.left, seq)
	w.e, w.f = e, f
	if f.waitsFor != "" && !slices.Contains(w.wait, f.waitsFor) {
		w.wait = append(w.wait, f.waitsFor)
	}
	if f.correlation != w.row.Why {
		s.decideHeld(&e, &f)
	}
	return nil
}

// settleRow writes what is left of a row.
func (s *step) settleRow(w *waiting) error {
	if len(w.left) == 0 {
		s.putRow(w.row.Key, nil)
		return s.endRowException(w.row.Key, w.row.Why, string(Matched))
	}
	row := *w.row
	row.Receptions = w.left
	if w.e.seq != 0 { // else all that is left is gone
		row.WaitsFor = w.wait
		row.refresh(&w.e, &w.f)
	}
	if len(row.Receptions) != len(w.row.Receptions) || row.Why != w.row.Why || !slices.Equal(row.WaitsFor, w.row.WaitsFor) ||
		!slices.Equal(row.Keys, w.row.Keys) {
		s.putRow(row.Key, &row)
	}
	if row.Why == w.row.Why {
		return s.mendCandidates(&row, &w.f)
	}
	return s.explain(&w.e, &w.f, &row, w.row.Why, w.left...)
}

// mendCandidates has the exception of a row that is held for the same as before name those that fit now.
func (s *step) mendCandidates(row *InboxRow, f *finding) error {
	kind, ok := rowException(row.Why)
	if !ok {
		return nil
	}
	x, err := s.openException(kind, string(row.Key))
	now := f.candidates[:min(len(f.candidates), MaxExceptionRecords)]
	if err != nil || x == nil || slices.Equal(x.Candidates, now) {
		return err
	}
	s.ownException(x).Candidates = slices.Clone(now)
	return nil
}
