package statemachine

import (
	"slices"
	"strconv"
	"strings"

	"esmed/receipt"
)

// How evidence found its message (Decision.By).
const (
	ByClientRef = "client_ref"
	ByTLVID     = "receipted_message_id"
	ByTextID    = "text_id"
	ByCallback  = "callback_id"
	ByRequest   = "request"
	ByOperator  = "operator"
)

// candidate is a message, or of one whose parts share the beginning of their ids a part, that a reference
// or an id fits.
type candidate struct {
	m    *Message
	refs []AttemptRef // the attempts that it fits, one for each part
	by   string
	id   string   // as received
	rule []string // id rules that were needed
}

// closed reports whether all parts that fit are closed.
func (c *candidate) closed() bool {
	for _, ref := range c.refs {
		if p := c.m.Part(ref.Part); p != nil && !p.Closed() {
			return false
		}
	}
	return true
}

// knows reports whether a part that fits knows the logical event.
func (c *candidate) knows(event receipt.Fingerprint) bool {
	for _, ref := range c.refs {
		if p := c.m.Part(ref.Part); p != nil && p.event(event) != nil {
			return true
		}
	}
	return false
}

// finding is what correlation concluded.
type finding struct {
	correlation Correlation
	candidate                // the one, if matched or refused by its address
	candidates  []AttemptRef // where a person has to choose
	count       int          // messages that fitted before narrowing
	narrowedBy  string
	waitsFor    string // destination whose unanswered submit may be the owner
	flagged     bool   // the addresses differ, and the rules say to flag only
	ruling      Ruling // the person's decision that it rests on; zero = on none
	why         string
}

// correlate finds whose the evidence is (DESIGN §4, Correlate).
func (s *step) correlate(e *evidence) (finding, error) {
	found, err := s.candidates(e)
	if err != nil {
		return finding{}, err
	}
	f := finding{correlation: Unmatched, count: len(found)}
	if len(found) == 0 {
		return f, nil
	}
	left, by := s.narrow(e, found)
	if len(left) == 1 {
		f.candidate, f.narrowedBy = left[0], by
		if f.refuse(e) {
			return f, nil
		}
	}
	if dest, err := s.mustWait(e, left, found); err != nil || dest != "" {
		const why = "fits only closed parts, and a submit to the same destination is unanswered"
		return finding{correlation: Unmatched, count: f.count, waitsFor: dest, why: why}, err
	}
	if len(left) == 1 {
		f.correlation = Matched
		return f, nil
	}
	f.correlation, f.why = Ambiguous, "its id fits several messages"
	if ofOneMessage(found) {
		f.why = "its id is the beginning of those of several parts"
	}
	if len(left) == 0 {
		f.why += ", and its address or time none of them"
	}
	for i := range found {
		f.candidates = append(f.candidates, found[i].refs...)
	}
	return f, nil
}

// ofOneMessage reports whether all candidates are parts of one message.
func ofOneMessage(found []candidate) bool {
	return !slices.ContainsFunc(found, func(c candidate) bool { return c.m.ID != found[0].m.ID })
}

// refuse asks the address check about the one candidate and reports whether it holds the evidence.
func (f *finding) refuse(e *evidence) bool {
	check := e.rules.Receipt.AddressCheck
	if check == receipt.AddressOff || f.m.checkAddress(e) != Refuses {
		return false
	}
	f.why = "its addresses are not the destination of the message that its id fits"
	if check == receipt.AddressFlag {
		f.flagged = true
		return false
	}
	f.correlation, f.candidates = AddressMismatch, f.refs
	return true
}

// mustWait gives the destination whose unanswered submit the evidence has to wait for: an id may be
// recycled, and the receipt before its response. A submit that left after the receipt came is not its
// owner. Where narrowing left nobody, those that the id found are asked; what its dates took from them they
// take from the submit too.
func (s *step) mustWait(e *evidence, left, found []candidate) (string, error) {
	nobody := len(left) == 0
	if nobody {
		left = found
	}
	for i := range left {
		c := &left[i]
		if c.by == ByClientRef || !c.closed() || c.knows(e.event) {
			return "", nil
		}
	}
	for i := range left {
		dest := left[i].m.destination()
		oldest, err := s.oldestUnanswered(e.account, dest)
		if err != nil {
			return "", err
		}
		if oldest != nil && oldest.Seq < e.seq && !(nobody && e.before(oldest)) {
			return dest, nil
		}
	}
	return "", nil
}

// candidates are the messages that the evidence's reference or else its ids fit. Where the TLV's id and
// the text's fit different ones, they are both. They are valid until the next ones are looked for.
func (s *step) candidates(e *evidence) ([]candidate, error) {
	r := &e.receipt
	if r.ClientRef != "" {
		c, err := s.referred(e)
		if err != nil || c != nil {
			return c, err
		}
	}
	found, err := s.fitting(e, s.found[:0], r.TLVID, ByTLVID)
	if err == nil {
		found, err = s.fitting(e, found, r.TextID, ByTextID)
	}
	s.found = found
	return found, err
}

