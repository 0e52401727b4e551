package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"esmed/statemachine"
)

// ExceptionDetail is an exception with all that bears on it.
type ExceptionDetail struct {
	Exception
	Row     *InboxRow `json:"row" doc:"The inbox row that it is about, while there is one and its id was asked for"`
	Events  []Event   `json:"events" nullable:"false" doc:"Its records, read"`
	InDoubt []Doubt   `json:"in_doubt" nullable:"false" doc:"For a receipt without an owner: attempts in doubt to the same destination, of which one may be its own. Nothing is assigned by that"`
}

// Doubt is an attempt whose answer was lost.
type Doubt struct {
	Message   string    `json:"message"`
	Part      int       `json:"part"`
	Attempt   int       `json:"attempt"`
	To        string    `json:"to"`
	At        time.Time `json:"at" doc:"When it left"`
	Session   string    `json:"session"`
	Cause     string    `json:"cause"`
	Record    uint64    `json:"record" doc:"That says so"`
	Exception string    `json:"exception,omitempty" doc:"Open about it"`
}

// Bounds of what is put beside an exception.
const (
	maxDoubts      = 20
	maxDoubtsAsked = 1000 // messages in doubt that are looked through
)

type getExceptionIn struct {
	ID string `path:"id"`
}

func (a *API) getException(ctx context.Context, in *getExceptionIn) (ExceptionDetail, error) {
	d := ExceptionDetail{Events: []Event{}, InDoubt: []Doubt{}}
	if digits, ok := strings.CutPrefix(in.ID, inboxRun); ok {
		e, err := a.inboxRow(ctx, digits)
		if err != nil {
			return d, err
		}
		row := inboxRow(e)
		d.Exception, d.Row = unmatchedException(e.Row), &row
	} else {
		x, err := a.cfg.Exceptions.Exception(ctx, in.ID)
		if err != nil {
			return d, err
		}
		d.Exception = exception(x)
	}
	first, err := a.readRecords(ctx, &d)
	if err == nil {
		err = a.readCandidates(ctx, &d)
	}
	if err == nil && first != nil && slices.Contains(receiptKinds, d.Kind) {
		err = a.readDoubts(ctx, &d, first)
	}
	return d, err
}

// readRecords reads the records that an exception is about, those that are still in the log, and gives the
// first reception among them.
func (a *API) readRecords(ctx context.Context, d *ExceptionDetail) (first *statemachine.Record, err error) {
	for _, seq := range d.Records {
		page, err := a.cfg.Log.Events(ctx, seq-1, 1)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 || page[0].Record.Seq != seq {
			continue
		}
		d.Events = append(d.Events, a.render.event(page[0]))
		if _, ok := page[0].Record.Fact.(*statemachine.Reception); ok && first == nil {
			first = &page[0].Record
		}
	}
	return first, nil
}

// readCandidates says how those stand that the evidence might belong to.
func (a *API) readCandidates(ctx context.Context, d *ExceptionDetail) error {
	for i := range d.Candidates {
		c := &d.Candidates[i]
		m, err := a.cfg.Messages.Message(ctx, statemachine.ID(c.Message))
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		c.To, c.AcceptedAt = m.To, instant(m.AcceptedAt)
		if p := m.Part(c.Part); p != nil {
			c.State = p.State.String()
		}
	}
	return nil
}

// receiptKinds are the kinds that are about receipts without an owner.
var receiptKinds = []string{
	string(statemachine.KindUnmatched), string(statemachine.KindAmbiguous), string(statemachine.KindAddressMismatch),
}

// readDoubts finds the attempts in doubt, of the same account, that left before the receipt came and went to
// one of its addresses; those that left last first.
func (a *API) readDoubts(ctx context.Context, d *ExceptionDetail, came *statemachine.Record) error {
	read := a.cfg.Reception(0, came.Fact.(*statemachine.Reception))
	if read == nil {
		return nil
	}
	page, _, err := a.cfg.Messages.Messages(ctx, MessageFilter{States: []statemachine.State{statemachine.InDoubt}, Limit: maxDoubtsAsked})
	if err != nil {
		return err
	}
	for _, m := range page {
		if m.Account != d.Account || statemachine.CheckAddress(m.Source.Addr, m.Dest.Addr, read.Source, read.Dest) != statemachine.Agrees {
			continue
		}
		for i := range m.Parts {
			d.InDoubt = append(d.InDoubt, doubts(m, &m.Parts[i], came.At)...)
		}
	}
	slices.SortStableFunc(d.InDoubt, func(x, y Doubt) int { return y.At.Compare(x.At) })
	d.InDoubt = d.InDoubt[:min(len(d.InDoubt), maxDoubts)]
	for i := range d.InDoubt {
		if err := a.findDoubtException(ctx, page, &d.InDoubt[i]); err != nil {
			return err
		}
	}
	return nil
}

// findDoubtException finds the exception that is open about a doubt of one of the messages.
func (a *API) findDoubtException(ctx context.Context, page []*statemachine.Message, d *Doubt) error {
	i := slices.IndexFunc(page, func(m *statemachine.Message) bool { return string(m.ID) == d.Message })
	for _, id := range page[i].Exceptions {
		x, err := a.cfg.Exceptions.Exception(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if x.Kind == statemachine.KindInDoubt && x.Part == d.Part {
			d.Exception = x.ID
		}
	}
	return nil
}

// doubts are the attempts of a part that were in doubt, and not known to have arrived, when something came.
func doubts(m *statemachine.Message, p *statemachine.Part, came time.Time) []Doubt {
	var all []Doubt
	for i := range p.Attempts {
		t := &p.Attempts[i]
		if t.Outcome != statemachine.Doubtful || t.At.After(came) {
			continue
		}
		all = append(all, Doubt{
			Message: string(m.ID), Part: p.Number, Attempt: t.Number, To: m.To, At: t.At.UTC(), Session: t.Session,
			Cause: t.DoubtCause, Record: t.DoubtSeq,
		})
	}
	return all
}
