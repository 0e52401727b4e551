package command

import (
	"fmt"
	"io"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func verifyCommand() *cobra.Command {
	var (
		r reach
		f format
	)
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare the store with its log: chain, fold, indexes, counters",
		Long: `Reads the whole log, checks its hash chain, folds it anew and compares the outcome with the stored states,
decisions, indexes and counters. Decisions of an older parser that today's would make otherwise are taken as
stored and counted. Exit status 0 when all agrees; 1 with the first difference, by file and seq.`,
		GroupID: groupState,
		Example: "  esmed verify\n  esmed verify --data-dir /var/backups/esmed/2026-11-30",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.reader(cmd, func(c *control.Client) error {
				result, err := c.Verify(cmd.Context(), verifyProgress(cmd.ErrOrStderr()))
				if err != nil {
					return err
				}
				return printVerified(f.to(cmd), result)
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	return cmd
}

// verifyProgress shows each step once, and on a terminal how far it is.
func verifyProgress(w io.Writer) func(control.VerifyProgress) {
	live, step := terminal(w), ""
	return func(p control.VerifyProgress) {
		switch {
		case live:
			fmt.Fprintf(w, "\r\x1b[K%s: %d of %d", clean(p.Step), p.Done, p.Total)
			if p.Total > 0 && p.Done >= p.Total {
				fmt.Fprint(w, "\r\x1b[K")
			}
		case p.Step != step:
			fmt.Fprintf(w, "verify: %s\n", clean(p.Step))
		}
		step = p.Step
	}
}

func printVerified(o output, r control.VerifyResult) error {
	if !o.text() {
		if err := o.object(r); err != nil {
			return err
		}
		if !r.OK {
			return silent{exitFailed}
		}
		return nil
	}
	if r.OK {
		o.printf("all agrees: %s, %s\n", plural(r.Records, "record"), plural(r.Messages, "message"))
		if r.TakenStored > 0 {
			o.printf("taken as stored, since an older parser made them or their text is destroyed: %s\n", plural(r.TakenStored, "decision"))
		}
		return nil
	}
	where := "the store differs from its log"
	if d := r.Difference; d != nil {
		where = fmt.Sprintf("%s, seq %d: %s", d.File, d.Seq, d.Detail)
	}
	return &failure{text: where, hint: "keep a copy of the data directory before anything else is done to it; " + seeGuarantees}
}
