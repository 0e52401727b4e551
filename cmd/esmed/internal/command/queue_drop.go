package command

import (
	"context"
	"fmt"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// clientOrder is an order about a queue as the client gives it.
type clientOrder func(c *control.Client, ctx context.Context, smsc, reason string) (control.QueueOrder, error)

func queueDropCommand() *cobra.Command {
	var (
		f   orderFlags
		yes bool
	)
	cmd := &cobra.Command{
		Use:   "drop --smsc S --yes",
		Short: "Drop all that waits for an SMSC: its messages fail",
		Long: `What waits is never sent: its messages are FAILED, by your decision, for good. Parts that may have arrived stay as
they are. What is taken after the command began is not dropped; hold the queue first if nothing more is to leave.

Without --yes it says how much would go, and ends with exit status 2. Interrupted, what it said is dropped is
dropped, and the rest waits.`,
		Example: "  esmed queue drop --smsc alpha\n  esmed queue drop --smsc alpha --yes --reason 'campaign 7 was withdrawn'",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.named(cmd); err != nil {
				return err
			}
			c := f.reach.daemon()
			defer c.Close()
			if err := checkSMSC(cmd.Context(), c, f.smsc); err != nil {
				return err
			}
			if !yes {
				return f.wouldDrop(cmd, c)
			}
			return f.drop(cmd, c)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do it")
	return cmd
}

// wouldDrop says how much there is to drop.
func (f *orderFlags) wouldDrop(cmd *cobra.Command, c *control.Client) error {
	queues, err := c.Queues(cmd.Context())
	if err != nil {
		return err
	}
	for i := range queues {
		q := &queues[i]
		if q.SMSC != f.smsc {
			continue
		}
		if q.Waiting+q.Delayed == 0 {
			o := f.format.to(cmd)
			if !o.text() {
				return o.object(control.QueueDrop{})
			}
			o.printf("nothing waits for %s\n", clean(f.smsc))
			return nil
		}
		return &failure{
			text: fmt.Sprintf("%s of %s would be dropped, and their messages fail for good: nothing was done", plural(q.Waiting+q.Delayed, "part"), f.smsc),
			hint: fmt.Sprintf("to drop them: esmed queue drop --smsc %s --yes", f.smsc),
			code: exitUsage,
		}
	}
	return noQueue(f.smsc)
}

func (f *orderFlags) drop(cmd *cobra.Command, c *control.Client) error {
	live := newCounter(cmd.ErrOrStderr(), "parts dropped")
	defer live.end()
	var last control.QueueDrop
	result, err := c.DropQueue(cmd.Context(), f.smsc, f.reason, func(p control.QueueDrop) {
		last = p
		live.show(p.Parts)
	})
	live.end()
	switch {
	case isNotFound(err):
		return noQueue(f.smsc)
	case err != nil && last.Parts > 0:
		return &failure{
			text: fmt.Sprintf("%s dropped before it ended: %s", plural(last.Messages, "message"), asFailure(err).text),
			hint: "the rest waits: esmed queue stat; the same command goes on", err: err,
		}
	case err != nil:
		return err
	}
	o := f.format.to(cmd)
	if !o.text() {
		return o.object(result)
	}
	o.printf("%s dropped, %s; %s\n", plural(result.Messages, "message"), plural(result.Parts, "part"), stillWaiting(result.Left))
	return nil
}

func stillWaiting(parts int64) string {
	if parts == 0 {
		return "nothing waits any more"
	}
	return plural(parts, "part") + " came meanwhile"
}
