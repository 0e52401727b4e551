package store

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"esmed/receipt"
	"esmed/statemachine"
)

// A group commit takes at most so much: what one fsync can carry without making the first wait.
const (
	maxGroupRecords = 4096
	maxGroupBytes   = 4 << 20
)

// writer is the one goroutine that appends. It collects what all callers bring and commits as soon as
// the last commit is done.
type writer struct {
	s       *Store
	stop    func() // ends Run
	encoder encoder
	rules   map[string]*receipt.Rules // of each SMSC, in force
	at      time.Time                 // of the last record

	unique uniqueness

	backlog []request // taken from the intake
	next    int       // in backlog: the first that is in no group yet

	// The group that is being made.
	requests []grouped
	records  []statemachine.Record
	buf      []byte
	ends     []int // of each record in buf
	values   [][]byte
	rulesNow []byte
}

// grouped is a request with what came of it.
type grouped struct {
	request
	first, count int // of its records in the group
	answer       Acceptance
	err          error
}

func newWriter(s *Store, stop func()) *writer {
	w := &writer{s: s, stop: stop, at: s.log.lastAt}
	w.unique = uniqueness{s: s, pending: make(map[string]pendingRef)}
	if _, rules, err := decodeRulesHead(s.log.rulesNow); err == nil {
		w.setRules(rules)
	}
	return w
}

func (w *writer) setRules(rules *statemachine.Rules) {
	w.rules = make(map[string]*receipt.Rules, len(rules.SMSCs))
	for i := range rules.SMSCs {
		w.rules[rules.SMSCs[i].SMSC] = &rules.SMSCs[i].Receipt
	}
}

// run commits until the intake is closed and empty. After an error that leaves nothing to be trusted it
// answers everybody with it.
func (w *writer) run() error {
	for w.collect() {
		err := w.commit()
		w.s.commits.end()
		if err != nil {
			w.stop() // has the intake closed
			w.refuse(err)
			return err
		}
	}
	return nil
}

// refuse answers all that comes until the intake is closed.
func (w *writer) refuse(err error) {
	for {
		w.s.intake.refuse(w.backlog[w.next:], err)
		if !w.refill(true) {
			return
		}
	}
}

// refill makes what waits in the intake the backlog; false when that is nothing. To wait for something is in vain
// only when the intake is closed.
func (w *writer) refill(wait bool) bool {
	take := w.s.intake.take
	if wait {
		take = w.s.intake.wait
	}
	w.backlog, w.next = take(w.backlog[:0]), 0
	return len(w.backlog) > 0
}

