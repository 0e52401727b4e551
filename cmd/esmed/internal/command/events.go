package command

import (
	"errors"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func eventsCommand() *cobra.Command {
	var (
		r     reach
		f     format
		q     control.EventsQuery
		noPDU bool
		limit count
	)
	cmd := &cobra.Command{
		Use:   "events [ID | -f] [--after SEQ]",
		Short: "Tell the whole history of a message, or follow all that happens",
		Long: `With an ID, prints every record of a message in order: the PDUs field by field, and what was concluded from
each, by which rule. Texts appear as the API gives them.

Without an ID, prints the log after record SEQ (from the first one when it is left out); with -f goes on
as it grows, and over restarts of the daemon. The seq of the last record seen is where to go on.`,
		Example: `  esmed events 01JDXW5Q0C8Z4Y3K7M2N9P6R5T
  esmed events -f --after 1841 -o ndjson
  esmed events --after 1840 --limit 1`,
		GroupID: groupMessages,
		RunE: func(cmd *cobra.Command, ids []string) error {
			o := f.to(cmd)
			logFlags := q.Follow || q.OnlyChanges || cmd.Flags().Changed("after") || cmd.Flags().Changed("limit")
			switch {
			case len(ids) > 1:
				return usage(cmd, "one message at a time")
			case len(ids) == 1 && logFlags:
				return usage(cmd, "an ID does not go with -f, --after, --changes or --limit")
			case len(ids) == 1:
				return r.reader(cmd, func(c *control.Client) error { return historyOf(cmd, o, c, ids[0], !noPDU) })
			case !logFlags:
				return usage(cmd, "name a message, or follow the log with -f")
			case o.format == formatJSON:
				return usage(cmd, "a log has no end: use -o ndjson")
			case q.Follow:
				c := r.daemon()
				defer c.Close()
				return follow(cmd, o, c, q, limit, !noPDU)
			}
			return r.reader(cmd, func(c *control.Client) error { return follow(cmd, o, c, q, limit, !noPDU) })
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().BoolVarP(&q.Follow, "follow", "f", false, "go on as the log grows")
	cmd.Flags().StringVar(&q.After, "after", "", "begin after this record")
	cmd.Flags().BoolVar(&q.OnlyChanges, "changes", false, "only records that moved a message")
	cmd.Flags().Var(&limit, "limit", "end after this many records; 0 = none")
	cmd.Flags().BoolVar(&noPDU, "no-pdu", false, "leave the PDUs' fields out")
	return cmd
}

func historyOf(cmd *cobra.Command, o output, c *control.Client, id string, pdus bool) error {
	events, err := c.MessageEvents(cmd.Context(), id)
	if err != nil {
		return err
	}
	return printWhole(o, events, func(events []control.Event) {
		for _, e := range events {
			o.event(e, pdus)
		}
	})
}

func follow(cmd *cobra.Command, o output, c *control.Client, q control.EventsQuery, limit count, pdus bool) error {
	if q.Follow {
		// A follower waits for a daemon that restarts; one that is not there to begin with is an error.
		if err := c.Ready(cmd.Context()); errors.Is(err, control.ErrNoDaemon) {
			return err
		}
	}
	seen := count(0)
	for e, err := range c.Events(cmd.Context(), q) {
		if q.Follow && interrupted(cmd.Context(), err) {
			return nil
		}
		if err != nil {
			return err
		}
		if o.text() {
			o.event(e, pdus)
		} else if err := o.object(e); err != nil {
			return err
		}
		if q.Follow {
			if err := o.flush(); err != nil {
				return err
			}
		}
		if seen++; seen == limit {
			return nil
		}
	}
	return nil
}
