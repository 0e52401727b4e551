package capture

import (
	"cmp"
	"fmt"
	"time"

	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
)

// Row is what a capture tells of one part of a message, which is all of most messages.
type Row struct {
	Message int    `json:"message"` // the number of the PDU that first submitted it
	Part    int    `json:"part"`    // from 1
	Parts   int    `json:"parts"`
	SMSC    string `json:"smsc"`
	From    string `json:"from"`
	To      string `json:"to"`

	RegisteredDelivery byte     `json:"registered_delivery"`
	Submits            []Submit `json:"submits"`  // more than one where it was sent again after a refusal; never null
	Receipts           []Judged `json:"receipts"` // in their order; never null
	State              string   `json:"state"`
	Final              bool     `json:"final"`
	Reason             string   `json:"reason"` // why it is in that state
}

// Submit is one submit_sm or data_sm.
type Submit struct {
	PDU            int       `json:"pdu"`
	At             time.Time `json:"at"`
	Session        string    `json:"session"` // the ESME's end
	SequenceNumber uint32    `json:"sequence_number"`
	Answer         *Answer   `json:"answer"` // null: the capture holds none
}

// Answer is what the SMSC answered.
type Answer struct {
	PDU           int       `json:"pdu"`
	At            time.Time `json:"at"`
	CommandStatus string    `json:"command_status"`
	MessageID     string    `json:"message_id"`
}

// Judged is a receipt, or an answer to query_sm, with what it counts for.
type Judged struct {
	PDU     int       `json:"pdu"`
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"` // as in receipt; query_sm_resp
	ID      string    `json:"id"`
	RawStat string    `json:"raw_stat"`
	State   string    `json:"state"` // as read
	Err     string    `json:"err"`

	Correlation string   `json:"correlation"`
	By          string   `json:"by"`   // how its message was found
	Rule        []string `json:"rule"` // id rules that it took; never null
	Verdict     string   `json:"verdict"`
	Why         string   `json:"why"`
}

func (j *Judged) read(r *receipt.Receipt) {
	j.Kind, j.ID, j.RawStat, j.State, j.Err = r.Kind.String(), r.ID, r.RawStat, r.State.String(), r.Err
}

// judge puts in what was decided.
func (j *Judged) judge(d *statemachine.Decision) {
	j.Correlation, j.By, j.Verdict = string(d.Correlation), d.By, string(d.Verdict)
	j.Rule = append([]string{}, d.Rule...)
	switch {
	case d.Verdict == statemachine.VerdictDuplicate:
		j.Why = fmt.Sprintf("the same event as in PDU %d", pduOf(d.RepeatOf))
	case d.Verdict == statemachine.VerdictConflict:
		j.Why = fmt.Sprintf("contradicts the final state %s", d.From)
	case d.Correlation == statemachine.Unmatched:
		j.Why = "no message of the capture has this id"
	default:
		j.Why = d.Why
	}
}

// Words say what it counts for.
func (j *Judged) Words() string {
	words := j.Verdict
	if words == "" {
		words = j.Correlation
	}
	if j.Correlation == string(statemachine.Matched) && j.By != "" && j.By != statemachine.ByRequest {
		words += ", matched by " + j.By
		for i, rule := range j.Rule {
			if words += " under "; i > 0 {
				words = words[:len(words)-len(" under ")] + ", "
			}
			words += rule
		}
	}
	if j.Why != "" {
		words += ": " + j.Why
	}
	return words
}

// story is what is told of a message beside its state.
type story struct {
	first    int
	smsc     string
	from, to string
	asked    byte
	submits  [][]Submit // by part
	receipts [][]Judged
}

func newStory(p *PDU, smsc string, s *submitted, parts int) *story {
	return &story{
		first: p.Number, smsc: smsc, from: s.source.Addr, to: s.dest.Addr, asked: s.registeredDelivery,
		submits: make([][]Submit, parts), receipts: make([][]Judged, parts),
	}
}

