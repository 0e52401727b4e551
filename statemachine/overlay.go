package statemachine

import (
	"cmp"
	"slices"

	"esmed/receipt"
)

// attempts are those that were given an id with that key, this step's own among them: the newest message
// first, and of a part its last attempt first. The order is the step's, not the View's, so that no
// implementation of that can sway a decision.
func (s *step) attempts(account string, key receipt.Key) ([]AttemptRef, error) {
	refs, err := s.view.Attempts(account, key)
	if err != nil {
		return nil, err
	}
	own := false
	for i := range s.eff.Index {
		entry := &s.eff.Index[i]
		if entry.Account != account || entry.Key != key || slices.Contains(refs, entry.Ref) != entry.Remove {
			continue
		}
		if !own {
			refs, own = slices.Clone(refs), true
		}
		if entry.Remove {
			refs = slices.DeleteFunc(refs, func(ref AttemptRef) bool { return ref == entry.Ref })
			continue
		}
		refs = append(refs, entry.Ref)
	}
	if len(refs) < 2 {
		return refs, nil
	}
	if !own {
		refs = slices.Clone(refs)
	}
	slices.SortFunc(refs, func(a, b AttemptRef) int {
		return cmp.Or(cmp.Compare(b.Message, a.Message), cmp.Compare(a.Part, b.Part), cmp.Compare(b.Attempt, a.Attempt))
	})
	return refs, nil
}

// index makes an attempt found by the keys.
func (s *step) index(account string, keys []receipt.Key, ref AttemptRef) {
	for _, key := range keys {
		s.eff.Index = append(s.eff.Index, IndexEntry{Account: account, Key: key, Ref: ref})
	}
}

// unindex makes an attempt no longer found by those of the keys that it does not keep.
func (s *step) unindex(account string, keys, kept []receipt.Key, ref AttemptRef) {
	for _, key := range keys {
		if !slices.Contains(kept, key) {
			s.eff.Index = append(s.eff.Index, IndexEntry{Account: account, Key: key, Ref: ref, Remove: true})
		}
	}
}

// Reindex gives the entries by which the message's attempts are found under an SMSC's rules, for an index
// that is made anew when rules change.
func (m *Message) Reindex(rules *SMSCRules) []IndexEntry {
	var entries []IndexEntry
	for i := range m.Parts {
		p := &m.Parts[i]
		for _, a := range p.Attempts {
			for _, key := range a.keys(&rules.Receipt) {
				entries = append(entries, IndexEntry{Account: m.Account, Key: key, Ref: AttemptRef{m.ID, p.Number, a.Number}})
			}
		}
	}
	return entries
}

// oldestUnanswered is the first attempt to a destination that has no answer now; nil when all have one.
func (s *step) oldestUnanswered(account, dest string) (*Attempt, error) {
	refs, err := s.view.Unanswered(account, dest)
	if err != nil {
		return nil, err
	}
	var oldest *Attempt
	for _, ref := range refs {
		m, err := s.message(ref.Message)
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		if a := m.attempt(ref); a != nil && a.Outcome == Unanswered && (oldest == nil || a.Seq < oldest.Seq) {
			oldest = a
		}
	}
	return oldest, nil
}

func (s *step) changeUnanswered(m *Message, ref AttemptRef, remove bool) {
	s.eff.Unanswered = append(s.eff.Unanswered, UnansweredChange{m.Account, m.destination(), ref, remove})
}

// inboxRow is the row as the step left it so far, nil when there is none.
func (s *step) inboxRow(key InboxKey) (*InboxRow, error) {
	for i := range s.eff.Inbox {
		if s.eff.Inbox[i].Key == key {
			return s.eff.Inbox[i].Row, nil
		}
	}
	return s.view.InboxRow(key)
}

// held are the rows that wait for a key, with those that the step put under it.
func (s *step) held(account string, key receipt.Key) ([]*InboxRow, error) {
	rows, err := s.view.Held(account, key)
	if err != nil {
		return nil, err
	}
	for i := range s.eff.Inbox {
		if row := s.eff.Inbox[i].Row; row != nil && row.Account == account && slices.Contains(row.Keys, key) {
			rows = append(slices.Clip(rows), row)
		}
	}
	return rows, nil
}

// putRow puts a row in the place of what the key had, or takes that away when row is nil.
func (s *step) putRow(key InboxKey, row *InboxRow) {
	for i := range s.eff.Inbox {
		if s.eff.Inbox[i].Key == key {
			s.eff.Inbox[i].Row = row
			return
		}
	}
	s.eff.Inbox = append(s.eff.Inbox, InboxChange{key, row})
}

// openException is the open one of a kind and group as the step left it so far, nil when there is none.
func (s *step) openException(kind ExceptionKind, group string) (*Exception, error) {
	for _, x := range slices.Backward(s.eff.Exceptions) {
		if x.Kind == kind && x.Group == group {
			if x.Status == StatusOpen {
				return x, nil
			}
			return nil, nil
		}
	}
	return s.view.OpenException(kind, group)
}

// enqueue puts a part of an edited message into the queue.
func (s *step) enqueue(m *Message, p *Part) {
	s.eff.Queue = append(s.eff.Queue, QueueChange{Entry: m.queueEntry(p)})
}

// dequeue takes a part out of the queue, if it is there.
func (s *step) dequeue(m *Message, p *Part) {
	if p.Queued() {
		s.eff.Queue = append(s.eff.Queue, QueueChange{Entry: m.queueEntry(p), Remove: true})
		p.dequeue()
	}
}

// queueEntry is the part's place in the queue.
func (m *Message) queueEntry(p *Part) QueueEntry {
	return QueueEntry{
		SMSC: m.SMSC, Priority: min(m.Priority, maxPriority), NotBefore: p.NotBefore, Seq: p.QueuedSeq,
		Message: m.ID, Part: p.Number,
	}
}

// maxPriority is the highest priority_flag (SMPP v3.4 §5.2.14).
const maxPriority = 3