// collect waits for a request and takes it, and what waits behind it, into a new group, which is begun; false when the
// intake is closed and empty.
func (w *writer) collect() bool {
	if w.next == len(w.backlog) && !w.refill(true) {
		return false
	}
	w.s.commits.begin()
	w.requests, w.records, w.buf, w.ends = w.requests[:0], w.records[:0], w.buf[:0], w.ends[:0]
	w.rulesNow = nil
	w.at = later(w.at, canonicalTime(w.s.cfg.Now()))
	w.unique.begin()
	defer w.unique.end()
	for len(w.records) < maxGroupRecords && len(w.buf) < maxGroupBytes {
		if w.next == len(w.backlog) && !w.refill(false) {
			break
		}
		w.take(&w.backlog[w.next])
		w.next++
	}
	return true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// take encodes a request's facts into the group, all or none.
func (w *writer) take(asked *request) {
	w.requests = append(w.requests, grouped{request: *asked, first: len(w.records)})
	*asked = request{} // backlog's room holds nothing for longer than it must
	r := &w.requests[len(w.requests)-1]
	start := len(w.buf)
	if r.facts == nil {
		r.err = w.encode(r.fact, r)
	}
	for _, fact := range r.facts {
		if r.err == nil {
			r.err = w.encode(fact, r)
		}
	}
	if r.err != nil {
		w.unique.forget(w.nextSeq() - uint64(len(w.records)-r.first))
		w.records, w.ends, w.buf = w.records[:r.first], w.ends[:r.first], w.buf[:start]
	}
	r.count = len(w.records) - r.first
}

func (w *writer) nextSeq() uint64 { return w.s.log.next() + uint64(len(w.records)) }

func (w *writer) encode(fact statemachine.Fact, r *grouped) error {
	rec := statemachine.Record{Seq: w.nextSeq(), At: w.at, Fact: canonical(fact)}
	if a, ok := rec.Fact.(*statemachine.MessageAccepted); ok {
		first, repeat, err := w.unique.claim(a, rec.Seq, rec.At)
		if err != nil {
			return err
		}
		if repeat {
			if r.doneAccept == nil {
				return ErrRefConflict // a repeat, where only Accept could say so
			}
			r.answer = Acceptance{Message: first.message, Seq: first.seq, At: first.at, Existing: true}
			return nil
		}
		r.answer = Acceptance{Message: a.Message, Seq: rec.Seq, At: rec.At}
	}
	spans := w.spans(rec.Fact)
	var key *sealKey
	if hasText(rec.Fact, spans) {
		var err error
		if key, err = w.s.keys.sealing(rec.At); err != nil {
			return diskFull(err)
		}
	}
	start := len(w.buf)
	buf, err := w.encoder.appendRecord(w.buf, rec, spans, key)
	if err != nil {
		return err
	}
	if len(buf)-start > maxRecord {
		return fmt.Errorf("record of %d octets is over %d", len(buf)-start, maxRecord)
	}
	w.buf = buf
	w.records = append(w.records, rec)
	w.ends = append(w.ends, len(buf))
	if rules, ok := rec.Fact.(*statemachine.Rules); ok {
		w.setRules(rules)
		w.rulesNow = rulesHead(rec.Seq, buf[start:])
	}
	return nil
}

// spans says which octets of the fact's PDU are text. Spans that make no sense seal all of it.
func (w *writer) spans(fact statemachine.Fact) []Span {
	var smsc string
	switch f := fact.(type) {
	case *statemachine.Sent:
		smsc = f.SMSC
	case *statemachine.SubmitResp:
		smsc = f.SMSC
	case *statemachine.Reception:
		smsc = f.SMSC
	case *statemachine.QueryResp:
		smsc = f.SMSC
	case *statemachine.CancelResp:
		smsc = f.SMSC
	case *statemachine.SessionEvent:
		smsc = f.SMSC
	default:
		return nil
	}
	pdu := sealedPDU(fact)
	if len(pdu) == 0 {
		return nil
	}
	spans := w.s.cfg.TextSpans(pdu, w.rules[smsc])
	if !within(spans, len(pdu)) {
		return []Span{{0, len(pdu)}}
	}
	return spans
}

// commit makes the group durable and answers it.
func (w *writer) commit() error {
	start := time.Now()
	err := w.append()
	switch {
	case err == nil:
		w.publish(time.Since(start))
	case errors.Is(err, ErrDiskFull):
		// The seqs will be given to others: the texts' key must not be used with them again.
		w.s.keys.renew()
		w.unique.forget(w.s.log.next())
	}
	accepts := 0
	for i := range w.requests {
		w.answer(&w.requests[i], err)
		if w.requests[i].doneAccept != nil {
			accepts++
		}
	}
	w.s.intake.dismiss(accepts)
	clear(w.requests)
	clear(w.records)
	if errors.Is(err, ErrDiskFull) {
		return nil
	}
	return err
}

func (w *writer) append() error {
	if len(w.records) == 0 {
		return nil
	}
	w.values = w.values[:0]
	start := 0
	for _, end := range w.ends {
		w.values = append(w.values, w.buf[start:end:end])
		start = end
	}
	return w.s.journal.append(w.at, w.values, w.rulesNow)
}

// publish makes the group known before its callers are answered: who got an answer can query it.
func (w *writer) publish(elapsed time.Duration) {
	n := len(w.records)
	if n == 0 {
		return
	}
	w.s.feed.push(w.records)
	w.s.recent.add(w.records, w.ends)
	w.s.end.Store(w.records[n-1].Seq)
	w.s.head.Store(&Head{w.records[n-1].Seq, w.s.log.chain.head, w.records[n-1].At})
	w.s.wake()
	if w.s.cfg.OnCommit != nil {
		w.s.cfg.OnCommit(n, elapsed)
	}
}

func (w *writer) answer(r *grouped, err error) {
	repeatOfDurable := r.answer.Existing && r.answer.Seq <= w.s.end.Load()
	if r.err == nil && err != nil && !repeatOfDurable {
		r.err = err
	}
	switch {
	case r.err != nil:
		r.fail(r.err)
	case r.doneAll != nil:
		r.doneAll(slices.Clone(w.records[r.first:r.first+r.count]), nil)
	case r.doneOne != nil:
		r.doneOne(w.records[r.first], nil)
	default:
		r.doneAccept(r.answer, nil)
	}
}
