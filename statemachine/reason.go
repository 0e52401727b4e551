package statemachine

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"esmed/receipt"
)

// Reason says in a line of English why the message is in its state, naming the records; "" only for a
// message without parts. It says who reported what and never more than that. statusName gives a
// command_status its name.
func (m *Message) Reason(statusName func(uint32) string) string {
	p := m.Deciding()
	if p == nil {
		return ""
	}
	why := (&teller{m, p, statusName}).state()
	if len(m.Parts) > 1 {
		return fmt.Sprintf("part %d: %s", p.Number, why)
	}
	return why
}

// Basis says what kind of evidence the message's state rests on.
func (m *Message) Basis() Basis {
	p := m.Deciding()
	if p == nil || p.Basis == "" {
		return BasisNone
	}
	return p.Basis
}

// EvidenceSeqs are the records that the state rests on, in their order: those of all parts that are in
// the message's state. Never nil.
func (m *Message) EvidenceSeqs() []uint64 {
	seqs := []uint64{}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.State != m.State {
			continue
		}
		for _, seq := range p.restsOn() {
			if seq != 0 && !slices.Contains(seqs, seq) {
				seqs = append(seqs, seq)
			}
		}
	}
	slices.Sort(seqs)
	return seqs
}

// restsOn are the records that the part's state rests on: beside a person's decision what that is about. 0 is
// none.
func (p *Part) restsOn() []uint64 {
	switch {
	case p.Basis == BasisOperator && p.State == p.Reported.State:
		return []uint64{p.Reported.Seq, p.BasisSeq}
	case p.Basis == BasisOperator && p.State == Submitted:
		if a := p.first(AcceptedBy); a != nil {
			return []uint64{a.AnswerSeq, p.BasisSeq}
		}
	case p.Reported.By == ByOperator && p.BasisSeq == p.Reported.Seq:
		return []uint64{p.BasisSeq, p.Ruling.Seq}
	}
	return []uint64{p.BasisSeq}
}

// Acceptance is the accepted attempt of the part that decides; nil when it has none.
func (m *Message) Acceptance() *Attempt {
	p := m.Deciding()
	if p == nil {
		return nil
	}
	return p.Accepted()
}

// Report is the report of the part that decides; nil when nothing was reported of it. It stays there
// after a cut-off.
func (m *Message) Report() *Reported {
	p := m.Deciding()
	if p == nil || p.Reported.State == NoState {
		return nil
	}
	return &p.Reported
}

// teller finds the words for the state of a part.
type teller struct {
	m          *Message
	p          *Part
	statusName func(uint32) string
}

func (t *teller) state() string {
	why := t.known()
	switch {
	case t.p.State == Failed: // names who, where a person had a part in it
		return why
	case t.p.Basis == BasisOperator:
		return fmt.Sprintf("%s decided so in record %d (%s): %s", t.who(t.p.BasisSeq), t.p.BasisSeq, t.action(t.p.BasisSeq), why)
	case t.p.keptOut() && (t.p.State == Submitting || t.p.State == InDoubt):
		return fmt.Sprintf("%s; as %s it will not be sent again", why, t.ruled())
	}
	return why
}

// ruled tells of the decision that the part keeps.
func (t *teller) ruled() string {
	r := &t.p.Ruling
	return fmt.Sprintf("%s decided in record %d (%s)", t.who(r.Seq), r.Seq, t.action(r.Seq))
}

// who names the person that a record's decision is of.
func (t *teller) who(seq uint64) string {
	if r := &t.p.Ruling; r.Seq == seq && r.By != "" {
		return r.By
	}
	return "an operator"
}

// action tells what the person did in the record, and why.
func (t *teller) action(seq uint64) string {
	r := &t.p.Ruling
	switch {
	case r.Seq != seq:
		return string(ActionAccepted) // the one that states rest on though another decision came later
	case r.Reason == "":
		return string(r.Action)
	}
	return string(r.Action) + ": " + r.Reason
}

