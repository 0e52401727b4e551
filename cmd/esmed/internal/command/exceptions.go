package command

import (
	"context"
	"fmt"
	"strconv"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func exceptionsCommand() *cobra.Command {
	cmd := listByDefault(&cobra.Command{
		Use:   "exceptions",
		Short: "What a person has to decide",
		Long: `Exceptions are what esmed does not decide by itself: a second final state (conflict), a receipt that fits two
messages (ambiguous) or has another address (address_mismatch), a state word without a rule
(unmapped_state), what cannot be read (undecodable), submits whose answer was lost (in_doubt), receipts that
have waited too long (unmatched), acceptance without an id (no_message_id) or with one that is taken
(duplicate_message_id).`,
		GroupID: groupState,
	}, exceptionsListCommand())
	cmd.AddCommand(exceptionsShowCommand(), exceptionsResolveCommand())
	return cmd
}

func exceptionsListCommand() *cobra.Command {
	var (
		r     reach
		f     format
		q     control.ExceptionQuery
		since timeFlag
		limit count
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List exceptions, newest first",
		Example: "  esmed exceptions list --kind conflict --status all",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q.Since = since.t
			return r.reader(cmd, func(c *control.Client) error {
				o := f.to(cmd)
				page := func(ctx context.Context, cursor string, size int) (control.List[control.Exception], error) {
					q.Cursor, q.Limit = cursor, size
					return c.Exceptions(ctx, q)
				}
				return printList(cmd.Context(), o, limit, page, func(xs []control.Exception) { o.exceptionTable(xs) })
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	limitFlag(cmd, &limit)
	cmd.Flags().StringVar(&q.Status, "status", "open", "open, resolved, dismissed or all")
	cmd.Flags().StringVar(&q.Kind, "kind", "", "of this kind")
	cmd.Flags().StringVar(&q.SMSC, "smsc", "", "of this SMSC")
	cmd.Flags().Var(&since, "since", "opened at this time or later, or that long ago at most")
	return cmd
}

func (o output) exceptionTable(xs []control.Exception) {
	rows := make([][]string, len(xs))
	for i, x := range xs {
		rows[i] = []string{x.ID, x.Kind, x.Status, x.SMSC, x.Message, strconv.FormatUint(x.Count, 10), clock(x.LastAt), x.Reason}
	}
	o.printTable([]string{"id", "kind", "status", "smsc", "message", "times", "last", "reason"}, rows, 6)
}

func exceptionsShowCommand() *cobra.Command {
	var (
		r reach
		f format
	)
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show an exception with the records that it is about",
		Example: "  esmed exceptions show x1841",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(cmd, "%s needs one id, as x1841", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.reader(cmd, func(c *control.Client) error {
				x, err := c.Exception(cmd.Context(), args[0])
				if isNotFound(err) {
					return &failure{text: "there is no exception " + quote(args[0]), hint: "esmed exceptions list --status all lists them", err: err}
				}
				if err != nil {
					return err
				}
				o := f.to(cmd)
				if !o.text() {
					return o.object(x)
				}
				return o.exception(cmd.Context(), c, x)
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	return cmd
}

// exception tells what is to be decided, and each record that it is about.
func (o output) exception(ctx context.Context, c *control.Client, x control.Exception) error {
	o.printf("Exception %s: %s, %s\n", clean(x.ID), clean(x.Kind), clean(x.Status))
	o.printf("Because   %s\n", or(x.Reason, "-"))
	o.printf("SMSC      %s, account %s\n", or(x.SMSC, "-"), or(x.Account, "-"))
	if x.Message != "" {
		o.printf("Message   %s, part %d\n", clean(x.Message), x.Part)
	}
	if x.Count == 1 {
		o.printf("Seen      once, %s\n", clock(x.FirstAt))
	} else {
		o.printf("Seen      %s, first %s, last %s\n", plural(x.Count, "time"), clock(x.FirstAt), clock(x.LastAt))
	}
	for _, cand := range x.Candidates {
		o.printf("Candidate attempt %d of part %d of %s\n", cand.Attempt, cand.Part, clean(cand.Message))
	}
	if res := x.Resolution; res != nil {
		o.printf("Resolved  %s by %s at %s: %s\n", clean(res.Action), or(res.By, "esmed"), clock(res.At), or(res.Reason, "no reason given"))
	}
	for _, seq := range x.Records {
		o.printf("\n")
		if err := o.record(ctx, c, seq); err != nil {
			return err
		}
	}
	if n := uint64(len(x.Records)); x.Count > n {
		o.printf("\nThese are the first %s of %d.\n", plural(n, "record"), x.Count)
	}
	return nil
}

// record tells one record of the log.
func (o output) record(ctx context.Context, c *control.Client, seq uint64) error {
	for e, err := range c.Events(ctx, control.EventsQuery{After: strconv.FormatUint(seq-1, 10)}) {
		if err != nil {
			return err
		}
		if e.Seq != seq {
			break
		}
		o.event(e, true)
		return nil
	}
	return fmt.Errorf("record %d is not in the log any more", seq)
}
