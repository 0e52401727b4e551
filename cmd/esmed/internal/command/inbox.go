package command

import (
	"context"
	"strconv"
	"time"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func inboxCommand() *cobra.Command {
	cmd := listByDefault(&cobra.Command{
		Use:   "inbox",
		Short: "Receipts that belong to no message yet",
		Long: `The inbox holds receipts whose message was not found, until it is: when a submit_sm_resp brings the id,
they are judged at once. A receipt that stays here names a message that esmed did not submit, or an id
that the SMSC writes in another form in receipts: esmed inbox diagnose finds which (esmed help reading-a-message).`,
		GroupID: groupState,
	}, inboxListCommand())
	cmd.AddCommand(inboxRetryCommand(), inboxDiagnoseCommand())
	return cmd
}

func inboxListCommand() *cobra.Command {
	var (
		r     reach
		f     format
		q     control.InboxQuery
		limit count
	)
	cmd := &cobra.Command{
		Use:     "list",
		Example: "  esmed inbox\n  esmed inbox list --smsc alpha --limit 0 -o ndjson",
		Short:   "List receipts that belong to no message yet, oldest first",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			page := func(c *control.Client) pager[control.InboxRow] {
				return func(ctx context.Context, cursor string, size int) (control.List[control.InboxRow], error) {
					q.Cursor, q.Limit = cursor, size
					return c.Inbox(ctx, q)
				}
			}
			return r.reader(cmd, func(c *control.Client) error {
				if err := checkSMSC(cmd.Context(), c, q.SMSC); err != nil {
					return err
				}
				o := f.to(cmd)
				return printList(cmd.Context(), o, limit, page(c), func(rows []control.InboxRow) { o.inboxTable(rows) })
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	limitFlag(cmd, &limit)
	cmd.Flags().StringVar(&q.SMSC, "smsc", "", "received from this SMSC")
	return cmd
}

func (o output) inboxTable(list []control.InboxRow) {
	rows := make([][]string, len(list))
	for i, x := range list {
		word := x.RawStat
		if word == "" {
			word = x.State
		}
		rows[i] = []string{
			x.ID, clock(x.ReceivedAt), age(time.Since(x.ReceivedAt)), x.SMSC, value(x.TLVID), value(x.TextID), word,
			x.SourceAddr, x.DestAddr, x.ReportedAt, strconv.Itoa(len(x.Receptions)), strconv.Itoa(x.Attempts), heldWords(x),
		}
	}
	o.printTable([]string{"id", "received", "age", "smsc", "tlv id", "text id", "stat", "from", "to", "its date", "times", "looks", "why"}, rows, 3, 11, 12)
}

// heldWords say why a row waits.
func heldWords(x control.InboxRow) string {
	switch {
	case x.Dismissed != "":
		return "dismissed, " + x.Dismissed
	case len(x.WaitsFor) > 0:
		return "waits for an answer"
	}
	return x.Why
}

// value is a text that may be absent.
func value(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
