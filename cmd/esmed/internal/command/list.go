package command

import (
	"context"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func listCommand() *cobra.Command {
	var (
		r            reach
		f            format
		q            control.MessageQuery
		since, until timeFlag
		limit        count
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List messages, newest first",
		Long: `Lists messages, newest first. The states are QUEUED, SUBMITTING, IN_DOUBT, SUBMITTED, SCHEDULED, ENROUTE,
ACCEPTED, UNKNOWN, UNREPORTED and, final, DELIVERED, EXPIRED, DELETED, UNDELIVERABLE, REJECTED, SKIPPED, FAILED.
A ! beside a state says that an exception is open.`,
		Example: `  esmed list --state IN_DOUBT,UNREPORTED
  esmed list --to +393331234567 --since 2d
  esmed list --smsc alpha --since 2026-11-30T10:00:00Z --until 2026-11-30T11:00:00Z -o ndjson --limit 0`,
		GroupID: groupMessages,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q.Since, q.Until = since.t, until.t
			return r.reader(cmd, func(c *control.Client) error {
				if err := checkSMSC(cmd.Context(), c, q.SMSC); err != nil {
					return err
				}
				return listMessages(cmd.Context(), f.to(cmd), c, q, limit)
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	limitFlag(cmd, &limit)
	cmd.Flags().StringSliceVar(&q.States, "state", nil, "in any of these states, separated by commas")
	cmd.Flags().StringVar(&q.SMSC, "smsc", "", "submitted to this SMSC")
	cmd.Flags().StringVar(&q.To, "to", "", "to this destination, as given or in international form")
	cmd.Flags().Var(&since, "since", "accepted then or later: 2026-11-30T12:00:00Z, 2026-11-30, or how long ago as 2d")
	cmd.Flags().Var(&until, "until", "accepted before")
	return cmd
}

func listMessages(ctx context.Context, o output, c *control.Client, q control.MessageQuery, limit count) error {
	page := func(ctx context.Context, cursor string, size int) (control.List[control.Message], error) {
		q.Cursor, q.Limit = cursor, size
		return c.Messages(ctx, q)
	}
	return printList(ctx, o, limit, page, func(ms []control.Message) { o.messageTable(ms) })
}

func (o output) messageTable(ms []control.Message) {
	rows := make([][]string, len(ms))
	for i, m := range ms {
		id := ""
		if m.Acceptance != nil {
			id = m.Acceptance.MessageID
		}
		rows[i] = []string{m.ID, stateWord(m), m.To, m.SMSC, clock(m.AcceptedAt), id, m.Ref}
	}
	o.printTable([]string{"id", "state", "to", "smsc", "accepted by us", "message_id", "ref"}, rows)
}

// stateWord is a message's state with what must not be overlooked beside it.
func stateWord(m control.Message) string {
	word := m.State
	if m.MaybeDoubled {
		word += " maybe_doubled"
	}
	if len(m.Exceptions) > 0 {
		word += " !"
	}
	return word
}
