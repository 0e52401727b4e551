package store

import (
	"errors"
	"fmt"
	"slices"

	"esmed/receipt"
	"esmed/statemachine"
)

// EvidenceResult says what a bundle proves.
type EvidenceResult struct {
	// Head is where the chain that has the records leads to. Whoever kept that head, or one that the
	// bundle comes past, knows that nothing was changed since.
	Head     Head
	Anchored bool // the head that was asked for is that one, or on the way to it

	Records   int // that the chain covers
	Sealed    int // of these, those with texts, which it covers sealed
	Unproven  []uint64
	Decisions int // made again from the records alone: all agree
	// TakenStored are decisions that the records of one message cannot decide again: other messages had a
	// part in them, their rules or a text are gone, or an older parser made them.
	TakenStored int
}

// EvidenceError says what is wrong with a bundle.
type EvidenceError struct {
	Seq uint64 // the record concerned; 0 = none in particular
	Err error
}

func (e *EvidenceError) Error() string {
	if e.Seq == 0 {
		return fmt.Sprintf("evidence: %v", e.Err)
	}
	return fmt.Sprintf("evidence: record %d: %v", e.Seq, e.Err)
}

func (e *EvidenceError) Unwrap() error { return e.Err }

// VerifyEvidence checks a bundle by itself: the records' octets against the hashes that their commits list, the
// commits' hashes up to the head, and the decisions by folding the records again. anchor, if not nil, is a
// head that was kept elsewhere: the chain must come past it (At is not looked at). decode is Config's.
// What is wrong is an *EvidenceError.
func VerifyEvidence(e *Evidence, anchor *Head, decode func([]byte) receipt.Delivery) (EvidenceResult, error) {
	p := proof{e: e, listed: make(map[uint64]hash)}
	p.result.Head = e.Head
	if err := p.links(anchor); err != nil {
		return p.result, err
	}
	if err := p.records(); err != nil {
		return p.result, err
	}
	return p.result, p.refold(decode)
}

type proof struct {
	e      *Evidence
	listed map[uint64]hash // of records, by seq, as proven commits list them
	facts  []entry         // the records, opened
	result EvidenceResult
}

// links checks that each link's hash is one that the link before it, a later commit, names.
func (p *proof) links(anchor *Head) error {
	for i := range p.e.Links {
		l := &p.e.Links[i]
		sum, err := l.sum()
		if err != nil {
			return err
		}
		if i == 0 && (sum != p.e.Head.Hash || l.Seq != p.e.Head.Seq) {
			return &EvidenceError{l.Seq, errors.New("the commit that ends here is not the head")}
		}
		if i > 0 && !p.e.Links[i-1].leadsTo(l, sum) {
			return &EvidenceError{l.Seq, errors.New("the commit that ends here is not the one that a later commit names")}
		}
		if anchor != nil && l.Seq == anchor.Seq && sum == anchor.Hash {
			p.result.Anchored = true
		}
		for n, h := range l.Records {
			p.listed[l.Seq-uint64(len(l.Records)-1-n)] = h
		}
	}
	if anchor != nil && !p.result.Anchored {
		return &EvidenceError{anchor.Seq, errors.New("the chain does not come past the head that was kept")}
	}
	return nil
}

// sum is the commit's hash.
func (l *Link) sum() (hash, error) {
	c := commit{number: l.Number, skip: skip{l.SkipSeq, l.Skip}}
	switch {
	case uint64(len(l.Records)) > l.Seq:
		return hash{}, &EvidenceError{l.Seq, errors.New("the commit that ends here lists too many records")}
	case len(l.Records) > 0:
		return c.sum(l.Previous, l.Seq, joined(l.Records)), nil
	case l.Number == 0:
		return hash{}, &EvidenceError{l.Seq, errors.New("the commit that ends here lists no records")}
	}
	return c.sumOf(l.Previous, l.Seq, l.RecordsHash), nil
}

// leadsTo reports whether an earlier commit is the one before, or the one that l skips to.
func (l *Link) leadsTo(earlier *Link, sum hash) bool {
	return earlier.Seq < l.Seq && (sum == l.Previous || l.Number > 0 && sum == l.Skip && earlier.Seq == l.SkipSeq)
}

// records checks the octets of each record, and opens it.
func (p *proof) records() error {
	last := uint64(0)
	for i := range p.e.Records {
		r := &p.e.Records[i]
		if r.Seq <= last {
			return &EvidenceError{r.Seq, errors.New("is not in order")}
		}
		last = r.Seq
		opened, err := r.open()
		if err != nil {
			return &EvidenceError{r.Seq, err}
		}
		p.facts = append(p.facts, opened)
		if _, rules := opened.Fact.(*statemachine.Rules); r.Unproven && rules {
			p.result.Unproven = append(p.result.Unproven, r.Seq)
			continue
		}
		listed, ok := p.listed[r.Seq]
		if !ok {
			return &EvidenceError{r.Seq, errors.New("no commit of the bundle lists it")}
		}
		if hashRecord(r.Seq, r.Octets) != listed {
			return &EvidenceError{r.Seq, errors.New("its octets are not those that the chain covers")}
		}
		p.result.Records++
		if opened.key != 0 {
			p.result.Sealed++
		}
	}
	return nil
}

