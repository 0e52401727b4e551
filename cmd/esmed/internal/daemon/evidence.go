package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/statemachine"
	"esmed/store"
)

// Evidence implements control.EvidenceReader.
func (b *backend) Evidence(ctx context.Context, id statemachine.ID, head uint64) (control.Proof, error) {
	var via []uint64
	if head > 0 {
		via = append(via, head)
	}
	e, err := b.store.Evidence(ctx, id, via...)
	if errors.Is(err, store.ErrNoCommit) {
		err = fmt.Errorf("%w: %w", control.ErrNoHead, err)
	}
	if err != nil {
		return control.Proof{}, apiError(err)
	}
	events, err := e.Opened()
	if err != nil {
		return control.Proof{}, err
	}
	p := control.Proof{State: e.State, Head: chainHead(e.Head), Entries: logEntries(events)}
	for i := range e.Records {
		r := &e.Records[i]
		w := control.EvidenceRecord{Seq: r.Seq, Octets: r.Octets, TextGone: r.TextGone, Unproven: r.Unproven}
		for _, text := range r.Texts {
			w.Texts = append(w.Texts, text)
		}
		p.Records = append(p.Records, w)
	}
	for i := range e.Links {
		p.Links = append(p.Links, wireLink(&e.Links[i]))
	}
	return p, nil
}

func chainHead(h store.Head) control.ChainHead {
	w := control.ChainHead{Seq: h.Seq, Hash: h.Hash[:]}
	if at := h.At.UTC(); !at.IsZero() {
		w.At = &at
	}
	return w
}

func wireLink(l *store.Link) control.EvidenceLink {
	w := control.EvidenceLink{Number: l.Number, Seq: l.Seq, Previous: l.Previous[:], SkipSeq: l.SkipSeq, Skip: l.Skip[:]}
	for i := range l.Records {
		w.Records = append(w.Records, l.Records[i][:])
	}
	if len(l.Records) == 0 {
		w.RecordsHash = l.RecordsHash[:]
	}
	return w
}

// EvidenceCheck is what a bundle proves.
type EvidenceCheck struct {
	store.EvidenceResult
	Events []control.Event // as they follow from the records
}

// VerifyEvidence checks a bundle by itself. kept, if not nil, is a chain head that was kept elsewhere (its At is
// not looked at): the chain must come past it. What is wrong with the bundle is a *store.EvidenceError.
func VerifyEvidence(w *control.Evidence, kept *control.ChainHead) (EvidenceCheck, error) {
	e, err := readEvidence(w)
	if err != nil {
		return EvidenceCheck{}, err
	}
	var anchor *store.Head
	if kept != nil {
		h, err := hashOf(kept.Seq, kept.Hash)
		if err != nil {
			return EvidenceCheck{}, err
		}
		anchor = &store.Head{Seq: kept.Seq, Hash: h}
	}
	check := EvidenceCheck{}
	if check.EvidenceResult, err = store.VerifyEvidence(e, anchor, DecodePDU); err != nil {
		return check, err
	}
	check.Events, err = compareEvents(w, e)
	return check, err
}

// compareEvents shows the records, and refuses a bundle that shows them otherwise. How a receipt reads is
// compared where today's parser read it; details are words for people, which another version may choose
// otherwise.
func compareEvents(w *control.Evidence, e *store.Evidence) ([]control.Event, error) {
	opened, err := e.Opened()
	if err != nil {
		return nil, err
	}
	if len(opened) != len(w.Events) {
		return nil, &store.EvidenceError{Err: errors.New("its events are not as many as its records")}
	}
	read := receptionsOf(opened)
	events := make([]control.Event, len(opened))
	for i, entry := range logEntries(opened) {
		events[i] = control.EventOf(entry, read, statusName)
		shown := w.Events[i]
		shown.Detail = events[i].Detail
		if d := entry.Decisions; len(d) == 0 || d[0].Parser != receipt.ParserVersion {
			shown.Receipt = events[i].Receipt
		}
		if r := shown.Receipt; r != nil && r.ErrWord == "" && events[i].Receipt != nil {
			worded := *r // a version before did not show the word
			worded.ErrWord = events[i].Receipt.ErrWord
			shown.Receipt = &worded
		}
		want, err := json.Marshal(events[i])
		if err != nil {
			return nil, err
		}
		if got, err := json.Marshal(shown); err != nil || !bytes.Equal(got, want) {
			return nil, &store.EvidenceError{Seq: entry.Record.Seq, Err: errors.New("its event does not show what the record says")}
		}
	}
	return events, nil
}

