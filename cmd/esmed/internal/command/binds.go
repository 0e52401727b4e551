package command

import (
	"fmt"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func bindsCommand() *cobra.Command {
	list := bindsListCommand()
	cmd := listByDefault(&cobra.Command{
		Use:     "binds",
		Short:   "Sessions with the SMSCs",
		GroupID: groupState,
	}, list)
	for _, order := range bindOrders {
		cmd.AddCommand(order.command())
	}
	return cmd
}

func bindsListCommand() *cobra.Command {
	var (
		r reach
		f format
	)
	cmd := &cobra.Command{
		Use:     "list",
		Example: "  esmed binds\n  esmed binds list -o json",
		Short:   "List sessions: state, since when, window in use, rates, next attempt, last error",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := r.daemon()
			defer c.Close()
			binds, err := c.Binds(cmd.Context())
			if err != nil {
				return err
			}
			o := f.to(cmd)
			return printWhole(o, binds, func(binds []control.Bind) {
				o.bindTable(binds)
				o.holds(c.Queues(cmd.Context()))
			})
		},
	}
	socketFlag(cmd, &r)
	outputFlag(cmd, &f)
	return cmd
}

func (o output) bindTable(binds []control.Bind) {
	rows := make([][]string, len(binds))
	for i := range binds {
		rows[i] = bindRow(&binds[i])
	}
	o.printTable([]string{
		"session", "state", "since", "bind", "address", "window", "submits/s", "received/s", "enquire_link", "next attempt", "last error",
	}, rows, 6, 7, 8, 9)
}

func bindRow(b *control.Bind) []string {
	if !b.Configured {
		return []string{b.SMSC, "not configured", "-", "-", "-", "-", "-", "-", "-", nextAttempt(b), "its queue is kept: esmed queue stat"}
	}
	window, rtt, failed := "-", "-", "-"
	if b.Window > 0 {
		window = fmt.Sprintf("%d/%d", b.WindowInUse, b.Window)
	}
	if b.EnquireLinkRTT != nil {
		rtt = fmt.Sprintf("%.1f ms", *b.EnquireLinkRTT)
	}
	if b.LastError != "" {
		failed = clockOr(b.LastErrorAt, "") + " " + b.LastError
	}
	return []string{
		b.Session, b.State, clockOr(b.Since, "-"), b.Bind, or(b.Addr, "-"), window,
		fmt.Sprintf("%.1f", b.SubmitsPerSecond), fmt.Sprintf("%.1f", b.ReceptionsPerSecond), rtt, nextAttempt(b), failed,
	}
}

// nextAttempt says when a session is tried again, or who stopped it.
func nextAttempt(b *control.Bind) string {
	if b.Stopped == nil {
		return clockOr(b.NextAttemptAt, "-")
	}
	words := "stopped by " + who(b.Stopped.By) + " " + clock(b.Stopped.At)
	if b.Stopped.Reason != "" {
		words += ": " + b.Stopped.Reason
	}
	return words
}
