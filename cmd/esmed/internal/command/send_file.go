package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// maxShown bounds how many rows are listed when many are wrong.
const maxShown = 50

// sendFile submits the rows of a file: a first pass reads them all, a second one sends.
func (s *sendFlags) sendFile(cmd *cobra.Command, c *control.Client) error {
	total, refs, err := s.checkFile()
	if err != nil {
		return err
	}
	next, file, err := openRows(s.file, s.fileType, s.refPrefix)
	if err != nil {
		return err
	}
	defer file.Close()
	batch, err := c.Batch(cmd.Context())
	if err != nil {
		return err
	}
	r := &fileRun{batch: batch, total: total, refs: refs, lines: make(chan int, linesAhead), out: s.format.to(cmd),
		progress: newProgress(cmd.ErrOrStderr(), total, "submitting")}
	err = r.run(cmd.Context(), next)
	r.progress.end()
	return errors.Join(r.summary(cmd.ErrOrStderr(), err), closeQuietly(batch))
}

// closeQuietly ends a batch; how it went has been said by then.
func closeQuietly(b *control.Batch) error {
	_ = b.Close()
	return nil
}

// checkFile reads every row. It gives their number and whether each has a ref, or what is wrong with them.
func (s *sendFlags) checkFile() (total int, refs bool, err error) {
	next, file, err := openRows(s.file, s.fileType, s.refPrefix)
	if err != nil {
		return 0, false, err
	}
	defer file.Close()
	refs = true
	wrong := &failure{hint: "correct them and send the file again: nothing was sent"}
	bad := 0
	for {
		r, err := next()
		var rowErr *rowError
		switch {
		case err == io.EOF:
			if bad > 0 {
				wrong.text = fmt.Sprintf("%s: %s cannot be read", s.file, plural(bad, "row"))
				return 0, false, wrong
			}
			return total, refs, nil
		case errors.As(err, &rowErr):
			if bad++; bad <= maxShown {
				wrong.more = append(wrong.more, rowErr.Error())
			}
			continue
		case err != nil:
			return 0, false, fmt.Errorf("%s: %w", s.file, err)
		}
		total++
		refs = refs && r.ref
	}
}

// fileRun is a file on its way through the batch endpoint.
type fileRun struct {
	batch    *control.Batch
	total    int
	refs     bool     // every row has a ref
	lines    chan int // lines of the rows that were sent and are not answered yet
	out      output
	progress *progress

	accepted, existing, rejected int
	lastLine                     int // of the last row that was answered
	shown                        []string

	refusal   *control.Problem // why the daemon took no more rows; nil = it did
	untakenAt int              // line of the first row that it did not take
}

// linesAhead is how many rows may be on their way; the endpoint reads about as many ahead.
const linesAhead = 8192

// run sends and receives until all rows are answered or something goes wrong.
func (r *fileRun) run(ctx context.Context, next rowReader) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.send(ctx, next) })
	g.Go(r.receive)
	return g.Wait()
}

