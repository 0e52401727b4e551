package capture

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
)

// maxRecords bounds what a Book holds at once: about four a message, 1 KiB each or less.
const maxRecords = 600_000

// Book follows the messages of a capture. It turns PDUs into the records that a daemon would have written, and
// leaves all that follows to the state machine: whose a receipt is, what it counts for, what became of a message.
type Book struct {
	// MaxRecords bounds what is held at once. Beyond it the older half is told of and let go; what comes for those
	// messages after that finds nothing. 0 = 600,000.
	MaxRecords int
	// Row takes each message, when it is let go or at the end, in the order of their submits.
	Row func(Row) error
	// Stray takes each receipt that found no message, in their order, when it is let go or at the end.
	Stray func(Judged) error

	rules   *Rules
	mem     *statemachine.Memory
	eff     statemachine.Effects
	in      statemachine.Rules // in force
	pdu, k  uint64             // the PDU that records are numbered by, and how many it made
	at      time.Time
	stories map[statemachine.ID]*story
	order   []statemachine.ID // of stories, by their first submits
	parts   map[partKey]statemachine.ID
	asked   map[int]asked // requests of the ESME that are not answered, by number
	strays  map[uint64]*Judged
	oldest  []uint64 // records of strays, in their order; some may be gone
	sum     BookSummary
}

// BookSummary counts what a capture tells.
type BookSummary struct {
	Messages int `json:"messages"`
	// LetGo are those of Messages that were told of before the capture's end, for want of room: what came for them
	// after that is among Strays.
	LetGo       int `json:"let_go"`
	Strays      int `json:"stray_receipts"` // that found no message
	StrayAnswer int `json:"stray_answers"`  // to requests that the capture does not hold
	Inbound     int `json:"inbound"`        // messages from mobiles

	// Exceptions are what a person would have to decide at the capture's end.
	Exceptions map[statemachine.ExceptionKind]int `json:"exceptions"`
}

// asked is a request of the ESME about a message, or with one.
type asked struct {
	ref  statemachine.AttemptRef
	what smpp.CommandID
}

// NewBook makes a Book that judges under rules.
func NewBook(rules *Rules) *Book {
	return &Book{
		rules: rules, mem: statemachine.NewMemory(statemachine.Fold{Decode: rules.Decode}),
		in:      statemachine.Rules{Parser: receipt.ParserVersion},
		stories: map[statemachine.ID]*story{}, parts: map[partKey]statemachine.ID{},
		asked: map[int]asked{}, strays: map[uint64]*Judged{},
	}
}

// Take takes the next PDU and says what is concluded from it; nothing for what concludes nothing.
func (b *Book) Take(p *PDU) ([]string, error) {
	b.pdu, b.k = uint64(p.Number), 0
	if p.At.After(b.at) {
		b.at = p.At
	}
	words, err := b.take(p)
	if err != nil {
		return nil, fmt.Errorf("capture: PDU %d: %w", p.Number, err)
	}
	if len(b.mem.Records) > b.limit() {
		err = b.letGo()
	}
	return words, err
}

func (b *Book) limit() int {
	if b.MaxRecords > 0 {
		return b.MaxRecords
	}
	return maxRecords
}

func (b *Book) take(p *PDU) ([]string, error) {
	if err := b.meet(p.conn); err != nil {
		return nil, err
	}
	h := p.Header()
	fromESME := p.side == p.conn.client()
	switch {
	case h.CommandID.IsResponse():
		if fromESME {
			return nil, nil
		}
		return b.answer(p, h)
	case fromESME:
		return nil, b.request(p, h)
	case h.CommandID == smpp.CommandDeliverSM, h.CommandID == smpp.CommandDataSM, !h.CommandID.Known():
		return b.delivery(p)
	}
	return nil, nil
}

// request takes a request of the ESME that is about a message.
func (b *Book) request(p *PDU, h smpp.Header) error {
	switch h.CommandID {
	case smpp.CommandSubmitSM, smpp.CommandDataSM:
		return b.submit(p)
	case smpp.CommandQuerySM, smpp.CommandCancelSM:
		if ref, ok := b.about(p); ok {
			b.asked[p.Number] = asked{ref, h.CommandID}
		}
	}
	return nil
}

// about finds the one attempt whose id a query_sm or cancel_sm names.
func (b *Book) about(p *PDU) (statemachine.AttemptRef, bool) {
	var id string
	switch q, _ := smpp.Decode(p.Octets); q := q.(type) {
	case *smpp.QuerySM:
		id = q.MessageID
	case *smpp.CancelSM:
		id = q.MessageID
	}
	smsc := b.smsc(p.conn)
	for _, key := range smsc.Receipt.ResponseKeys(id) {
		if !key.Received() {
			continue
		}
		refs, err := b.mem.Attempts(smsc.Account, key)
		if err == nil && len(refs) == 1 {
			return refs[0], true
		}
	}
	return statemachine.AttemptRef{}, false
}