func (t *teller) known() string {
	p := t.p
	switch p.State {
	case Queued:
		return t.queued()
	case Submitting:
		a := p.first(Unanswered)
		return fmt.Sprintf("attempt %d left on %s in record %d, no answer yet", a.Number, a.Session, a.Seq)
	case InDoubt:
		return t.inDoubt()
	case Submitted:
		return t.submitted()
	case Failed:
		return t.failed()
	case Unreported:
		if !p.arrived() && p.Reported.State == NoState { // only retention closes what may never have arrived
			return fmt.Sprintf("whether %s has it was not known, and nothing was heard until its time to be kept was over, record %d", t.m.SMSC, p.CutoffSeq)
		}
		return fmt.Sprintf("nothing final was heard before its window ended, record %d", p.CutoffSeq)
	}
	return t.reported()
}

// queued names what put the part back into the queue, if that was an attempt.
func (t *teller) queued() string {
	p := t.p
	if len(p.Attempts) == 0 {
		return string(AppendWaits(nil, t.m.SMSC, p.QueuedSeq))
	}
	if p.Ruling.Seq == p.QueuedSeq {
		return t.queuedBy()
	}
	for i := range p.Attempts {
		a := &p.Attempts[i]
		if a.AnswerSeq != p.QueuedSeq && a.DoubtSeq != p.QueuedSeq {
			continue
		}
		switch {
		case a.Outcome == Doubtful:
			return t.lost(a) + "; it will be sent again"
		case a.Outcome == RefusedTemp && !p.NotBefore.IsZero():
			return fmt.Sprintf("%s; next attempt not before %s", t.refused(a), p.NotBefore.UTC().Format(time.RFC3339))
		case a.refusal() != "": // for good too, where the answer came after the doubt had queued it
			return t.refused(a) + "; it will be sent again"
		}
	}
	return fmt.Sprintf("back in the queue of %s since record %d", t.m.SMSC, p.QueuedSeq)
}

// AppendWaits appends the reason of a part that was accepted in record since and waits in its SMSC's queue for its first
// attempt.
func AppendWaits(b []byte, smsc string, since uint64) []byte {
	b = append(append(append(b, "waits in the queue of "...), smsc...), " since record "...)
	return strconv.AppendUint(b, since, 10)
}

// queuedBy tells of a part that a person put back into the queue.
func (t *teller) queuedBy() string {
	seq := t.p.QueuedSeq
	by := fmt.Sprintf("as %s it will be sent again", t.ruled())
	for i := range t.p.Attempts {
		if a := &t.p.Attempts[i]; a.DoubtEnded == DoubtOperator && a.DoubtEndSeq == seq {
			return fmt.Sprintf("attempt %d did not leave; %s", a.Number, by)
		}
	}
	if a := t.p.first(Doubtful); a != nil {
		return t.lost(a) + "; " + by
	}
	return by
}

// inDoubt names the attempt that is in doubt, which need not be the newest, and what became of that.
func (t *teller) inDoubt() string {
	a, other := t.p.Doubt()
	why := t.lost(a)
	if other == nil {
		return why
	}
	switch other.Outcome {
	case AcceptedBy:
		_, seq := other.acceptance()
		why += fmt.Sprintf("; attempt %d was accepted in record %d", other.Number, seq)
	case RefusedTemp, RefusedPerm:
		why += fmt.Sprintf("; attempt %d was refused with %s in record %d", other.Number, t.statusName(other.CommandStatus), other.AnswerSeq)
	case Doubtful:
		why += fmt.Sprintf("; so was that to attempt %d (%s), record %d", other.Number, other.DoubtCause, other.DoubtSeq)
	case NotSent:
		why += fmt.Sprintf("; attempt %d did not leave", other.Number)
	case Arrived:
		why += fmt.Sprintf("; the receipt %s shows that %s has attempt %d", other.shown(), t.m.SMSC, other.Number)
	}
	return why
}

func (t *teller) submitted() string {
	p := t.p
	why := t.has()
	switch {
	case p.CutoffSeq != 0:
		return why + fmt.Sprintf("; its window ended in record %d and a receipt was asked for %s only", p.CutoffSeq, t.m.onlyOutcome())
	case !p.asks():
		return why + "; no receipt was asked for"
	}
	return why + "; no outcome was reported yet"
}

