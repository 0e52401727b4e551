package command

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"esmed/cmd/esmed/internal/control"
)

// checkedFile is what the first pass found.
type checkedFile struct {
	sum     string // SHA-256 of the file
	unnamed int    // rows without ref
}

// check has every row judged, by the daemon what can be read. Nothing is submitted, and nothing will be when a row
// is wrong, unless such are to be skipped.
func (r *fileRun) check(ctx context.Context) (checkedFile, error) {
	var checked checkedFile
	next, sum, err := r.rows.rows()
	if err != nil {
		return checked, err
	}
	r.progress = newProgress(r.stderr, "checking", "octets", r.rows.size)
	defer r.progress.end()
	fatal := r.dryRun || !r.skipInvalid // else the second pass says it
	err = r.courier(next, control.BatchOptions{DryRun: true}, func(at row, result control.BatchResult) error {
		r.tally.Rows++
		r.progress.set(at.to)
		why := refusal(at, result.Error)
		if why == "" && !at.ref {
			checked.unnamed++
		}
		if why == "" || !fatal {
			return nil
		}
		r.tally.Invalid++
		r.tally.note(at.line, why)
		return r.printResult(at, result)
	}).run(ctx)
	if err != nil {
		return checked, err
	}
	checked.sum = sum.String()
	if r.tally.Invalid == 0 {
		return checked, nil
	}
	return checked, r.tally.failure(fmt.Sprintf("%s: %s", r.path, wrongRows(r.tally.Invalid, r.tally.Rows)),
		"correct them and send the file again: nothing was sent; --skip-invalid sends the others")
}

func wrongRows(wrong, rows int) string {
	if wrong == 1 {
		return fmt.Sprintf("1 row of %d is wrong", rows)
	}
	return fmt.Sprintf("%d rows of %d are wrong", wrong, rows)
}

// refusal is what is wrong with a row; "" when nothing is.
func refusal(at row, p *control.Problem) string {
	switch {
	case at.err != nil:
		return at.err.Error()
	case p == nil:
		return ""
	case p.Status == http.StatusConflict && !at.ref:
		return "another row was accepted in this place before: send new rows in a file of their own"
	case len(p.Errors) == 0:
		return p.Detail
	}
	parts := make([]string, len(p.Errors))
	for i, e := range p.Errors {
		parts[i] = e.String()
	}
	return strings.Join(parts, "; ")
}

// printResult prints an answer for programs that want each, its line that of the file.
func (r *fileRun) printResult(at row, result control.BatchResult) error {
	if r.out.format != formatNDJSON {
		return nil
	}
	result.Line = at.line
	if at.err != nil {
		result.Error = &control.Problem{Title: http.StatusText(http.StatusBadRequest), Status: http.StatusBadRequest, Detail: at.err.Error()}
	}
	return r.out.object(result)
}
