package statemachine

import (
	"cmp"
	"errors"
	"slices"

	"esmed/receipt"
)

// endedByRules is Resolution.Action of what a change of rules settled.
const endedByRules = "rules"

// reprocess judges a page of what is held or noted again under the rules in force.
func (s *step) reprocess(o *Operator) error {
	if o.Reprocess == nil {
		return s.noEffect("it names no page")
	}
	progress := o.Reprocess.Progress
	s.eff.Reprocess = &progress
	for _, key := range o.Reprocess.Rows {
		if err := s.rejudgeRow(key); err != nil {
			return err
		}
	}
	for _, id := range o.Reprocess.Messages {
		if err := s.rejudgeMessage(o, id); err != nil {
			return err
		}
	}
	return nil
}

// rejudgeRow reads the receptions of a row anew, puts them under the keys that they have today, and judges
// them again together with all that waits for the same ids: the order of the pages must not tell which
// receipt of a message comes first.
func (s *step) rejudgeRow(key InboxKey) error {
	old, err := s.inboxRow(key)
	if err != nil || old == nil {
		return err
	}
	row, err := s.rekey(old)
	if err != nil {
		return err
	}
	if err := s.wake(row); err != nil {
		return err
	}
	for _, keys := range [...][]receipt.Key{old.Keys, row.Keys} {
		if err := s.wakeKeys(row.Account, keys); err != nil {
			return err
		}
	}
	return s.judgeWoken()
}

// rekey gives the row as today's rules read it, in the place of the old one. All receptions of a row read the
// same, whatever the rules. What is no evidence any more stays for who judges it.
func (s *step) rekey(old *InboxRow) (*InboxRow, error) {
	e, err := s.readAgain(old.Receptions[0])
	if errors.Is(err, ErrGone) || err == nil && !e.receipt.IsEvidence() {
		return old, nil
	}
	if err != nil {
		return nil, err
	}
	key := e.inboxKey()
	row := e.newRow(key)
	row.Why, row.WaitsFor, row.Receptions, row.Dismissed = old.Why, old.WaitsFor, old.Receptions, old.Dismissed
	row.Keys = e.keys()
	if key == old.Key {
		if !row.equal(old) {
			s.putRow(key, row)
		}
		return row, nil
	}
	if err := s.endRowException(old.Key, old.Why, endedByRules); err != nil {
		return nil, err
	}
	s.putRow(old.Key, nil)
	return row, s.join(row)
}

// join puts a row under a key of its own, together with the one that is there already.
func (s *step) join(row *InboxRow) error {
	if row.Why != Unmatched {
		row.Why, row.Dismissed = Unmatched, "" // what it is held for is found again
	}
	there, err := s.inboxRow(row.Key)
	if err != nil {
		return err
	}
	if there != nil {
		row.Why, row.Dismissed = there.Why, there.Dismissed
		own, dests := row.Receptions, row.WaitsFor
		row.Receptions, row.WaitsFor = there.Receptions, there.WaitsFor
		for _, seq := range own {
			row.receive(seq)
		}
		for _, dest := range dests {
			row.waitFor(dest)
		}
		if there.ReceivedAt.Before(row.ReceivedAt) {
			row.ReceivedAt = there.ReceivedAt
		}
	}
	s.putRow(row.Key, row)
	return nil
}

// equal reports whether two rows of one key and the same receptions say the same.
func (row *InboxRow) equal(old *InboxRow) bool {
	return row.SMSC == old.SMSC && row.TLVID == old.TLVID && row.TextID == old.TextID && row.RawStat == old.RawStat &&
		row.State == old.State && row.Source == old.Source && row.Dest == old.Dest && row.ReportedAt == old.ReportedAt &&
		row.ReceivedAt.Equal(old.ReceivedAt) && slices.Equal(row.Keys, old.Keys)
}

// rejudgeMessage has a message found by the ids that its attempts have today, with what is held for these, and
// judges its noted receptions again.
func (s *step) rejudgeMessage(o *Operator, id ID) error {
	m, err := s.message(id)
	if err != nil || m == nil {
		return err
	}
	entries := m.Reindex(s.smsc(m.SMSC))
	for _, entry := range entries {
		refs, err := s.attempts(entry.Account, entry.Key)
		if err != nil {
			return err
		}
		if !slices.Contains(refs, entry.Ref) {
			s.eff.Index = append(s.eff.Index, entry)
		}
	}
	for _, entry := range entries {
		if err := s.wakeKeys(entry.Account, []receipt.Key{entry.Key}); err != nil {
			return err
		}
	}
	if err := s.judgeWoken(); err != nil {
		return err
	}
	if err := s.rejudgeNoted(o, id); err != nil {
		return err
	}
	return s.judgeWoken()
}

// rejudgeNoted judges again, in the order of the log, what was noted about a message.
func (s *step) rejudgeNoted(o *Operator, id ID) error {
	m, err := s.message(id)
	if err != nil || m == nil || m.Counts.Noted == 0 {
		return err
	}
	noted, err := s.noted(m)
	if err != nil {
		return err
	}
	for i := 0; i < len(noted); {
		n := 1
		for i+n < len(noted) && noted[i+n].Record == noted[i].Record {
			n++
		}
		if err := s.rejudge(o, id, noted[i:i+n]); err != nil {
			return err
		}
		i += n
	}
	return nil
}

