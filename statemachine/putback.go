package statemachine

import (
	"cmp"
	"fmt"
	"slices"

	"esmed/receipt"
)

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