// has says how it is known that the SMSC has the part. One that was only reported on may have been cut off
// without either.
func (t *teller) has() string {
	p := t.p
	accepted := p.first(AcceptedBy)
	for i := range p.Attempts {
		if a := &p.Attempts[i]; a.DoubtEnded == DoubtClientRef && (accepted == nil || p.Basis == BasisReceipt) {
			return fmt.Sprintf("evidence %s shows that %s has it", a.shown(), t.m.SMSC)
		}
	}
	if accepted == nil {
		return t.reported()
	}
	if accepted.saidAccepted() {
		return fmt.Sprintf("%s accepted attempt %d as %q", t.m.SMSC, accepted.Number, accepted.MessageID)
	}
	return fmt.Sprintf("%s accepted it in record %d", t.m.SMSC, accepted.AnswerSeq)
}

func (t *teller) failed() string {
	p := t.p
	switch {
	case p.Basis == BasisExpiry:
		return t.notSent(fmt.Sprintf("it expired in our queue before it could be submitted, record %d", p.BasisSeq))
	case p.withdrawn():
		return t.notSent(fmt.Sprintf("withdrawn before it could be submitted, as %s", t.ruled()))
	}
	for i := range p.Attempts {
		a := &p.Attempts[i]
		if a.AnswerSeq != p.BasisSeq {
			continue
		}
		if a.Outcome == RefusedTemp && p.keptOut() {
			return fmt.Sprintf("%s; as %s it was not sent again", t.refused(a), t.ruled())
		}
		return t.refused(a)
	}
	return fmt.Sprintf("another part failed, record %d", p.BasisSeq)
}

// notSent tells, beside why a part was not sent any more, what became of the last attempt to.
func (t *teller) notSent(why string) string {
	if len(t.p.Attempts) == 0 {
		return why
	}
	if last := &t.p.Attempts[len(t.p.Attempts)-1]; last.refusal() != "" {
		return why + "; " + t.refused(last)
	}
	return why
}

func (t *teller) reported() string {
	r := &t.p.Reported
	switch {
	case r.By == ByOperator:
		seq := t.p.Ruling.Seq
		return fmt.Sprintf("%s reported %s in record %d, which %s gave to it in record %d (%s)", r.SMSC, r.word(), r.Seq, t.who(seq), seq, t.action(seq))
	case r.By == ByRequest:
		return fmt.Sprintf("%s answered query_sm with %s in record %d", r.SMSC, r.State, r.Seq)
	case r.By == ByCallback, t.p.Basis == BasisCallback && t.p.BasisSeq == r.Seq:
		return fmt.Sprintf("the callback in record %d reported %s, matched by %s", r.Seq, r.word(), r.By)
	}
	return fmt.Sprintf("%s reported %s in record %d, matched by %s", r.SMSC, r.word(), r.Seq, r.By)
}

func (t *teller) refused(a *Attempt) string {
	return fmt.Sprintf("%s refused attempt %d with %s in record %d", t.m.SMSC, a.Number, t.statusName(a.CommandStatus), a.AnswerSeq)
}

func (t *teller) lost(a *Attempt) string {
	if a.Seq == 0 {
		return fmt.Sprintf("%s, record %d", a.doubt(), a.DoubtSeq)
	}
	return fmt.Sprintf("attempt %d left on %s, and its answer was lost (%s), record %d", a.Number, a.Session, a.DoubtCause, a.DoubtSeq)
}

// shown says where the evidence is that the attempt arrived.
func (a *Attempt) shown() string { return fmt.Sprintf("in record %d", a.DoubtEndSeq) }

// onlyOutcome is the one outcome that a receipt was asked for: failure, or (SMPP v5.0 §4.7.21) success.
func (m *Message) onlyOutcome() string {
	const success = 0x03
	if m.RegisteredDelivery&receiptMask == success {
		return "success"
	}
	return "failure"
}

// word is the SMSC's own word for the state, if that is what State was read from.
func (r *Reported) word() string {
	if r.RawStat == "" {
		return r.State.String()
	}
	if named, _ := receipt.ParseMessageState(r.RawStat); states[r.MessageState] == r.State && states[named] != r.State {
		return r.State.String()
	}
	return r.RawStat
}