// answer takes an answer of the SMSC.
func (b *Book) answer(p *PDU, h smpp.Header) ([]string, error) {
	if p.Answers == 0 {
		b.sum.StrayAnswer++
		return nil, nil
	}
	q, ok := b.asked[p.Answers]
	if !ok {
		return nil, nil
	}
	delete(b.asked, p.Answers)
	smsc := b.smsc(p.conn)
	session := p.From.String()
	switch q.what {
	case smpp.CommandQuerySM:
		resp := &statemachine.QueryResp{
			Message: q.ref.Message, Part: q.ref.Part, Attempt: q.ref.Attempt, SMSC: smsc.SMSC, Account: smsc.Account,
			Session: session, CommandStatus: uint32(h.CommandStatus),
		}
		if r, ok := decoded(p).(*smpp.QuerySMResp); ok {
			resp.MessageID, resp.MessageState, resp.FinalDateRaw, resp.ErrorCode = r.MessageID, r.MessageState, r.FinalDate, r.ErrorCode
		}
		return b.judged(p, resp)
	case smpp.CommandCancelSM:
		return nil, b.record(&statemachine.CancelResp{
			Message: q.ref.Message, Part: q.ref.Part, Attempt: q.ref.Attempt, SMSC: smsc.SMSC, Session: session,
			CommandStatus: uint32(h.CommandStatus),
		})
	}
	return b.submitResp(p, h, q.ref)
}

// submitResp takes the answer to a submit. What is refused counts as refused for good: whether it was sent again
// is for the capture to show.
func (b *Book) submitResp(p *PDU, h smpp.Header, ref statemachine.AttemptRef) ([]string, error) {
	smsc := b.smsc(p.conn)
	r := &statemachine.SubmitResp{
		Message: ref.Message, Part: ref.Part, Attempt: ref.Attempt, SMSC: smsc.SMSC, Session: p.To.String(),
		SequenceNumber: h.SequenceNumber, CommandStatus: uint32(h.CommandStatus),
	}
	switch resp := decoded(p).(type) {
	case *smpp.SubmitSMResp:
		r.MessageID = resp.MessageID
	case *smpp.DataSMResp:
		r.MessageID = resp.MessageID
	}
	if s := b.stories[ref.Message]; s != nil {
		s.answered(ref, Answer{
			PDU: p.Number, At: p.At, CommandStatus: h.CommandStatus.String(), MessageID: receipt.MessageID([]byte(r.MessageID)),
		})
	}
	if err := b.record(r); err != nil {
		return nil, err
	}
	words := answerWords(h.CommandStatus, r.MessageID)
	return append(words, b.settle(0)...), nil
}

// delivery takes a request of the SMSC that may be evidence.
func (b *Book) delivery(p *PDU) ([]string, error) {
	smsc := b.smsc(p.conn)
	return b.judged(p, &statemachine.Reception{
		SMSC: smsc.SMSC, Account: smsc.Account, Session: p.To.String(), PDU: p.Octets, Length: p.Length,
	})
}

// judged records evidence and says what was concluded from it.
func (b *Book) judged(p *PDU, f statemachine.Fact) ([]string, error) {
	if err := b.record(f); err != nil {
		return nil, err
	}
	seq := b.last()
	reading := Judged{PDU: p.Number, At: p.At}
	if r := b.eff.Reading; r != nil {
		reading.read(r)
		if r.Kind == receipt.Message {
			b.sum.Inbound++
		}
	}
	b.remember(seq, reading)
	return b.settle(seq), nil
}

// record applies a fact to the fold. Its number is the PDU's, and how many the PDU had before.
func (b *Book) record(f statemachine.Fact) error {
	b.k++
	return b.mem.Apply(statemachine.Record{Seq: b.last(), At: b.at, Fact: f}, &b.eff)
}

const pduShift = 24 // the rest counts the records of one PDU

func (b *Book) last() uint64 { return b.pdu<<pduShift | b.k }

// pduOf is the number of the PDU that made a record.
func pduOf(seq uint64) int { return int(seq >> pduShift) }

// smsc is the rules of a connection's message centre; nil before it is met.
func (b *Book) smsc(c *conn) *statemachine.SMSCRules {
	name := b.centre(c)
	for i := range b.in.SMSCs {
		if b.in.SMSCs[i].SMSC == name {
			return &b.in.SMSCs[i]
		}
	}
	return nil
}

// centre names a connection's message centre: by its address, whatever the port, where no name is given.
func (b *Book) centre(c *conn) string {
	return cmp.Or(b.rules.SMSC.SMSC, c.ends[1-c.client()].Addr().String())
}

// meet puts the rules of a connection's message centre in force when it is new.
func (b *Book) meet(c *conn) error {
	if b.smsc(c) != nil {
		return nil
	}
	b.in.SMSCs = append(slices.Clone(b.in.SMSCs), b.rules.named(b.centre(c)))
	in := b.in
	return b.record(&in)
}

// Close takes that a connection is over: what was not answered on it never will be, if its end was captured.
func (b *Book) Close(c *Connection) error {
	for _, r := range c.Unanswered {
		q, ok := b.asked[r.Number]
		if !ok {
			continue
		}
		delete(b.asked, r.Number)
		if !c.Ended || q.what != smpp.CommandSubmitSM && q.what != smpp.CommandDataSM {
			continue
		}
		err := b.record(&statemachine.AttemptInDoubt{
			Message: q.ref.Message, Part: q.ref.Part, Attempt: q.ref.Attempt,
			SMSC: b.smsc(c.conn).SMSC, Session: c.ESME.String(), Cause: "cut",
		})
		if err != nil {
			return fmt.Errorf("capture: %w", err)
		}
		b.settle(0)
	}
	return nil
}

// decoded is a PDU taken apart as far as it can be; nil when it cannot be at all.
func decoded(p *PDU) smpp.PDU {
	d, _ := smpp.Decode(p.Octets)
	return d
}
