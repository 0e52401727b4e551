package statemachine

import (
	"cmp"
	"slices"

	"esmed/receipt"
)

// apply judges evidence against the parts it was matched to and moves them.
func (s *step) apply(e *evidence, f *finding) error {
	m, err := s.edit(f.m.ID)
	if err != nil {
		return err
	}
	refs := f.refs
	if len(refs) > 1 {
		refs = slices.Clone(refs)
		slices.SortFunc(refs, func(a, b AttemptRef) int { return cmp.Compare(a.Part, b.Part) })
	}
	for i, ref := range refs {
		verdict, err := s.applyTo(e, f, m, ref)
		if err != nil {
			return err
		}
		if i > 0 { // one reception, however many parts share it
			continue
		}
		if e.basis == BasisReceipt {
			m.Counts.count(verdict)
		}
		if verdict == VerdictNoted && e.unmapped() != "" {
			if err := s.raiseWord(e); err != nil {
				return err
			}
		}
	}
	if f.flagged {
		return s.raise(matter{
			kind: KindAddressMismatch, group: e.account, smsc: e.smsc, account: e.account, record: e.seq,
			candidates: refs, reason: f.why + " (address_check: flag)",
		})
	}
	return nil
}

// applyTo judges evidence against one part.
func (s *step) applyTo(e *evidence, f *finding, m *Message, ref AttemptRef) (Verdict, error) {
	p := m.Part(ref.Part)
	from := p.State
	verdict, why := judge(e, p)
	var repeatOf uint64
	if known := p.event(e.event); known != nil {
		repeatOf = known.Seq
	}
	p.remember(e.event, e.seq)
	if verdict == VerdictApplied {
		p.Reported = e.report(f.by, ref.Attempt)
	}
	ended := DoubtReceipt
	if f.by == ByClientRef {
		ended = DoubtClientRef
		if err := s.learn(e, m, p, ref); err != nil {
			return verdict, err
		}
	}
	if err := s.settle(m, p, e.basis, e.seq, ended); err != nil {
		return verdict, err
	}
	if why == "" && f.flagged {
		why = f.why
	}
	s.decide(m, Decision{
		Record: e.seq, Part: ref.Part, Attempt: ref.Attempt, Correlation: Matched, By: f.by, ExternalID: f.id,
		Rule: f.rule, Candidates: f.count, NarrowedBy: f.narrowedBy, Verdict: verdict, Why: why,
		From: from, To: p.State, LogicalEvent: e.event, RepeatOf: repeatOf,
	})
	if !e.contradicts(verdict) {
		return verdict, nil
	}
	return verdict, s.raise(matter{
		kind: KindConflict, group: partGroup(m, ref.Part), smsc: e.smsc, account: e.account, m: m, part: ref.Part,
		record: e.seq, reason: why,
	})
}

// contradicts reports whether the evidence leaves a contradiction for a person to decide.
func (e *evidence) contradicts(v Verdict) bool {
	return v == VerdictConflict || v == VerdictNoted && e.differ && !e.neverFinalises()
}

// raiseWord raises a state word that no rule maps, once for an account.
func (s *step) raiseWord(e *evidence) error {
	return s.raise(matter{
		kind: KindUnmappedState, group: wordGroup(e.account, e.unmapped()), smsc: e.smsc, account: e.account,
		record: e.seq, reason: "no rule maps the state word " + e.unmapped(),
	})
}

// learn takes from an echoed reference that the attempt arrived and, if no answer told it, which id it was
// given. With the id, held receipts for it have found their owner.
func (s *step) learn(e *evidence, m *Message, p *Part, ref AttemptRef) error {
	keys := e.keys()
	if a := p.editAttempt(ref.Attempt); a != nil {
		known := a.MessageID != ""
		a.arrive(e.seq)
		if known || len(keys) == 0 {
			return nil
		}
		a.MessageID = e.receipt.ID
		if err := s.resolve(KindNoMessageID, partGroup(m, p.Number), string(DoubtClientRef), e.smsc); err != nil {
			return err
		}
	} else if _, n := p.nameless(); n == 0 {
		return nil
	}
	s.index(m.Account, keys, ref)
	return s.wakeKeys(m.Account, keys)
}

// share judges receipts that other parts of the message had under the keys for this part too: parts that
// were given the same id share its receipt, whichever response came first.
func (s *step) share(m *Message, ref AttemptRef, keys []receipt.Key) error {
	for _, key := range keys {
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

// settle brings a part up to its attempts and evidence: queue, state, and the exception of a doubt.
// basis and seq are what a new state rests on, ended is what ends a doubt; "" if nothing does.
func (s *step) settle(m *Message, p *Part, basis Basis, seq uint64, ended DoubtEnd) error {
	from := p.State
	if p.Queued() && (p.arrived() || p.Reported.Final || m.failed()) {
		s.dequeue(m, p)
	}
	if p.settle(basis, seq); p.State == Failed && from != Failed && basis == BasisNone {
		p.failWith(m)
	}
	switch {
	case p.State == InDoubt && from != InDoubt && !p.arrived():
		return s.raise(matter{
			kind: KindInDoubt, group: partGroup(m, p.Number), smsc: m.SMSC, account: m.Account, m: m, part: p.Number,
			record: s.rec.Seq, reason: "it left, and its answer was lost",
		})
	case from == InDoubt && p.State != InDoubt && ended != "":
		return s.resolve(KindInDoubt, partGroup(m, p.Number), string(ended), s.by)
	}
	return nil
}

// failQueued fails the parts of a message that are still queued, because part failed did.
func (s *step) failQueued(m *Message, failed *Part) error {
	if failed.State != Failed {
		return nil
	}
	for i := range m.Parts {
		if !m.Parts[i].Queued() {
			continue
		}
		p := m.Part(i + 1)
		from := p.State
		if err := s.settle(m, p, BasisNone, s.rec.Seq, ""); err != nil {
			return err
		}
		s.concluded(m, p, 0, from, "another part of the message failed")
	}
	return nil
}

func (c *Counts) count(v Verdict) {
	c.Receipts++
	switch v {
	case VerdictDuplicate:
		c.Duplicate++
	case VerdictRepeat:
		c.Repeat++
	case VerdictLate:
		c.Late++
	case VerdictStale:
		c.Stale++
	case VerdictUnordered:
		c.Unordered++
	case VerdictNoted:
		c.Noted++
	case VerdictConflict:
		c.Conflict++
	}
}
