package statemachine

import (
	"fmt"
	"slices"

	"esmed/receipt"
)

// Reason says in a line of English why the message is in its state, naming the records. It says who
// reported what and never more than that.
func (m *Message) Reason() string {
	p := m.Deciding()
	if p == nil {
		return ""
	}
	why := p.reason(m.SMSC)
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
		if p.State == m.State && p.Basis != BasisNone && !slices.Contains(seqs, p.BasisSeq) {
			seqs = append(seqs, p.BasisSeq)
		}
	}
	slices.Sort(seqs)
	return seqs
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

func (p *Part) reason(smsc string) string {
	switch p.State {
	case Queued:
		return p.queuedReason(smsc)
	case Submitting:
		return fmt.Sprintf("attempt %d was sent in record %d and is not answered yet", len(p.Attempts), p.BasisSeq)
	case InDoubt:
		return p.doubtReason(smsc)
	case Submitted:
		return p.submittedReason(smsc)
	case Failed:
		return p.failedReason(smsc)
	case Unreported:
		return fmt.Sprintf("nothing final was reported by the end of its window, record %d", p.CutoffSeq)
	}
	return p.Reported.reason()
}

func (p *Part) queuedReason(smsc string) string {
	for i := range p.Attempts {
		a := &p.Attempts[i]
		switch {
		case a.AnswerSeq == p.QueuedSeq:
			return fmt.Sprintf("%s refused attempt %d for now with command_status 0x%08X in record %d; it waits to be sent again",
				smsc, a.Number, a.CommandStatus, a.AnswerSeq)
		case a.DoubtSeq == p.QueuedSeq:
			return fmt.Sprintf("the answer to attempt %d was lost (%s) in record %d; it waits to be sent again",
				a.Number, a.DoubtCause, a.DoubtSeq)
		}
	}
	return fmt.Sprintf("it waits in our queue since record %d", p.QueuedSeq)
}

func (p *Part) doubtReason(smsc string) string {
	a, other := p.Doubt()
	why := fmt.Sprintf("attempt %d was sent in record %d and its answer lost (%s) in record %d", a.Number, a.Seq, a.DoubtCause, a.DoubtSeq)
	if other == nil {
		return why
	}
	switch other.Outcome {
	case AcceptedBy:
		why += fmt.Sprintf("; %s accepted attempt %d in record %d", smsc, other.Number, other.AnswerSeq)
	case RefusedTemp, RefusedPerm:
		why += fmt.Sprintf("; %s refused attempt %d with command_status 0x%08X in record %d", smsc, other.Number, other.CommandStatus, other.AnswerSeq)
	case Doubtful:
		why += fmt.Sprintf("; that to attempt %d was lost (%s) in record %d", other.Number, other.DoubtCause, other.DoubtSeq)
	case NotSent:
		why += fmt.Sprintf("; attempt %d did not leave", other.Number)
	case Arrived:
		why += fmt.Sprintf("; a receipt in record %d shows that %s has attempt %d", other.DoubtEndSeq, smsc, other.Number)
	}
	return why
}

func (p *Part) submittedReason(smsc string) string {
	what := fmt.Sprintf("a receipt for it came in record %d", p.BasisSeq)
	if a := p.first(AcceptedBy); a != nil {
		what = fmt.Sprintf("%s accepted it in record %d", smsc, a.AnswerSeq)
	}
	switch {
	case p.CutoffSeq != 0:
		return what + fmt.Sprintf("; no failure was reported by the end of its window, record %d", p.CutoffSeq)
	case !p.asks():
		return what + "; no receipt was asked for"
	}
	return what + "; no outcome was reported yet"
}

func (p *Part) failedReason(smsc string) string {
	if p.Basis == BasisExpiry {
		return fmt.Sprintf("its validity ended in our queue, record %d", p.BasisSeq)
	}
	for i := range p.Attempts {
		if a := &p.Attempts[i]; a.AnswerSeq == p.BasisSeq {
			return fmt.Sprintf("%s refused it with command_status 0x%08X in record %d", smsc, a.CommandStatus, a.AnswerSeq)
		}
	}
	return fmt.Sprintf("another part of the message failed in record %d", p.BasisSeq)
}

func (r *Reported) reason() string {
	if r.By == ByRequest {
		return fmt.Sprintf("%s answered our query_sm with %s in record %d", r.SMSC, r.State, r.Seq)
	}
	return fmt.Sprintf("%s reported %s in record %d, matched by %s", r.SMSC, r.word(), r.Seq, r.By)
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
