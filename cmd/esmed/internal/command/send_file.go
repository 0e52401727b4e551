package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// fileFlags are the flags of send --file.
type fileFlags struct {
	path        string
	format      string
	refPrefix   string
	wish        runWish
	dryRun      bool
	skipInvalid bool
	rejected    string
}

// fileRun is a file on its way through the batch endpoint, in two passes: the first has every row judged by the
// daemon, the second submits them.
type fileRun struct {
	fileFlags
	client   *control.Client
	socket   string
	patience time.Duration
	stderr   io.Writer
	out      output

	rows     *rowFile
	rejects  *rejected
	journal  *journal // nil: every row has a ref
	key      string   // of the run; "" likewise
	progress *progress
	tally    sendTally
}

// defaultPatience is long enough for a daemon to be upgraded in.
const defaultPatience = 5 * time.Minute

// sendFile submits the rows of a file.
func (s *sendFlags) sendFile(cmd *cobra.Command, c *control.Client) (err error) {
	r := &fileRun{
		fileFlags: s.file, client: c, socket: s.reach.socket, patience: defaultPatience,
		stderr: cmd.ErrOrStderr(), out: s.format.to(cmd), tally: sendTally{File: s.file.path, DryRun: s.file.dryRun},
	}
	if s.timeout.d != nil {
		r.patience = *s.timeout.d
	}
	if r.rows, err = openRowFile(r.path, r.format, r.refPrefix); err != nil {
		return err
	}
	defer r.rows.close()
	if r.rejects, err = newRejected(r.rows, r.rejected); err != nil {
		return err
	}
	defer r.rejects.discard()
	err = r.run(cmd.Context())
	return errors.Join(r.tally.print(r.out, r.stderr), err)
}

func (r *fileRun) run(ctx context.Context) error {
	checked, err := r.check(ctx)
	if err != nil || r.dryRun {
		return err
	}
	if err := r.begin(checked); err != nil {
		return err
	}
	began := time.Now()
	sum, err := r.submit(ctx)
	r.tally.ended(time.Since(began))
	switch {
	case err != nil:
		return r.cut(err)
	case sum != checked.sum:
		return &failure{text: r.path + " was changed while it was sent", hint: "see what was sent with esmed list, then decide between --resume and --again"}
	}
	return r.finish()
}

// begin finds out under which run the rows go out, and makes it last.
func (r *fileRun) begin(checked checkedFile) error {
	if checked.unnamed == 0 {
		if r.wish != (runWish{}) {
			fmt.Fprintln(r.stderr, "esmed: every row has a ref and is known by it: --again and --resume change nothing")
		}
		return nil
	}
	socket, err := filepath.Abs(r.socket)
	if err != nil {
		return err
	}
	if r.journal, err = openJournal(r.rows.path); err != nil {
		return err
	}
	last := r.journal.last
	chosen, err := r.wish.choose(last, newRun(r.rows.path, checked.sum, socket))
	if err != nil {
		return err
	}
	if err := r.journal.keep(chosen); err != nil {
		return err
	}
	r.key, r.tally.Run, r.tally.Journal = chosen.Key, chosen.Key, r.journal.path
	how := "known by their place in this run"
	if r.tally.Resumed = last != nil && last.Key == chosen.Key; r.tally.Resumed {
		how = "the run of " + chosen.BegunAt.Format(time.RFC3339) + " goes on"
	} else if last != nil && !last.finished() {
		fmt.Fprintf(r.stderr, "esmed: the run of %s was interrupted and is given up\n", last.BegunAt.Format(time.RFC3339))
	}
	fmt.Fprintf(r.stderr, "esmed: %s without ref: %s, which is remembered in %s\n", plural(checked.unnamed, "row"), how, clean(r.journal.path))
	return nil
}

// submit is the second pass. It gives the hash of what it read.
func (r *fileRun) submit(ctx context.Context) (sum string, err error) {
	next, read, err := r.rows.rows()
	if err != nil {
		return "", err
	}
	r.progress = newProgress(r.stderr, "submitting", "rows", int64(r.tally.Rows))
	defer r.progress.end()
	err = r.courier(next, control.BatchOptions{Key: r.key}, r.answered).run(ctx)
	return read.String(), err
}

// courier brings rows to the batch endpoint.
func (r *fileRun) courier(next rowReader, o control.BatchOptions, answered func(row, control.BatchResult) error) *courier {
	return &courier{
		next: next, answered: answered, waiting: r.progress.waiting, patience: r.patience, reached: r.tally.Rows > 0,
		open: func(ctx context.Context, firstLine int) (*control.Batch, error) {
			o.FirstLine = firstLine
			return r.client.BatchWith(ctx, o)
		},
	}
}

// answered counts an answer, and keeps a row that was refused.
func (r *fileRun) answered(at row, result control.BatchResult) error {
	switch why := refusal(at, result.Error); {
	case why != "":
		r.tally.Refused++
		r.tally.note(at.line, why)
		if err := r.rejects.add(at, why); err != nil {
			return fmt.Errorf("the file of rejected rows: %w", err)
		}
	case result.Existing && !at.resent:
		r.tally.AcceptedBefore++
	default:
		r.tally.Accepted++
	}
	r.tally.last = at.line
	r.progress.set(int64(r.tally.answered()))
	return r.printResult(at, result)
}

// finish says that all rows are answered.
func (r *fileRun) finish() (err error) {
	if r.tally.RejectedFile, err = r.rejects.keep(); err != nil {
		return fmt.Errorf("the file of rejected rows: %w", err)
	}
	if r.journal != nil {
		done := *r.journal.last
		done.FinishedAt, done.Refused = time.Now().UTC().Truncate(time.Second), r.tally.Refused
		if err := r.journal.keep(done); err != nil {
			return fmt.Errorf("all rows are answered, but that cannot be remembered: %w", err)
		}
	}
	if r.tally.Refused == 0 {
		return nil
	}
	return r.tally.failure(plural(r.tally.Refused, "row")+" refused", "correct them in "+r.tally.RejectedFile+" and send that file")
}

// cut says how to go on after an end before the end.
func (r *fileRun) cut(err error) error {
	f := asFailure(err)
	if errors.Is(err, context.Canceled) {
		f = &failure{text: "interrupted"}
	}
	answered := "no row was answered"
	if r.tally.last > 0 {
		answered = fmt.Sprintf("the last row answered is line %d", r.tally.last)
	}
	return &failure{
		text: f.text, more: append([]string{answered}, f.more...), code: f.code,
		hint: "run the same command again: it goes on where it was, and no row is taken twice",
	}
}
