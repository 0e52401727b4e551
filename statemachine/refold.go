package statemachine

import (
	"slices"

	"esmed/receipt"
)

// refold is a message that is folded once more, alone, from the records that said something about it but
// those that were taken back. Receptions are the message's as they were correlated; what they count for is
// judged anew, under the rules that were in force when they were judged before. It is a View of that message.
type refold struct {
	*Memory
	view    View
	message *Message // as it is now
	without Record   // the operator's record that is taken back now

	history  []*Decision // of the message, the oldest first
	chain    []*Decision // what of it is still to be folded
	undone   map[uint64]bool
	parted   map[judged]DecisionPos // receptions that were taken from the message before, and where last
	stands   map[judged]Decision    // what came of a reception
	counted  map[uint64]bool        // receptions that are in the message's counts
	released []*Decision            // receptions that were the message's because of what is taken back only
	gone     map[judged]bool        // the same; all that was decided about them later went with them
	named    AttemptRef             // attempt that only what is taken back gave an id
	rulesBy  map[uint64]*Rules
}

// refoldWithout folds an edited message again without an operator's record. Its error is ErrGone, too, when a
// part of its history is no more.
func (s *step) refoldWithout(m *Message, without Record) (*refold, error) {
	r := &refold{
		Memory: NewMemory(s.fold), view: s.view, message: m, without: without,
		undone: map[uint64]bool{without.Seq: true}, parted: map[judged]DecisionPos{}, stands: map[judged]Decision{},
		counted: map[uint64]bool{}, gone: map[judged]bool{},
		rulesBy: map[uint64]*Rules{s.rulesSeq: s.rules},
	}
	r.Memory.rulesSeq, r.Memory.rules = s.rulesSeq, s.rules
	if err := r.readHistory(); err != nil {
		return nil, err
	}
	r.readUndone()
	for _, seq := range r.timeline() {
		if err := r.fold(seq); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// now is the message as its other records leave it.
func (r *refold) now() *Message { return r.Messages[r.message.ID] }

// Record implements View, as do the methods below that differ from Memory's.
func (r *refold) Record(seq uint64) (Record, error) { return r.view.Record(seq) }

// Exception gives the one that is open about the same thing in the message that is folded again.
func (r *refold) Exception(id string) (*Exception, error) {
	x, err := r.view.Exception(id)
	if err != nil || x == nil {
		return nil, err
	}
	return r.OpenException(x.Kind, x.Group)
}

// readHistory walks the message's decisions back.
func (r *refold) readHistory() error {
	for pos := r.message.LastDecision; pos != (DecisionPos{}); {
		d, err := r.view.Decision(pos)
		if err != nil {
			return err
		}
		r.history = append(r.history, d)
		pos = d.Previous
	}
	slices.Reverse(r.history)
	r.chain = r.history
	return nil
}

// readUndone finds which decisions of persons were taken back before, and which receptions went with them.
func (r *refold) readUndone() {
	for _, d := range r.chain {
		switch {
		case d.Verdict == VerdictHeld:
			r.parted[judged{d.Record, d.Part}] = d.Pos
		case d.Record != d.Pos.Seq && d.Verdict == "":
			r.undone[d.Record] = true
		}
		if d.Pos.Seq == r.without.Seq && d.Record == d.Pos.Seq && r.action(r.without) == ActionAccepted {
			r.named = AttemptRef{Message: d.Message, Part: d.Part, Attempt: d.Attempt}
		}
	}
}

// timeline are the records that said something about the message, in their order.
func (r *refold) timeline() []uint64 {
	seqs := []uint64{r.message.AcceptedSeq}
	for i := range r.message.Parts {
		for _, a := range r.message.Parts[i].Attempts {
			if a.Seq != 0 {
				seqs = append(seqs, a.Seq)
			}
		}
	}
	for _, d := range r.chain {
		seqs = append(seqs, d.Pos.Seq)
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

// fold takes one record once more: what it says itself, then the receptions that it made the message's.
func (r *refold) fold(seq uint64) error {
	rec, err := r.view.Record(seq)
	if err != nil {
		return err
	}
	caused, err := r.causedBy(seq)
	if err != nil {
		return err
	}
	s := r.step(rec)
	if r.direct(rec) {
		if err := s.take(); err != nil {
			return err
		}
		if s.eff.NoEffect != "" {
			s = r.step(rec)
		}
	}
	r.note(s)
	for len(caused) > 0 {
		n := 1
		for n < len(caused) && caused[n].Record == caused[0].Record {
			n++
		}
		if err := r.judge(s, rec, caused[:n]); err != nil {
			return err
		}
		caused = caused[n:]
	}
	s.finish()
	r.Memory.put(s.eff)
	return nil
}

func (r *refold) step(rec Record) *step {
	return &step{fold: r.Fold, view: r, rec: rec, rulesSeq: r.rulesSeq, rules: r.rules, eff: new(Effects), again: true}
}

// causedBy takes the judgements of receptions that the record caused from the chain, and puts the rules in force
// under which they were made. A record that left no decision is an act of ours, which no rules decide about.
func (r *refold) causedBy(seq uint64) ([]*Decision, error) {
	var caused []*Decision
	for len(r.chain) > 0 && r.chain[0].Pos.Seq == seq {
		d := r.chain[0]
		r.chain = r.chain[1:]
		if err := r.inForce(d.Rules); err != nil {
			return nil, err
		}
		if d.Correlation == Matched {
			caused = append(caused, d)
		}
	}
	return caused, nil
}

func (r *refold) inForce(seq uint64) error {
	rules, known := r.rulesBy[seq]
	if !known && seq != 0 {
		rec, err := r.view.Record(seq)
		if err != nil {
			return err
		}
		rules, _ = rec.Fact.(*Rules)
		r.rulesBy[seq] = rules
	}
	r.rulesSeq, r.rules = seq, rules
	return nil
}

// action is what a person decided with the record; "" when it is nobody's.
func (r *refold) action(rec Record) Action {
	if o, ok := rec.Fact.(*Operator); ok {
		return o.Action
	}
	return ""
}

// direct reports whether the record says something by itself. What an inbox row's receptions say was judged
// because of it, and each such judgement is in the chain.
func (r *refold) direct(rec Record) bool {
	switch rec.Fact.(type) {
	case *Reception, *Retry:
		return false
	}
	switch r.action(rec) {
	case ActionAssign, ActionUndo, ActionReprocess:
		return false
	}
	return !r.undone[rec.Seq]
}

// note keeps what came of receptions so far in a step.
func (r *refold) note(s *step) {
	for _, d := range s.eff.Decisions {
		if d.Correlation == Matched {
			r.stands[judged{d.Record, d.Part}] = d
			r.counted[d.Record] = true
		}
	}
}

// judge takes what was decided about one reception for one or several parts.
func (r *refold) judge(s *step, cause Record, ds []*Decision) error {
	if r.action(cause) == ActionTake {
		return nil
	}
	var refs []AttemptRef
	for _, d := range ds {
		key := judged{d.Record, d.Part}
		if end, ok := r.parted[key]; ok && before(d.Pos, end) || r.gone[key] {
			continue
		}
		if stands, ok := r.stands[key]; ok {
			if r.action(cause) == ActionReprocess && stands.Verdict == VerdictNoted {
				return r.rejudge(s, ds)
			}
			continue // shared between parts already, or only told again
		}
		lost, err := r.lost(s, cause, d)
		if err != nil {
			return err
		}
		if lost {
			r.released, r.gone[key] = append(r.released, d), true
			continue
		}
		refs = append(refs, AttemptRef{Message: d.Message, Part: d.Part, Attempt: d.Attempt})
	}
	if len(refs) == 0 {
		return nil
	}
	return r.apply(s, cause, ds[0], refs)
}

// apply judges a reception again for the parts that it still belongs to.
func (r *refold) apply(s *step, cause Record, d *Decision, refs []AttemptRef) error {
	e, err := s.readAgain(d.Record)
	if err != nil {
		return err
	}
	m, err := s.edit(r.message.ID)
	if err != nil {
		return err
	}
	f := finding{
		correlation: Matched, candidate: candidate{m: m, refs: refs, by: d.By, id: d.ExternalID, rule: d.Rule},
		count: d.Candidates, narrowedBy: d.NarrowedBy,
	}
	if o, ok := cause.Fact.(*Operator); ok && o.Action == ActionAssign {
		f.ruling, f.why = Ruling{Action: o.Action, By: o.By, Reason: o.Reason, Seq: cause.Seq}, o.said()
	}
	defer r.note(s)
	if !r.counted[e.seq] {
		return s.apply(&e, &f)
	}
	for _, ref := range refs {
		if _, err := s.applyTo(&e, &f, m, ref); err != nil {
			return err
		}
	}
	return nil
}

func (r *refold) rejudge(s *step, ds []*Decision) error {
	e, err := s.readAgain(ds[0].Record)
	if err != nil {
		return err
	}
	defer r.note(s)
	return s.rejudgeAs(&e, r.message.ID, ds)
}

// lost reports whether the reception was the message's because of what is taken back alone: judged in that
// step, or by an id or an event that nothing else tells.
func (r *refold) lost(s *step, cause Record, d *Decision) (bool, error) {
	if cause.Seq == r.without.Seq {
		return true, nil
	}
	if cause.Seq < r.without.Seq {
		return false, nil
	}
	m, err := s.message(r.message.ID)
	if err != nil {
		return false, err
	}
	if d.NarrowedBy == questionNames[aboutEvent] && r.releasedEvent(d.LogicalEvent) && m.Part(d.Part).event(d.LogicalEvent) == nil {
		return true, nil
	}
	byID := d.By == ByTLVID || d.By == ByTextID
	if !byID || r.named != (AttemptRef{Message: d.Message, Part: d.Part, Attempt: d.Attempt}) {
		return false, nil
	}
	e, err := s.readAgain(d.Record)
	if err != nil {
		return false, err
	}
	ids := e.keys()
	a := m.attempt(r.named)
	return a == nil || !slices.ContainsFunc(s.keys(m, a), func(key receipt.Key) bool { return slices.Contains(ids, key) }), nil
}

func (r *refold) releasedEvent(event receipt.Fingerprint) bool {
	return slices.ContainsFunc(r.released, func(d *Decision) bool { return d.LogicalEvent == event })
}

// before reports whether a decision was made earlier.
func before(a, b DecisionPos) bool { return a.Seq < b.Seq || a.Seq == b.Seq && a.N < b.N }
