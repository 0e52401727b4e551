package statemachine

import (
	"errors"
	"slices"
	"time"

	"esmed/receipt"
)

// answered takes from an answer that the SMSC accepted an attempt. One without a message_id leaves the attempt
// the id that is known otherwise.
func (s *step) answered(m *Message, p *Part, ref AttemptRef, smsc, id string) error {
	if p.State == Failed {
		if err := s.raise(matter{
			kind: KindConflict, group: partGroup(m, ref.Part), smsc: smsc, account: m.Account, m: m, part: ref.Part,
			record: s.rec.Seq, reason: "the SMSC accepted it after it had failed",
		}); err != nil {
			return err
		}
	}
	if id == "" && len(s.keys(m, p.attempt(ref.Attempt))) > 0 {
		return nil
	}
	return s.identify(m, ref, smsc, id)
}

// unsay takes back what a person said of an attempt that the SMSC now answers itself. id is the answer's; only
// an acceptance without one leaves the attempt the id that it has.
func (s *step) unsay(m *Message, p *Part, ref AttemptRef, id string, accepted bool) error {
	a := p.attempt(ref.Attempt)
	former := s.keys(m, a)
	a.Outcome, a.AnsweredAt = Doubtful, time.Time{}
	m.SubmittedAt = m.firstAccepted()
	if p.State == Submitted { // it rests on the answer from now on
		p.State = NoState
	}
	if accepted && id == "" {
		return nil
	}
	a.MessageID, a.Learnt = "", false
	s.unindex(m.Account, former, s.smsc(m.SMSC).Receipt.ResponseKeys(id), ref)
	return s.wakeKeys(m.Account, former)
}

// firstAccepted is when the first attempt was accepted; zero when none was.
func (m *Message) firstAccepted() time.Time {
	var first time.Time
	for i := range m.Parts {
		for _, a := range m.Parts[i].Attempts {
			if a.Outcome == AcceptedBy && (first.IsZero() || a.AnsweredAt.Before(first)) {
				first = a.AnsweredAt
			}
		}
	}
	return first
}

// identify makes an attempt that the SMSC accepted found by the id it was given (as receipt.MessageID
// reads it), and has the receipts judged that waited for it.
func (s *step) identify(m *Message, ref AttemptRef, smsc, id string) error {
	var room [3]receipt.Key
	keys := s.smsc(smsc).Receipt.AppendResponseKeys(room[:0], id)
	about := matter{smsc: smsc, account: m.Account, m: m, part: ref.Part, record: s.rec.Seq}
	if len(keys) == 0 {
		about.kind, about.group = KindNoMessageID, partGroup(m, ref.Part)
		about.reason = "the SMSC accepted it without a message_id: no receipt can be matched by id"
		return s.raise(about)
	}
	others, err := s.liveOwners(m, keys)
	if err != nil {
		return err
	}
	s.index(m.Account, keys, ref)
	if len(others) > 0 {
		about.kind, about.group = KindDuplicateMessageID, m.Account+"/"+id
		about.candidates = append(others, ref)
		about.reason = "the SMSC gave the same message_id to several messages that are open"
		if err := s.raise(about); err != nil {
			return err
		}
	}
	if len(m.Parts) > 1 {
		if err := s.share(m, ref, keys); err != nil {
			return err
		}
	}
	return s.wakeKeys(m.Account, keys)
}

// liveOwners are the attempts of other open messages that were given the same id. A key that holds the
// beginning of an id only tells nothing of that, and any number of messages may have it.
func (s *step) liveOwners(m *Message, keys []receipt.Key) ([]AttemptRef, error) {
	var live []AttemptRef
	for _, key := range keys {
		if key.Partial() {
			continue
		}
		refs, err := s.attempts(m.Account, key)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			if ref.Message == m.ID || slices.Contains(live, ref) {
				continue
			}
			other, err := s.message(ref.Message)
			if err != nil {
				return nil, err
			}
			if other != nil && !other.Closed() {
				live = append(live, ref)
			}
		}
	}
	return live, nil
}

// keys are the forms under which an attempt of the message is found by its id; nil while it has none.
func (s *step) keys(m *Message, a *Attempt) []receipt.Key { return a.keys(&s.smsc(m.SMSC).Receipt) }

// keys reads the id as what it is: that of an answer, or of what a person says the answer was, or one that
// a receipt with our reference told.
func (a *Attempt) keys(rules *receipt.Rules) []receipt.Key {
	if !a.Learnt {
		return rules.ResponseKeys(a.MessageID)
	}
	var keys []receipt.Key
	for _, tlv := range [...]bool{true, false} {
		for _, form := range rules.ReceiptKeys(a.MessageID, tlv) {
			if !slices.Contains(keys, form.Key) {
				keys = append(keys, form.Key)
			}
		}
	}
	return keys
}

// learn takes from an echoed reference that the attempt arrived and, if no answer told it, which id it was
// given. With the id, held receipts for it have found their owner. While it is open which attempt the
// reference is about, nothing is learnt.
func (s *step) learn(e *evidence, m *Message, p *Part, ref AttemptRef) error {
	a := p.attempt(ref.Attempt)
	if a == nil {
		return nil
	}
	a.arrive(e.seq)
	keys := e.keys()
	if len(keys) == 0 || len(s.keys(m, a)) > 0 {
		return nil
	}
	_, a.MessageID = e.namedBy(keys)
	a.Learnt = true
	for _, key := range s.keys(m, a) { // the receipt may have come over a bind with other rules
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if err := s.resolve(KindNoMessageID, partGroup(m, p.Number), string(DoubtClientRef), e.smsc); err != nil {
		return err
	}
	s.index(m.Account, keys, ref)
	return s.wakeKeys(m.Account, keys)
}

// share judges receipts that other parts of the message had under the keys for this part too: parts that
// were given the same id share its receipt, whichever response came first.
func (s *step) share(m *Message, ref AttemptRef, keys []receipt.Key) error {
	for _, key := range keys {
		if key.Partial() {
			continue
		}
		refs, err := s.attempts(m.Account, key)
		if err != nil {
			return err
		}
		for _, other := range refs {
			if other.Message != m.ID || other.Part == ref.Part {
				continue
			}
			if err := s.shareFrom(m, ref, m.Part(other.Part), keys); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *step) shareFrom(m *Message, ref AttemptRef, other *Part, keys []receipt.Key) error {
	for _, event := range other.Events {
		if m.Part(ref.Part).event(event.Fingerprint) != nil {
			continue
		}
		e, err := s.readAgain(event.Seq)
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil {
			return err
		}
		by, id := e.namedBy(keys)
		if by == "" {
			continue
		}
		named, err := s.referred(&e)
		if err != nil {
			return err
		}
		if named != nil { // our echoed reference names the one part it is about
			continue
		}
		f := finding{correlation: Matched, candidate: candidate{m: m, by: by, id: id}, count: 1}
		if _, err := s.applyTo(&e, &f, m, ref); err != nil {
			return err
		}
		if known := m.Part(ref.Part).event(e.event); known != nil {
			known.Count = event.Count // its repeats are the same receptions
		}
	}
	return nil
}
