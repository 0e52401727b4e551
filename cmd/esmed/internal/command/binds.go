package command

import (
	"fmt"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func bindsCommand() *cobra.Command {
	return listByDefault(&cobra.Command{
		Use:     "binds",
		Short:   "Sessions with the SMSCs",
		GroupID: groupState,
	}, bindsListCommand())
}

func bindsListCommand() *cobra.Command {
	var (
		r reach
		f format
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sessions: state, since when, window in use, rates, last error",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := r.daemon()
			defer c.Close()
			binds, err := c.Binds(cmd.Context())
			if err != nil {
				return err
			}
			o := f.to(cmd)
			return printWhole(o, binds, o.bindTable)
		},
	}
	socketFlag(cmd, &r)
	outputFlag(cmd, &f)
	return cmd
}

func (o output) bindTable(binds []control.Bind) {
	rows := make([][]string, len(binds))
	for i, b := range binds {
		rtt, failed := "-", "-"
		if b.EnquireLinkRTT != nil {
			rtt = fmt.Sprintf("%.1f ms", *b.EnquireLinkRTT)
		}
		if b.LastError != "" {
			failed = clockOr(b.LastErrorAt, "") + " " + b.LastError
		}
		rows[i] = []string{
			b.Session, b.State, clockOr(b.Since, "-"), b.Bind, b.Addr, fmt.Sprintf("%d/%d", b.WindowInUse, b.Window),
			fmt.Sprintf("%.1f", b.SubmitsPerSecond), fmt.Sprintf("%.1f", b.ReceptionsPerSecond), rtt, failed,
		}
	}
	o.printTable([]string{"session", "state", "since", "bind", "address", "window", "submits/s", "received/s", "enquire_link", "last error"}, rows, 6, 7, 8, 9)
}
