package capture

import (
	"fmt"
	"io"
)

// Listener takes what a capture tells. The errors of its methods end the telling.
type Listener interface {
	PDU(explain func() Explanation) error // each PDU, in the order of their last octets; who needs no explanation asks for none
	Message(Row) error                    // each part of a message, once it is told of
	Stray(Judged) error                   // each receipt that found no message
	Connection(*Connection) error         // each connection, when it is over or the capture is
}

// Story is what a capture held, in sum.
type Story struct {
	Summary
	BookSummary
}

// Tell reads a capture and tells l of it. Messages and stray receipts come at the end, unless there are too many to
// be held (Book).
func Tell(r io.Reader, rules *Rules, l Listener) (*Story, error) {
	book := NewBook(rules)
	book.Row, book.Stray = l.Message, l.Stray
	see := func(p *PDU) error {
		conclusion, err := book.Take(p)
		if err != nil {
			return err
		}
		return l.PDU(func() Explanation { return rules.explainCaptured(p, conclusion) })
	}
	ended := func(c *Connection) error {
		if err := book.Close(c); err != nil {
			return err
		}
		return l.Connection(c)
	}
	sum, err := Read(r, see, ended)
	if err != nil {
		return nil, err
	}
	told, err := book.Finish()
	return &Story{sum, told}, err
}

// explainCaptured explains a PDU of a capture.
func (r *Rules) explainCaptured(p *PDU, conclusion []string) Explanation {
	e := r.Explain(p.Octets)
	e.Conclusion = conclusion
	e.Line, e.At, e.From, e.To, e.Answers = p.Number, &p.At, p.From.String(), p.To.String(), p.Answers
	if p.Skipped > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%d octets before it in its stream belong to no PDU", p.Skipped))
	}
	if p.Cut {
		e.Notes = append(e.Notes, fmt.Sprintf("%d of its %d octets were captured", len(p.Octets), p.Length))
	}
	return e
}
