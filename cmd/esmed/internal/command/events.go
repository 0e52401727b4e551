package command

import (
	"errors"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// eventsFlags are the flags of events.
type eventsFlags struct {
	reach  reach
	format format
	query  control.EventsQuery
	noPDU  bool
	limit  count
}

func eventsCommand() *cobra.Command {
	var e eventsFlags
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
		RunE:    e.run,
	}
	readFlags(cmd, &e.reach)
	outputFlag(cmd, &e.format)
	cmd.Flags().BoolVarP(&e.query.Follow, "follow", "f", false, "go on as the log grows")
	cmd.Flags().StringVar(&e.query.After, "after", "", "begin after this record")
	cmd.Flags().BoolVar(&e.query.OnlyChanges, "changes", false, "only records that moved a message")
	cmd.Flags().Var(&e.limit, "limit", "end after this many records; 0 = none")
	cmd.Flags().BoolVar(&e.noPDU, "no-pdu", false, "leave the PDUs' fields out")
	return cmd
}

func (f *eventsFlags) run(cmd *cobra.Command, ids []string) error {
	o, changed := f.format.to(cmd), cmd.Flags().Changed
	ofLog := f.query.Follow || f.query.OnlyChanges || changed("after") || changed("limit")
	switch {
	case len(ids) > 1:
		return usage(cmd, "one message at a time")
	case len(ids) == 1 && ofLog:
		return usage(cmd, "an ID does not go with -f, --after, --changes or --limit")
	case len(ids) == 1:
		return f.reach.reader(cmd, func(c *control.Client) error { return historyOf(cmd, o, c, ids[0], !f.noPDU) })
	case !ofLog:
		return usage(cmd, "name a message, or follow the log with -f")
	case o.format == formatJSON:
		return usage(cmd, "a log has no end: use -o ndjson")
	case f.query.Follow:
		c := f.reach.daemon()
		defer c.Close()
		return f.follow(cmd, o, c)
	}
	return f.reach.reader(cmd, func(c *control.Client) error { return f.follow(cmd, o, c) })
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

// follow prints the log, to its end or as it grows.
func (f *eventsFlags) follow(cmd *cobra.Command, o output, c *control.Client) error {
	if f.query.Follow {
		// A follower waits for a daemon that restarts; one that is not there to begin with is an error.
		if err := c.Ready(cmd.Context()); errors.Is(err, control.ErrNoDaemon) {
			return err
		}
	}
	seen := count(0)
	for e, err := range c.Events(cmd.Context(), f.query) {
		if f.query.Follow && interrupted(cmd.Context(), err) {
			return errFollowed
		}
		if err != nil {
			return err
		}
		if err := f.print(o, e); err != nil {
			return err
		}
		if seen++; seen == f.limit {
			return nil
		}
	}
	return nil
}

func (f *eventsFlags) print(o output, e control.Event) error {
	if o.text() {
		o.event(e, !f.noPDU)
	} else if err := o.object(e); err != nil {
		return err
	}
	if f.query.Follow {
		return o.flush()
	}
	return nil
}
