package command

import (
	"context"
	"fmt"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func cancelCommand() *cobra.Command {
	var (
		r      reach
		f      format
		reason string
	)
	cmd := &cobra.Command{
		Use:   "cancel ID...",
		Short: "Cancel messages: here what still waits, at the SMSC what was submitted",
		Long: `Takes what of a message still waits off the queue: it is FAILED, by your decision, and never sent. For what was
submitted the SMSC is asked (cancel_sm), which takes until it answers, or response_timeout. That it takes the
order is noted; the state waits for a receipt, or for esmed query.

Exit status 0 when every part was cancelled here or its SMSC took the order, else 1: it was refused or not
answered, or could not be asked for, since no session is bound, the answer to the submit was lost, or it had
no id.`,
		Example: "  esmed cancel 01JDXW5Q0C8Z4Y3K7M2N9P6R5T --reason 'wrong price'",
		GroupID: groupMessages,
		Args:    someIDs,
		RunE: func(cmd *cobra.Command, ids []string) error {
			c := r.daemon()
			defer c.Close()
			o := f.to(cmd)
			return eachMessage(cmd.Context(), o, ids, func(ctx context.Context, id string) (control.Cancellation, bool, error) {
				done, err := c.Cancel(ctx, id, reason)
				return done, done.OK, err
			}, o.cancelled, func(failed int) *failure {
				return &failure{
					text: fmt.Sprintf("%d of %s not cancelled, or not in all parts", failed, plural(len(ids), "message")),
					hint: "what is said of each part tells what to do; esmed status ID tells how it goes on",
				}
			})
		},
	}
	socketFlag(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().StringVar(&reason, "reason", "", "why, in your own words, for those who read it later")
	return cmd
}

// someIDs refuses a command line without a message.
func someIDs(cmd *cobra.Command, ids []string) error {
	if len(ids) == 0 {
		return usage(cmd, "%s needs the id of a message", cmd.CommandPath())
	}
	return nil
}

// eachMessage does something with each message and prints what came of it: one object for one id, else a list.
// One that is not there does not keep the others from being done. Those with which it did not go well are
// counted, and are a failure in the end.
func eachMessage[T any](ctx context.Context, o output, ids []string, do func(context.Context, string) (v T, ok bool, err error),
	text func(T), failed func(n int) *failure,
) error {
	var all []T
	var missing []string
	bad := 0
	for _, id := range ids {
		v, ok, err := do(ctx, id)
		switch {
		case isNotFound(err):
			missing = append(missing, id)
			continue
		case err != nil:
			return err
		case !ok:
			bad++
		}
		switch {
		case o.text():
			text(v)
			err = o.flush()
		case o.format == formatNDJSON || len(ids) == 1:
			err = o.object(v)
		default:
			all = append(all, v)
		}
		if err != nil {
			return err
		}
	}
	if o.format == formatJSON && len(ids) > 1 {
		if err := printWhole(o, all, nil); err != nil {
			return err
		}
	}
	switch {
	case len(missing) > 0:
		return noMessages(missing)
	case bad > 0:
		return failed(bad)
	}
	return nil
}

func noMessages(ids []string) error {
	return &failure{text: "no message has this id", more: ids,
		hint: "ids are esmed's own, of 26 characters; esmed status finds one by --ref, by the SMSC's --message-id, or by --to"}
}

// cancelWords name outcomes.
var cancelWords = map[string]string{
	control.OutcomeCancelled:  "cancelled here",
	control.OutcomeClosed:     "not cancelled",
	control.OutcomeAccepted:   "cancel_sm accepted",
	control.OutcomeRefused:    "cancel_sm refused",
	control.OutcomeUnanswered: "cancel_sm not answered",
	control.OutcomeUnasked:    "not cancelled",
}

func (o output) cancelled(done control.Cancellation) {
	o.printf("%s  %s\n", clean(done.Message), o.state(done.State))
	for _, p := range done.Parts {
		o.printf("    %s: %s%s%s: %s\n", partWords(p.Part, p.Attempt), or(cancelWords[p.Outcome], clean(p.Outcome)),
			statusWords(p.CommandStatus), recordWords(p.Record), clean(p.Detail))
	}
}

func partWords(part, attempt int) string {
	if attempt == 0 {
		return fmt.Sprintf("part %d", part)
	}
	return fmt.Sprintf("part %d, attempt %d", part, attempt)
}

func statusWords(status string) string {
	if status == "" {
		return ""
	}
	return " with " + clean(status)
}

func recordWords(record uint64) string {
	if record == 0 {
		return ""
	}
	return fmt.Sprintf(" (record %d)", record)
}