func (r *fileRun) send(ctx context.Context, next rowReader) error {
	defer close(r.lines)
	for {
		row, err := next()
		if err == io.EOF {
			return r.sendError(r.batch.CloseSend())
		}
		if err != nil {
			return err
		}
		select {
		case r.lines <- row.line:
		default:
			// The endpoint has fallen behind: let it have what is buffered while we wait.
			if err := r.batch.Flush(); err != nil {
				return r.sendError(err)
			}
			select {
			case r.lines <- row.line:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := r.batch.SendLine(row.json); err != nil {
			return r.sendError(err)
		}
	}
}

// sendError leaves it to the receiver to say why the other side ended the batch.
func (r *fileRun) sendError(err error) error {
	if errors.Is(err, control.ErrBatchClosed) {
		return nil
	}
	return err
}

var errCutShort = errors.New("the daemon ended the batch before all rows were answered")

func (r *fileRun) receive() error {
	for {
		result, err := r.batch.Recv()
		if err == io.EOF {
			return r.ended()
		}
		if err != nil {
			return err
		}
		line, ok := <-r.lines
		if !ok {
			return errors.New("the daemon answered a row that was not sent")
		}
		r.answered(line, result)
		if err := r.printResult(line, result); err != nil {
			return err
		}
	}
}

// left is how many rows are neither accepted nor refused.
func (r *fileRun) left() int { return r.total - r.accepted - r.existing - r.rejected }

// ended looks whether rows are left.
func (r *fileRun) ended() error {
	switch {
	case r.left() == 0:
		return nil
	case r.refusal != nil:
		return &failure{text: fmt.Sprintf("%s, and %s", r.refusal.Detail, notTaken(r.left()))}
	}
	return errCutShort
}

func notTaken(rows int) string {
	if rows == 1 {
		return "1 row was not taken"
	}
	return fmt.Sprintf("%d rows were not taken", rows)
}

func (r *fileRun) answered(line int, result control.BatchResult) {
	if result.Error != nil && result.Error.Status == http.StatusServiceUnavailable {
		// The row is as good as any: it is the daemon that takes none.
		if r.refusal == nil {
			r.refusal, r.untakenAt = result.Error, line
		}
		return
	}
	r.lastLine = line
	switch {
	case result.Error != nil:
		if r.rejected++; r.rejected <= maxShown {
			r.shown = append(r.shown, fmt.Sprintf("line %d: %s", line, result.Error.Error()))
		}
	case result.Existing:
		r.existing++
	default:
		r.accepted++
	}
	r.progress.add()
}

// printResult prints an answer for programs, its line that of the file.
func (r *fileRun) printResult(line int, result control.BatchResult) error {
	if r.out.text() {
		return nil
	}
	result.Line = line
	return r.out.object(result)
}

// summary says how it went, and how to go on if it did not go well.
func (r *fileRun) summary(stderr io.Writer, err error) error {
	text := fmt.Sprintf("%s: %d accepted by us, %d accepted before, %d refused", plural(r.total, "row"), r.accepted, r.existing, r.rejected)
	if left := r.left(); left > 0 && r.refusal != nil {
		text += fmt.Sprintf(", %d not taken", left)
	} else if left > 0 {
		text += fmt.Sprintf(", %d not answered", left)
	}
	if r.out.text() {
		r.out.printf("%s\n", text)
	} else {
		fmt.Fprintf(stderr, "esmed: %s\n", text)
	}
	if err != nil {
		return r.cut(err)
	}
	if r.rejected == 0 {
		return nil
	}
	f := &failure{text: plural(r.rejected, "row") + " refused", more: r.shown, hint: "correct them and send the file again: rows with a ref are taken once"}
	if more := r.rejected - len(r.shown); more > 0 {
		f.more = append(f.more, fmt.Sprintf("and %d more", more))
	}
	if !r.refs {
		f.hint = "send these rows alone again, corrected: rows without a ref would be taken twice"
	}
	return f
}

// cut says how to go on after an end before the end.
func (r *fileRun) cut(err error) error {
	f := asFailure(err)
	if errors.Is(err, context.Canceled) {
		f = &failure{text: "interrupted"}
	}
	answered := fmt.Sprintf("the last row answered is line %d", r.lastLine)
	if r.lastLine == 0 {
		answered = "no row was answered"
	}
	f = &failure{text: f.text, more: append([]string{answered}, f.more...), code: f.code}
	switch {
	case r.refs:
		f.hint = "run the same command again: rows that were accepted are recognised by their ref"
	case r.refusal != nil && r.untakenAt > r.lastLine:
		f.hint = fmt.Sprintf("send the rows from line %d on again, and none before it: they have no ref, and would be taken twice", r.untakenAt)
	default:
		f.hint = "rows without an answer may have been accepted or not: compare with esmed list --since 1h, and send only what is missing; --ref-prefix makes a file resumable"
	}
	return f
}
