package command

import (
	"fmt"
	"io"
	"math"
	"time"
)

// sendTally counts what became of the rows of a file. It is what -o json prints.
type sendTally struct {
	File           string     `json:"file"`
	Run            string     `json:"run,omitempty"`     // under whose key rows without ref went out
	Journal        string     `json:"journal,omitempty"` // where that is remembered
	Resumed        bool       `json:"resumed"`
	DryRun         bool       `json:"dry_run"`
	Rows           int        `json:"rows"`
	Invalid        int        `json:"invalid"` // rows for which nothing was sent
	Accepted       int        `json:"accepted"`
	AcceptedBefore int        `json:"accepted_before"`
	Refused        int        `json:"refused"`
	NotAnswered    int        `json:"not_answered"`
	Seconds        float64    `json:"seconds"`
	Rate           float64    `json:"rate"` // rows answered in a second
	RejectedFile   string     `json:"rejected_file,omitempty"`
	Errors         []rowFault `json:"errors"` // the first maxShown

	submitted bool
	last      int // line of the last row that was answered
}

// rowFault is what is wrong with a row.
type rowFault struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// maxShown bounds how many rows are listed when many are wrong.
const maxShown = 50

func (t *sendTally) note(line int, why string) {
	if len(t.Errors) < maxShown {
		t.Errors = append(t.Errors, rowFault{line, why})
	}
}

func (t *sendTally) answered() int { return t.Accepted + t.AcceptedBefore + t.Refused }

// ended makes the figures of a second pass that took a time.
func (t *sendTally) ended(took time.Duration) {
	t.submitted = true
	t.NotAnswered = t.Rows - t.answered()
	t.Seconds = math.Round(took.Seconds()*1000) / 1000
	if took > 0 {
		t.Rate = math.Round(float64(t.answered()) / took.Seconds())
	}
}

// failure lists the rows that are wrong.
func (t *sendTally) failure(text, hint string) error {
	f := &failure{text: text, hint: hint}
	for _, e := range t.Errors {
		f.more = append(f.more, fmt.Sprintf("line %d: %s", e.Line, e.Error))
	}
	if more := t.Invalid + t.Refused - len(t.Errors); more > 0 {
		f.more = append(f.more, fmt.Sprintf("and %d more", more))
	}
	return f
}

// print prints the summary: the answer for people and -o json, a note beside the results of the rows.
func (t *sendTally) print(o output, stderr io.Writer) error {
	switch {
	case o.format == formatJSON:
		if t.Errors == nil {
			t.Errors = []rowFault{}
		}
		return o.object(t)
	case t.String() == "":
		return nil
	case o.text():
		o.printf("%s\n", t)
	default:
		fmt.Fprintf(stderr, "esmed: %s\n", t)
	}
	return nil
}

// String is the summary in a line; "" when there is nothing to sum up.
func (t *sendTally) String() string {
	switch {
	case t.DryRun && t.Invalid == 0:
		return plural(t.Rows, "row") + " would be taken; nothing was sent"
	case !t.submitted:
		return ""
	}
	text := fmt.Sprintf("%s: %d accepted by us, %d accepted before, %d refused", plural(t.Rows, "row"), t.Accepted, t.AcceptedBefore, t.Refused)
	if t.NotAnswered > 0 {
		text += fmt.Sprintf(", %d not answered", t.NotAnswered)
	}
	return fmt.Sprintf("%s; %.1fs, %.0f/s", text, t.Seconds, t.Rate)
}
