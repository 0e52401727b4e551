package statemachine

import (
	"cmp"
	"context"
	"slices"

	"esmed/receipt"
)

// examination is the diagnosis of one SMSC under way.
type examination struct {
	d     *Diagnosis
	s     *diagnosedSMSC
	today SMSCRules
	open  *openTable
	tests []readControl
	found SMSCDiagnosis
}

// run tries lists of rules on either id by itself, and what was best for each together, as correlation
// uses them.
func (x *examination) run(ctx context.Context) error {
	s := x.s
	x.found = SMSCDiagnosis{
		SMSC: s.name, Account: s.account, Receipts: len(s.waiting), Left: s.left,
		Open: x.open.count(), NoID: x.open.noID,
	}
	var err error
	if x.tests, err = x.readControls(s.controls); err != nil {
		return err
	}
	x.found.Controls = len(x.tests)
	today := x.today.Receipt
	if err := x.tryEach(ctx, today.TLVID, today.TextID); err != nil {
		return err
	}
	pairs := x.pairs()
	for i, p := range pairs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.correlate(&p); err != nil {
			return err
		}
		if i == 0 {
			x.found.Today = p
			continue
		}
		if p.score() > x.found.Today.score() && p.Unique > x.found.Today.Unique {
			x.found.Proposals = append(x.found.Proposals, p)
		}
	}
	slices.SortStableFunc(x.found.Proposals, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(a.Quality.rank(), b.Quality.rank()), cmp.Compare(b.score(), a.score()))
	})
	x.found.Proposals = x.found.Proposals[:min(len(x.found.Proposals), maxProposals)]
	x.lookElsewhere()
	return x.findZone()
}

// maxProposals is how many pairs of lists are proposed.
const maxProposals = 3

func (q Quality) rank() int {
	return slices.Index([]Quality{QualityGood, QualityThin, QualityDoubtful}, q)
}

// tryEach tries every list on either id, those in force among them.
func (x *examination) tryEach(ctx context.Context, inForce ...receipt.IDRules) error {
	lists := idLists(x.sample())
	for _, list := range inForce {
		if !slices.ContainsFunc(lists, func(l receipt.IDRules) bool { return slices.Equal(l, list) }) {
			lists = append(lists, list)
		}
	}
	hasTLV := slices.ContainsFunc(x.s.waiting, func(w waitingReceipt) bool { return w.tlv != "" })
	hasText := slices.ContainsFunc(x.s.waiting, func(w waitingReceipt) bool { return w.text != "" })
	x.found.WithoutID = x.withoutID()
	for _, list := range lists {
		if err := ctx.Err(); err != nil {
			return err
		}
		if ignored(list) || !hasTLV && !hasText {
			continue
		}
		rules := x.rulesWith(list, list)
		index := x.open.index(&rules)
		if hasTLV {
			x.found.TLV = append(x.found.TLV, Trial{list, x.try(index, &rules, true)})
		}
		if hasText {
			x.found.Text = append(x.found.Text, Trial{list, x.try(index, &rules, false)})
		}
	}
	byScore := func(a, b Trial) int { return cmp.Compare(b.score(), a.score()) }
	slices.SortStableFunc(x.found.TLV, byScore) // equal ones stay as they are: the simpler first
	slices.SortStableFunc(x.found.Text, byScore)
	return nil
}

// rulesWith are the rules in force with other rules for ids.
func (x *examination) rulesWith(tlv, text receipt.IDRules) receipt.Rules {
	rules := x.today.Receipt
	rules.TLVID, rules.TextID = tlv, text
	return rules
}

// pairs are the lists for TLV and text to try together: those in force first, then what was best.
func (x *examination) pairs() []Proposal {
	today := Proposal{TLV: x.today.Receipt.TLVID, Text: x.today.Receipt.TextID}
	tlvs, texts := best(x.found.TLV, today.TLV), best(x.found.Text, today.Text)
	pairs := []Proposal{today}
	add := func(tlv, text receipt.IDRules) {
		same := func(p Proposal) bool { return slices.Equal(p.TLV, tlv) && slices.Equal(p.Text, text) }
		if !slices.ContainsFunc(pairs, same) && !(ignored(tlv) && ignored(text)) {
			pairs = append(pairs, Proposal{TLV: tlv, Text: text})
		}
	}
	for _, tlv := range tlvs {
		add(tlv, texts[0])
	}
	for _, text := range texts {
		add(tlvs[0], text)
	}
	// An id that fits wrong messages or several under its best rules is better left alone.
	ignore := receipt.IDRules{{Name: receipt.RuleIgnore}}
	if misleads(x.found.Text) && len(x.found.TLV) > 0 {
		add(tlvs[0], ignore)
	}
	if misleads(x.found.TLV) && len(x.found.Text) > 0 {
		add(ignore, texts[0])
	}
	return pairs
}

