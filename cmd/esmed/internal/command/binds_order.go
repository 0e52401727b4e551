package command

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// bindOrder is one of binds stop, start and restart.
type bindOrder struct {
	action      control.BindAction
	short, long string
	done, was   string // what became of it, and what it was already
}

var bindOrders = []bindOrder{
	{
		control.StopBinds, "Unbind from an SMSC and stay so, keeping its queue",
		`Sends nothing more to the SMSC, waits within shutdown_timeout for the answers that are outstanding, unbinds all its
sessions, and returns when they are closed (--no-wait: at once). What is submitted is taken and waits in the queue.

It holds until binds start, also over a reload of the configuration; a daemon that is started anew binds. It is
recorded with who you are and --reason.`,
		"is stopped: its queue is kept; esmed binds start undoes it", "was stopped already",
	},
	{
		control.StartBinds, "Undo binds stop",
		"Binds again to an SMSC that was stopped with binds stop.",
		"is started: esmed binds list shows its sessions", "was not stopped",
	},
	{
		control.RestartBinds, "Unbind from an SMSC and bind again",
		`Ends each session with an SMSC once its outstanding answers have come, within shutdown_timeout, and binds it anew. A
session that waits for its next attempt is tried at once; one that was stopped is started.`,
		"is restarted: esmed binds list shows its sessions", "",
	},
}

func (b bindOrder) command() *cobra.Command {
	var (
		r      reach
		f      format
		reason string
		noWait bool
	)
	cmd := &cobra.Command{
		Use:     string(b.action) + " SMSC",
		Short:   b.short,
		Long:    b.long,
		Example: "  esmed binds " + string(b.action) + ` alpha --reason "maintenance, ticket 4711"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(cmd, "%s needs the name of one SMSC", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c := r.daemon()
			defer c.Close()
			ordered, err := c.OrderBind(cmd.Context(), args[0], b.action, reason)
			if problem, ok := errors.AsType[*control.ProblemError](err); ok && problem.Status == http.StatusNotFound {
				return &failure{text: problem.Detail, hint: problem.Hint, code: exitUsage, err: err}
			}
			if err == nil && b.action == control.StopBinds && !noWait {
				ordered.Sessions, err = awaitClosed(cmd.Context(), c, args[0])
			}
			if err != nil {
				return err
			}
			return b.tell(f.to(cmd), ordered)
		},
	}
	socketFlag(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().StringVar(&reason, "reason", "", "why, in your own words, for those who read it later")
	if b.action == control.StopBinds {
		cmd.Flags().BoolVar(&noWait, "no-wait", false, "return at once, while what is outstanding drains")
	}
	return cmd
}

func (b bindOrder) tell(o output, ordered control.BindOrdered) error {
	if !o.text() {
		return o.object(ordered)
	}
	words := b.done
	if !ordered.Done {
		words = b.was
	}
	o.printf("%s %s\n", clean(ordered.SMSC), words)
	return nil
}

// closedEvery is how often it is asked whether sessions have closed.
const closedEvery = 100 * time.Millisecond

// awaitClosed waits until no session with an SMSC is open, which shutdown_timeout bounds, or until somebody has
// started it again.
func awaitClosed(ctx context.Context, c *control.Client, smsc string) ([]control.Bind, error) {
	again := time.NewTicker(closedEvery)
	defer again.Stop()
	for {
		binds, err := c.Binds(ctx)
		if err != nil {
			return nil, err
		}
		binds = slices.DeleteFunc(binds, func(b control.Bind) bool { return b.SMSC != smsc })
		open := func(b control.Bind) bool { return b.Stopped != nil && b.State != "Closed" }
		if !slices.ContainsFunc(binds, open) {
			return binds, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-again.C:
		}
	}
}
