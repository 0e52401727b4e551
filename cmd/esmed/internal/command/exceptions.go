package command

import (
	"context"
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
		Example: "  esmed exceptions\n  esmed exceptions list --kind conflict --status all",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q.Since = since.t
			return r.reader(cmd, func(c *control.Client) error {
				if err := checkSMSC(cmd.Context(), c, q.SMSC); err != nil {
					return err
				}
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