// open decodes a record and puts its texts in.
func (r *SealedRecord) open() (entry, error) {
	e, err := decodeRecord(r.Seq, r.Octets)
	switch {
	case err != nil:
		return e, err
	case e.commit != nil:
		return e, errors.New("its octets include the end of a commit")
	case e.key == 0 && (len(r.Texts) > 0 || r.TextGone):
		return e, errors.New("it has no sealed text")
	case e.key == 0:
		return e, nil
	case r.TextGone:
		e.unseal(nil)
		return e, nil
	}
	sealed := texts(e.Fact, e.spans)
	if len(sealed) != len(r.Texts) {
		return e, errors.New("its texts are not as many as were sealed")
	}
	for i, text := range sealed {
		if len(text) != len(r.Texts[i]) {
			return e, errors.New("a text is not as long as the sealed one")
		}
		copy(text, r.Texts[i])
	}
	return e, nil
}

// Opened are the bundle's records with their texts, each with the decisions that it caused: what History
// says. It fails where VerifyEvidence does for a record.
func (e *Evidence) Opened() ([]Event, error) {
	events := make([]Event, len(e.Records))
	for i := range e.Records {
		r := &e.Records[i]
		opened, err := r.open()
		if err != nil {
			return nil, &EvidenceError{r.Seq, err}
		}
		events[i] = Event{Record: opened.Record, TextGone: r.TextGone}
		for _, d := range e.Decisions {
			if d.Pos.Seq == r.Seq {
				events[i].Decisions = append(events[i].Decisions, d)
			}
		}
	}
	return events, nil
}

// refold folds the records and compares the decisions about the message.
func (p *proof) refold(decode func([]byte) receipt.Delivery) error {
	mem := statemachine.NewMemory(statemachine.Fold{Decode: decode})
	var anew []statemachine.Decision
	whole := true
	var eff statemachine.Effects
	for i := range p.facts {
		err := mem.Apply(p.facts[i].Record, &eff)
		whole = whole && err == nil && !p.facts[i].textGone // a record that it names may be another message's
		for _, d := range eff.Decisions {
			if d.Message == p.e.Message {
				anew = append(anew, d)
			}
		}
	}
	for i := range p.e.Decisions {
		d := &p.e.Decisions[i]
		if err := p.inPlace(i); err != nil {
			return err
		}
		same := func(x statemachine.Decision) bool { return sameConclusion(x, *d) }
		if n := slices.IndexFunc(anew, same); n >= 0 {
			anew = slices.Delete(anew, n, n+1)
			p.result.Decisions++
			continue
		}
		if whole && p.result.TakenStored == 0 && p.follows(d) {
			return &EvidenceError{d.Record, errors.New("the decision about it does not follow from the records")}
		}
		p.result.TakenStored++
	}
	if !whole || p.result.TakenStored > 0 {
		return nil
	}
	if len(anew) > 0 {
		return &EvidenceError{anew[0].Record, errors.New("the decision about it is missing")}
	}
	if m := mem.Messages[p.e.Message]; m == nil || m.State != p.e.State {
		return &EvidenceError{0, errors.New("the message's state does not follow from the records")}
	}
	return nil
}

// inPlace checks what links a decision to the records and to the one before it.
func (p *proof) inPlace(i int) error {
	d := &p.e.Decisions[i]
	var before statemachine.DecisionPos
	if i > 0 {
		before = p.e.Decisions[i-1].Pos
	}
	switch {
	case p.fact(d.Pos.Seq) == nil || p.fact(d.Record) == nil:
		return &EvidenceError{d.Record, errors.New("a decision rests on a record that the bundle lacks")}
	case d.Message != p.e.Message || d.Previous != before:
		return &EvidenceError{d.Record, errors.New("a decision does not continue the message's history")}
	}
	return nil
}

// sameConclusion compares what does not depend on which other messages there were.
func sameConclusion(a, b statemachine.Decision) bool {
	for _, d := range []*statemachine.Decision{&a, &b} {
		d.Pos.N, d.Previous, d.Candidates, d.NarrowedBy, d.PossibleRepeatOf = 0, statemachine.DecisionPos{}, 0, "", 0
	}
	return a.Pos == b.Pos && string(appendDecision(nil, &a)) == string(appendDecision(nil, &b))
}

// follows reports whether a decision must follow from the message's own records: today's parser made it,
// nothing but they had a part in it, and its rules are there.
func (p *proof) follows(d *statemachine.Decision) bool {
	if d.Parser != receipt.ParserVersion || d.Candidates > 1 || d.NarrowedBy != "" || d.Rules != 0 && p.fact(d.Rules) == nil {
		return false
	}
	switch f := p.fact(d.Pos.Seq).Fact.(type) {
	case *statemachine.SubmitResp:
		return f.Message == p.e.Message
	case *statemachine.AttemptInDoubt:
		return f.Message == p.e.Message
	case *statemachine.QueueExpired:
		return f.Message == p.e.Message
	case *statemachine.Cutoff:
		return f.Message == p.e.Message
	case *statemachine.QueryResp:
		return f.Message == p.e.Message
	case *statemachine.CancelResp:
		return f.Message == p.e.Message
	case *statemachine.Reception:
		return true
	}
	return false // what a person, a look or a change of rules decided depends on what else there was
}

// fact finds a record of the bundle.
func (p *proof) fact(seq uint64) *entry {
	i, found := slices.BinarySearchFunc(p.facts, seq, func(e entry, seq uint64) int {
		switch {
		case e.Seq < seq:
			return -1
		case e.Seq > seq:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &p.facts[i]
}
