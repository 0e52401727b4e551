package statemachine

import (
	"cmp"
	"slices"
	"strings"
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
		p.Reported, p.Ruling = e.report(f.by, ref.Attempt), f.ruling
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
	against := why
	switch {
	case f.ruling != (Ruling{}):
		why = strings.Join(slices.DeleteFunc([]string{f.why, why}, func(s string) bool { return s == "" }), "; ")
	case why == "" && f.flagged:
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
		record: e.seq, reason: against,
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

// settle brings a part up to its attempts and evidence: queue, state, and the exception of a doubt.
// basis and seq are what a new state rests on, ended is what ends a doubt; "" if nothing does.
func (s *step) settle(m *Message, p *Part, basis Basis, seq uint64, ended DoubtEnd) error {
	from := p.State
	if p.Queued() && (p.arrived() || p.Reported.Final || p.CutoffSeq != 0 || m.failed()) {
		s.dequeue(m, p)
	}
	if p.settle(basis, seq); p.State == Failed && from != Failed && basis == BasisNone {
		p.failWith(m)
	}
	switch {
	case p.State == InDoubt && from != InDoubt && !p.arrived():
		return s.raise(matter{
			kind: KindInDoubt, group: partGroup(m, p.Number), smsc: m.SMSC, account: m.Account, m: m, part: p.Number,
			records: p.doubtSeqs(), reason: p.first(Doubtful).doubt(),
		})
	case ended != "" && (from == InDoubt && p.State != InDoubt || len(m.Exceptions) > 0 && !p.has(Doubtful)):
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