// referred finds the part that our echoed reference names: our id, or our id/n for part n of several.
// Nil when it names none in this account.
func (s *step) referred(e *evidence) ([]candidate, error) {
	id, number, several := strings.Cut(e.receipt.ClientRef, "/")
	part := 1
	if several {
		n, err := strconv.Atoi(number)
		if err != nil || strconv.Itoa(n) != number { // +2 and 02 are not how we write it
			return nil, nil
		}
		part = n
	}
	m, err := s.message(ID(id))
	if err != nil || m == nil || m.Account != e.account || several != (len(m.Parts) > 1) {
		return nil, err
	}
	p := m.Part(part)
	if p == nil || len(p.Attempts) == 0 {
		return nil, nil
	}
	ref := AttemptRef{Message: m.ID, Part: part, Attempt: s.attemptBehind(e, m, p)}
	return []candidate{{m: m, refs: []AttemptRef{ref}, by: ByClientRef, id: e.receipt.ClientRef}}, nil
}

// attemptBehind is the attempt that an echoed reference to the part is about: the one that was given one of
// the receipt's ids; if none was and there is an id, the only one whose id is not known; else the only one
// that may have arrived. 0 when that is open.
func (s *step) attemptBehind(e *evidence, m *Message, p *Part) int {
	ids := e.keys()
	for _, id := range ids {
		named := p.which(func(a *Attempt) bool { return slices.Contains(s.keys(m, a), id) })
		if len(named) > 0 {
			return only(named)
		}
	}
	possible := func(a *Attempt) bool { return a.MayHaveArrived() || a.saidNotSent() }
	nameless := p.which(func(a *Attempt) bool { return possible(a) && len(s.keys(m, a)) == 0 })
	if len(ids) > 0 && len(nameless) == 1 {
		return nameless[0]
	}
	return only(p.which(possible))
}

// only is the one number, or 0.
func only(numbers []int) int {
	if len(numbers) == 1 {
		return numbers[0]
	}
	return 0
}

// fitting adds the messages with an attempt that was given the id. Forms of the id are tried in the
// order of the rules; the first that fits anything counts. A form that is the beginning of an id only
// fits what the other id of the receipt found before all others.
func (s *step) fitting(e *evidence, found []candidate, id, by string) ([]candidate, error) {
	var room [2]receipt.IDForm
	for _, form := range e.rules.Receipt.AppendReceiptKeys(room[:0], id, by == ByTLVID) {
		if form.Key.Partial() && s.anyHas(found, form.Key) {
			break
		}
		refs, err := s.attempts(e.account, form.Key)
		if err != nil {
			return nil, err
		}
		fits := false
		for i := range refs {
			var c *candidate
			if found, c, err = s.candidateFor(found, refs[i], form.Key, by); err != nil {
				return nil, err
			}
			switch {
			case c == nil:
				continue
			case c.refs == nil:
				c.by, c.id, c.rule = by, id, form.Rules
				c.refs = refs[i : i+1 : i+1]
			case c.by == by && !c.hasPart(refs[i].Part):
				c.refs = append(c.refs, refs[i])
			}
			fits = true
		}
		if fits {
			break
		}
	}
	return found, nil
}

// anyHas reports whether the key finds one of the candidates too.
func (s *step) anyHas(found []candidate, key receipt.Key) bool {
	for i := range found {
		c := &found[i]
		for _, ref := range c.refs {
			if a := c.m.attempt(ref); a != nil && slices.Contains(s.keys(c.m, a), key) {
				return true
			}
		}
	}
	return false
}

// candidateFor gives the candidate among found that ref belongs to, one without refs that it adds when
// there is none, or nil when its message is gone.
func (s *step) candidateFor(found []candidate, ref AttemptRef, key receipt.Key, by string) ([]candidate, *candidate, error) {
	for i := range found {
		if c := &found[i]; c.m.ID == ref.Message && (c.by != by || !key.Partial() || c.shares(ref)) {
			return found, c, nil
		}
	}
	m, err := s.message(ref.Message)
	if err != nil || m == nil || m.Part(ref.Part) == nil {
		return found, nil, err
	}
	found = append(found, candidate{m: m})
	return found, &found[len(found)-1], nil
}

func (c *candidate) hasPart(number int) bool {
	return slices.ContainsFunc(c.refs, func(ref AttemptRef) bool { return ref.Part == number })
}

// shares reports whether what is about the candidate is about ref too: ref is of the same part, or was
// given the whole of the same id.
func (c *candidate) shares(ref AttemptRef) bool {
	if c.hasPart(ref.Part) {
		return true
	}
	a, b := c.m.attempt(c.refs[0]), c.m.attempt(ref)
	return a != nil && b != nil && a.MessageID == b.MessageID
}
