package command

import (
	"context"
	"errors"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func statusCommand() *cobra.Command {
	var (
		r     reach
		f     format
		q     control.MessageQuery
		limit count
	)
	cmd := &cobra.Command{
		Use:   "status [ID...]",
		Short: "Say what happened to a message, and how we know",
		Long: `Says what was asked, what the SMSC answered and reported, when and on which bind, what was concluded from it,
and what did not count and why. A message is found by its id or ids, by --ref (yours), by --message-id (the
SMSC's, as received or as its id rules read it), or by its destination.

With one id, -o json prints the message; in all other cases a list.`,
		Example: `  esmed status 01JDXW5Q0C8Z4Y3K7M2N9P6R5T
  esmed status --ref order-42
  esmed status --message-id 5A3C99F1 --smsc alpha
  esmed status --to +393331234567 --limit 3`,
		GroupID: groupMessages,
		RunE: func(cmd *cobra.Command, ids []string) error {
			if err := oneWay(cmd, ids); err != nil {
				return err
			}
			return r.reader(cmd, func(c *control.Client) error {
				if err := checkSMSC(cmd.Context(), c, q.SMSC); err != nil {
					return err
				}
				n := &narrator{ctx: cmd.Context(), c: c, o: f.to(cmd)}
				if len(ids) > 0 {
					return n.statusOf(ids)
				}
				return n.statusFound(q, limit)
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	limitFlag(cmd, &limit)
	cmd.Flags().StringVar(&q.Ref, "ref", "", "the reference that the message was submitted with")
	cmd.Flags().StringVar(&q.MessageID, "message-id", "", "the id that the SMSC gave it")
	cmd.Flags().StringVar(&q.SMSC, "smsc", "", "with --message-id or --to: submitted to this SMSC")
	cmd.Flags().StringVar(&q.To, "to", "", "its destination, as given or in international form; newest first")
	return cmd
}

// oneWay refuses no way, or two ways, to name a message.
func oneWay(cmd *cobra.Command, ids []string) error {
	ways := 0
	for _, name := range []string{"ref", "message-id", "to"} {
		if cmd.Flags().Changed(name) {
			ways++
		}
	}
	if len(ids) > 0 {
		ways++
	}
	if ways != 1 {
		return usage(cmd, "name the message in one way: by its id, --ref, --message-id or --to")
	}
	if cmd.Flags().Changed("smsc") && (len(ids) > 0 || cmd.Flags().Changed("ref")) {
		return usage(cmd, "--smsc goes with --message-id or --to")
	}
	return nil
}

// statusOf prints each id's message. One that is not there does not keep the others from being printed.
func (n *narrator) statusOf(ids []string) error {
	var found []control.Message
	var missing []string
	for _, id := range ids {
		m, err := n.c.Message(n.ctx, id)
		if isNotFound(err) {
			missing = append(missing, id)
			continue
		}
		if err != nil {
			return err
		}
		found = append(found, m)
	}
	if err := n.print(found, len(ids) == 1); err != nil {
		return err
	}
	if len(missing) > 0 {
		return noMessages(missing)
	}
	return nil
}

func (n *narrator) statusFound(q control.MessageQuery, limit count) error {
	if q.To == "" {
		l, err := n.c.Messages(n.ctx, q)
		if err != nil {
			return err
		}
		if len(l.Items) == 0 {
			return notFound(q)
		}
		return n.print(l.Items, false)
	}
	rows := 0
	err := printList(n.ctx, n.o, limit, func(ctx context.Context, cursor string, size int) (control.List[control.Message], error) {
		q.Cursor, q.Limit = cursor, size
		l, err := n.c.Messages(ctx, q)
		rows += len(l.Items)
		return l, err
	}, n.narrate)
	if err = errors.Join(err, n.err); err == nil && rows == 0 {
		return notFound(q)
	}
	return err
}

func notFound(q control.MessageQuery) error {
	switch {
	case q.Ref != "":
		return &failure{text: "no message was submitted with the ref " + quote(q.Ref), hint: "refs are compared as they are; esmed list --since 1h shows what was accepted lately"}
	case q.MessageID != "":
		return &failure{text: "no message was given the id " + quote(q.MessageID) + " by an SMSC",
			hint: "if a receipt names it, esmed inbox list shows it; the SMSC may write ids in another form in receipts (esmed help reading-a-message)"}
	}
	return &failure{text: "no message was submitted to this destination", hint: "write the number as it was submitted, or in international form with +"}
}

func (n *narrator) print(ms []control.Message, one bool) error {
	switch {
	case one && len(ms) == 0:
		return nil
	case one && !n.o.text():
		return n.o.object(ms[0])
	}
	return errors.Join(printWhole(n.o, ms, n.narrate), n.err)
}
