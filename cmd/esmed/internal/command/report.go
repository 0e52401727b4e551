package command

import (
	"fmt"
	"strconv"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func reportCommand() *cobra.Command {
	var (
		r              reach
		f              format
		window, settle durationFlag
		by             string
	)
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Count what became of the messages, by hour or by SMSC",
		Long: `Counts messages by the hour in which they were accepted by us, and by SMSC.

  accepted    by us                      submitted   accepted by the SMSC (ESME_ROK)
  failed      refused, or never sent     asked       submitted with a final receipt asked for
  final       of those, with an outcome  delivered   of those, the SMSC reported delivery
  open        no outcome yet             unreported  the window ended without one
  in doubt    the answer was lost        inbox       receipts that belong to no message, now

coverage is final/asked: did we record an outcome. delivered share is delivered/asked: did the route work.
With --settle both are those of the hours whose messages have all had that time; the counts are those of all.`,
		Example: `  esmed report --window 48h --settle 6h
  esmed report --by smsc -o json`,
		GroupID: groupState,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if by != "hour" && by != "smsc" {
				return usage(cmd, "--by must be hour or smsc (got %q)", by)
			}
			q, o := control.ReportQuery{Window: window.d, Settle: settle.d, By: by}, f.to(cmd)
			return r.reader(cmd, func(c *control.Client) error {
				rows, err := c.Report(cmd.Context(), q)
				if err != nil {
					return err
				}
				return printWhole(o, rows, o.reportTable)
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().Var(&window, "window", "how far back, as 48h or 7d; 48h when left out")
	cmd.Flags().Var(&settle, "settle", "leave the hours whose messages have not all had this time, as 6h, out of coverage and delivered share")
	cmd.Flags().StringVar(&by, "by", "hour", "a row per hour and SMSC (hour), or per SMSC (smsc)")
	return cmd
}

func (o output) reportTable(list []control.ReportRow) {
	rows := make([][]string, len(list))
	for i, r := range list {
		hour := "all"
		if r.Hour != nil {
			hour = r.Hour.UTC().Format("2006-01-02 15:04Z")
		}
		rows[i] = []string{hour, r.SMSC}
		for _, n := range []int64{r.Accepted, r.Submitted, r.Failed, r.Asked, r.Final, r.Delivered, r.Open, r.Unreported, r.InDoubt, r.MaybeDoubled} {
			rows[i] = append(rows[i], strconv.FormatInt(n, 10))
		}
		rows[i] = append(rows[i], percent(r.Coverage), percent(r.Delivery), strconv.FormatInt(r.Inbox, 10))
	}
	o.printTable([]string{
		"hour", "smsc", "accepted", "submitted", "failed", "asked", "final", "delivered", "open", "unreported", "in doubt",
		"maybe doubled", "coverage", "delivered share", "inbox",
	}, rows, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

func percent(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100**share)
}