// noted are the decisions that stand about receptions of the message and only note them, in the order of the
// receptions and parts.
func (s *step) noted(m *Message) ([]*Decision, error) {
	var noted []*Decision
	seen := map[judged]bool{}
	for pos := m.LastDecision; pos != (DecisionPos{}); {
		if pos.Seq == s.rec.Seq { // judged under today's rules
			own := &s.eff.Decisions[pos.N]
			seen[judged{own.Record, own.Part}] = true
			pos = own.Previous
			continue
		}
		d, err := s.view.Decision(pos)
		if errors.Is(err, ErrGone) {
			break
		}
		if err != nil {
			return nil, err
		}
		pos = d.Previous
		key := judged{d.Record, d.Part}
		if d.Verdict == "" || d.By == ByRequest || seen[key] {
			continue
		}
		seen[key] = true
		if d.Verdict == VerdictNoted {
			noted = append(noted, d)
		}
	}
	slices.SortFunc(noted, func(a, b *Decision) int {
		return cmp.Or(cmp.Compare(a.Record, b.Record), cmp.Compare(a.Part, b.Part))
	})
	return noted, nil
}

// rejudge judges one reception again for all parts that it was noted for.
func (s *step) rejudge(o *Operator, id ID, noted []*Decision) error {
	e, err := s.readAgain(noted[0].Record)
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil || !e.receipt.IsEvidence() {
		return err
	}
	if word := e.receipt.RawStat; word != "" && e.state != NoState {
		if err := s.resolve(KindUnmappedState, wordGroup(e.account, word), endedByRules, o.By); err != nil {
			return err
		}
	}
	now, err := s.message(id)
	if err != nil {
		return err
	}
	if v, _ := judgeAnew(&e, now.Part(noted[0].Part)); v == VerdictNoted {
		return nil
	}
	return s.rejudgeAs(&e, id, noted)
}

func (s *step) rejudgeAs(e *evidence, id ID, noted []*Decision) error {
	m, err := s.edit(id)
	if err != nil {
		return err
	}
	for i, d := range noted {
		verdict, err := s.rejudgeFor(e, m, d)
		if err != nil {
			return err
		}
		if i == 0 && e.basis == BasisReceipt {
			m.Counts.recount(verdict)
		}
	}
	return nil
}

// judgeAnew is judge for what the part knows already.
func judgeAnew(e *evidence, p *Part) (Verdict, string) {
	without := *p
	without.Events = slices.DeleteFunc(slices.Clone(p.Events), func(known Event) bool { return known.Fingerprint == e.event })
	return judge(e, &without)
}

// rejudgeFor judges evidence that was noted again for one part.
func (s *step) rejudgeFor(e *evidence, m *Message, d *Decision) (Verdict, error) {
	p := m.Part(d.Part)
	from := p.State
	verdict, why := judgeAnew(e, p)
	if verdict == VerdictApplied {
		ruling, err := s.rulingOf(d)
		if err != nil {
			return verdict, err
		}
		p.Reported, p.Ruling = e.report(d.By, d.Attempt), ruling
	}
	if err := s.settle(m, p, e.basis, e.seq, DoubtReceipt); err != nil {
		return verdict, err
	}
	again := "judged again under the rules in force"
	if why != "" {
		again += ": " + why
	}
	s.decide(m, Decision{
		Record: e.seq, Part: d.Part, Attempt: d.Attempt, Correlation: Matched, By: d.By, ExternalID: d.ExternalID,
		Rule: d.Rule, Candidates: d.Candidates, NarrowedBy: d.NarrowedBy, Verdict: verdict, Why: again,
		From: from, To: p.State, LogicalEvent: e.event,
	})
	if verdict != VerdictNoted {
		if err := s.settleDisagreement(e, m, d.Part); err != nil {
			return verdict, err
		}
	}
	if !e.contradicts(verdict) {
		return verdict, nil
	}
	return verdict, s.raise(matter{
		kind: KindConflict, group: partGroup(m, d.Part), smsc: e.smsc, account: e.account, m: m, part: d.Part,
		record: e.seq, reason: why,
	})
}

// rulingOf is the person's decision that a reception was matched by; the zero Ruling when it was by none.
func (s *step) rulingOf(d *Decision) (Ruling, error) {
	if d.By != ByOperator {
		return Ruling{}, nil
	}
	rec, err := s.view.Record(d.Pos.Seq)
	o, ok := rec.Fact.(*Operator)
	if err != nil || !ok {
		return Ruling{}, err
	}
	return Ruling{Action: o.Action, By: o.By, Reason: o.Reason, Seq: d.Pos.Seq}, nil
}

// settleDisagreement ends the conflict that was about nothing but the evidence's TLV and text, which the rules
// settle now.
func (s *step) settleDisagreement(e *evidence, m *Message, part int) error {
	x, err := s.openException(KindConflict, partGroup(m, part))
	if err != nil || x == nil || x.Count != 1 || x.Records[0] != e.seq {
		return err
	}
	return s.end(x, StatusResolved, Resolution{Action: endedByRules, By: s.by})
}

// recount moves a reception from the noted ones to those of another verdict.
func (c *Counts) recount(v Verdict) {
	c.Receipts, c.Noted = c.Receipts-1, c.Noted-1
	c.count(v)
}

// judged names a reception and the part that it was judged for.
type judged struct {
	record uint64
	part   int
}
