package command

import (
	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func inboxRetryCommand() *cobra.Command {
	var (
		r    reach
		f    format
		smsc string
	)
	cmd := &cobra.Command{
		Use:   "retry",
		Short: "Judge the receipts that wait again now",
		Long: `Looks for the messages of all receipts that wait, as esmed itself does at growing intervals, and says how many
found theirs. Nothing should be found: a receipt is judged again in the moment that its id becomes known, and
after a change of rules. What is found all the same is recorded and counted as a fault of esmed.`,
		Example: "  esmed inbox retry --smsc alpha",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := r.daemon()
			defer c.Close()
			if err := checkSMSC(cmd.Context(), c, smsc); err != nil {
				return err
			}
			live := newCounter(cmd.ErrOrStderr(), "judged again")
			defer live.end()
			result, err := c.RetryInbox(cmd.Context(), smsc, func(p control.InboxRetry) { live.show(p.Looked) })
			live.end()
			if err != nil {
				return err
			}
			o := f.to(cmd)
			if !o.text() {
				return o.object(result)
			}
			o.printf("%s judged again: %d found their message\n", plural(result.Looked, "receipt"), result.Matched)
			if left := result.Looked - result.Matched; left > 0 {
				o.printf("%d still wait; esmed help working-the-exceptions says what they may be\n", left)
			}
			return nil
		},
	}
	socketFlag(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().StringVar(&smsc, "smsc", "", "those received from this SMSC")
	return cmd
}