// best gives the lists worth trying together with those for the other id: the best one, the next where it
// is nearly as good, and the one in force.
func best(trials []Trial, today receipt.IDRules) []receipt.IDRules {
	if len(trials) == 0 || trials[0].Unique == 0 {
		return []receipt.IDRules{today}
	}
	lists := []receipt.IDRules{trials[0].Rules}
	if len(trials) > 1 && trials[1].score()*10 >= trials[0].score()*9 && trials[1].score() > 0 {
		lists = append(lists, trials[1].Rules)
	}
	return append(lists, today)
}

func ignored(rules receipt.IDRules) bool {
	return slices.ContainsFunc(rules, func(r receipt.IDRule) bool { return r.Name == receipt.RuleIgnore })
}

func misleads(trials []Trial) bool {
	return len(trials) > 0 && (trials[0].Several+trials[0].Contradicted)*tolerated > trials[0].Unique
}

// correlate does with all receipts what the fold would do under the rules proposed.
func (x *examination) correlate(p *Proposal) error {
	rules := x.today
	rules.Receipt = x.rulesWith(p.TLV, p.Text)
	index := x.open.index(&rules.Receipt)
	// Whichever of the account's SMSCs a message went to: they agree about ids.
	s := step{view: index, rules: &Rules{}, eff: new(Effects)}
	for _, r := range x.d.rules.ofAccount(x.s.account) {
		r.Receipt.TLVID, r.Receipt.TextID = p.TLV, p.Text
		s.rules.SMSCs = append(s.rules.SMSCs, r)
	}
	shown := map[Correlation]int{}
	for i := range x.s.waiting {
		w := &x.s.waiting[i]
		e := w.evidence(x.s, &rules)
		f, err := s.correlate(&e)
		if err != nil {
			return err
		}
		example := w.example(&f, &e)
		p.countFinding(&f, example.Confirmed)
		if example.Confirmed && f.correlation == Matched && len(p.dated) < maxDated {
			if a := f.m.attempt(example.Ref); a != nil {
				p.dated = append(p.dated, control{w.seq, *a})
			}
		}
		if shown[example.Result] < maxExamples {
			shown[example.Result]++
			p.Examples = append(p.Examples, example)
		}
	}
	for i := range x.tests {
		if !x.tests[i].holds(&rules.Receipt) {
			p.Lost++
		}
	}
	p.judge()
	return nil
}

// ofAccount are the rules of the SMSCs of an account.
func (r *Rules) ofAccount(account string) (rules []SMSCRules) {
	if r == nil {
		return nil
	}
	for i := range r.SMSCs {
		if r.SMSCs[i].Account == account {
			rules = append(rules, r.SMSCs[i])
		}
	}
	return rules
}

func (o *Fits) countFinding(f *finding, confirmed bool) {
	switch {
	case f.correlation == Ambiguous:
		o.Several++
	case f.correlation == AddressMismatch || f.flagged:
		o.Contradicted++
	case f.correlation == Matched:
		o.Unique++
		if confirmed {
			o.Confirmed++
		}
	default:
		o.None++
	}
}

// evidence is the receipt as correlation takes it.
func (w *waitingReceipt) evidence(s *diagnosedSMSC, rules *SMSCRules) evidence {
	e := evidence{
		seq: w.seq, at: fromNanos(w.at), smsc: s.name, account: s.account, rules: rules, reported: w.reported,
		receipt: receipt.Receipt{Kind: receipt.DeliveryReceipt, Source: w.source, Dest: w.dest},
	}
	e.receipt.TLVID, e.receipt.TextID = w.tlv, w.text
	return e
}

func (w *waitingReceipt) example(f *finding, e *evidence) Example {
	x := Example{Result: f.correlation, Reception: w.seq, TLVID: w.tlv, TextID: w.text}
	if f.m == nil {
		return x
	}
	x.By, x.Ref = f.by, f.refs[0]
	if a := f.m.attempt(x.Ref); a != nil {
		x.MessageID = a.MessageID
	}
	x.Confirmed = e.rules.Receipt.AddressCheck != receipt.AddressOff && f.m.checkAddress(e) == Agrees
	return x
}

// lookElsewhere counts receipts that fit open messages of another account under the rules in force.
func (x *examination) lookElsewhere() {
	for account, open := range x.d.open {
		if account == x.s.account {
			continue
		}
		rules := &x.today.Receipt
		index := open.index(rules)
		tlv, text := x.try(index, rules, true), x.try(index, rules, false)
		if n := max(tlv.Confirmed, text.Confirmed); n > x.found.Elsewhere || n == x.found.Elsewhere && n > 0 && account < x.found.ElsewhereAccount {
			x.found.Elsewhere, x.found.ElsewhereAccount = n, account
		}
	}
}