// receptionsOf reads receptions under the rules that a bundle has.
func receptionsOf(opened []store.Event) control.ReadReception {
	rules := make(map[uint64]*statemachine.Rules)
	for _, e := range opened {
		if r, ok := e.Record.Fact.(*statemachine.Rules); ok {
			rules[e.Record.Seq] = r
		}
	}
	return func(seq uint64, r *statemachine.Reception) *receipt.Receipt { return readReception(rules[seq], r) }
}

// readEvidence takes a bundle apart.
func readEvidence(w *control.Evidence) (*store.Evidence, error) {
	state, err := statemachine.ParseState(w.State)
	if err != nil {
		return nil, &store.EvidenceError{Err: err}
	}
	e := &store.Evidence{Message: statemachine.ID(w.Message), State: state, Head: store.Head{Seq: w.Head.Seq}}
	if e.Head.Hash, err = hashOf(w.Head.Seq, w.Head.Hash); err != nil {
		return nil, err
	}
	if w.Head.At != nil {
		e.Head.At = *w.Head.At
	}
	for _, r := range w.Records {
		record := store.SealedRecord{Seq: r.Seq, Octets: r.Octets, TextGone: r.TextGone, Unproven: r.Unproven}
		for _, text := range r.Texts {
			record.Texts = append(record.Texts, text)
		}
		e.Records = append(e.Records, record)
	}
	for i := range w.Links {
		l, err := readLink(&w.Links[i])
		if err != nil {
			return nil, err
		}
		e.Links = append(e.Links, l)
	}
	for i := range w.Events {
		for _, d := range w.Events[i].Decisions {
			decided, err := readDecision(w.Events[i].Seq, &d)
			if err != nil {
				return nil, &store.EvidenceError{Seq: w.Events[i].Seq, Err: err}
			}
			if n := len(e.Decisions); n > 0 {
				decided.Previous = e.Decisions[n-1].Pos
			}
			e.Decisions = append(e.Decisions, decided)
		}
	}
	return e, nil
}

func readLink(w *control.EvidenceLink) (l store.Link, err error) {
	l = store.Link{Number: w.Number, Seq: w.Seq, SkipSeq: w.SkipSeq}
	for _, h := range w.Records {
		one, err := hashOf(w.Seq, h)
		if err != nil {
			return l, err
		}
		l.Records = append(l.Records, one)
	}
	if l.Previous, err = hashOf(w.Seq, w.Previous); err != nil {
		return l, err
	}
	if l.Skip, err = hashOf(w.Seq, w.Skip); err != nil || len(w.Records) > 0 {
		return l, err
	}
	l.RecordsHash, err = hashOf(w.Seq, w.RecordsHash)
	return l, err
}

func hashOf(seq uint64, octets control.Octets) (h [32]byte, err error) {
	if len(octets) != len(h) {
		return h, &store.EvidenceError{Seq: seq, Err: fmt.Errorf("a hash of %d octets where %d are one", len(octets), len(h))}
	}
	return [32]byte(octets), nil
}

// readDecision is the reverse of what control shows of a decision.
func readDecision(seq uint64, w *control.Decision) (d statemachine.Decision, err error) {
	d = statemachine.Decision{
		Pos: statemachine.DecisionPos{Seq: seq, N: w.N}, Record: w.Record,
		Message: statemachine.ID(w.Message), Part: w.Part, Attempt: w.Attempt,
		Correlation: statemachine.Correlation(w.Correlation), By: w.By, ExternalID: w.ExternalID, Rule: w.Rule,
		Candidates: w.Candidates, NarrowedBy: w.NarrowedBy, Verdict: statemachine.Verdict(w.Verdict), Why: w.Why,
		Rules: w.Rules, Parser: w.Parser,
	}
	if w.RepeatOf != nil {
		d.RepeatOf = *w.RepeatOf
	}
	if d.From, err = statemachine.ParseState(w.From); err != nil {
		return d, err
	}
	if d.To, err = statemachine.ParseState(w.To); err != nil {
		return d, err
	}
	return d, d.LogicalEvent.UnmarshalText([]byte(w.LogicalEvent))
}