func (s *story) submitted(ref statemachine.AttemptRef, submit Submit) {
	s.submits[ref.Part-1] = append(s.submits[ref.Part-1], submit)
}

func (s *story) answered(ref statemachine.AttemptRef, a Answer) {
	s.submits[ref.Part-1][ref.Attempt-1].Answer = &a
}

// maxReceipts bounds the receipts that are told of one part; an SMSC that repeats itself says nothing new.
const maxReceipts = 64

// judged tells of evidence that found its message.
func (s *story) judged(part int, j Judged) {
	if all := &s.receipts[part-1]; len(*all) < maxReceipts {
		*all = append(*all, j)
	}
}

// remember keeps evidence until it finds its message.
func (b *Book) remember(seq uint64, j Judged) {
	b.strays[seq] = &j
	b.oldest = append(b.oldest, seq)
}

// settle tells what the last record decided, and says it of the evidence seq.
func (b *Book) settle(seq uint64) []string {
	var words []string
	for i := range b.eff.Decisions {
		d := &b.eff.Decisions[i]
		stray := b.strays[d.Record]
		if stray == nil {
			continue
		}
		stray.judge(d)
		s := b.stories[d.Message]
		if s != nil && d.Part > 0 {
			s.judged(d.Part, *stray)
		}
		if d.Record == seq {
			words = append(words, b.judgedWords(s, stray))
		} else if s != nil {
			words = append(words, fmt.Sprintf("with it PDU %d finds its message: %s", stray.PDU, b.judgedWords(s, stray)))
		}
	}
	for i := range b.eff.Decisions {
		if d := &b.eff.Decisions[i]; d.Message != "" || d.Correlation == statemachine.NotAReceipt {
			delete(b.strays, d.Record)
		}
	}
	return words
}

func (b *Book) judgedWords(s *story, j *Judged) string {
	words := j.Words()
	if s != nil {
		words = fmt.Sprintf("message %d: %s", s.first, words)
	}
	return words
}

// rows are those of a message.
func (b *Book) rows(id statemachine.ID) []Row {
	s, m := b.stories[id], b.mem.Messages[id]
	if s == nil || m == nil {
		return nil
	}
	rows := make([]Row, len(m.Parts))
	for i := range m.Parts {
		p := &m.Parts[i]
		rows[i] = Row{
			Message: s.first, Part: p.Number, Parts: len(m.Parts), SMSC: s.smsc, From: s.from, To: s.to,
			RegisteredDelivery: s.asked, Submits: append([]Submit{}, s.submits[i]...),
			Receipts: append([]Judged{}, s.receipts[i]...), State: p.State.String(), Final: p.Final(), Reason: reason(p),
		}
		if len(s.submits[i]) == 0 {
			rows[i].State = "" // it was not met: the state machine supposes that it waits
		}
	}
	return rows
}

// reason says why a part is in its state, by the PDUs that show it.
func reason(p *statemachine.Part) string {
	switch p.State {
	case statemachine.Queued:
		return "the capture does not hold it"
	case statemachine.Submitting:
		return "the capture holds no answer"
	case statemachine.InDoubt:
		return "the connection ended without an answer"
	case statemachine.Submitted:
		if !p.Asked && !p.Partial {
			return "accepted; no receipt was asked for"
		}
		return "accepted; the capture holds no outcome"
	case statemachine.Failed:
		if n := len(p.Attempts); n > 0 {
			return fmt.Sprintf("refused with %s", smpp.Status(p.Attempts[n-1].CommandStatus))
		}
		return "another part was refused"
	}
	r := &p.Reported
	said := cmp.Or(r.RawStat, r.State.String())
	if r.By == statemachine.ByRequest {
		return fmt.Sprintf("query_sm was answered with %s in PDU %d", said, pduOf(r.Seq))
	}
	return fmt.Sprintf("reported %s in PDU %d, matched by %s", said, pduOf(r.Seq), r.By)
}
