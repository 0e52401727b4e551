package command

import (
	"context"
	"fmt"

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
				if len(ids) > 0 {
					return statusOf(cmd.Context(), f.to(cmd), c, ids)
				}
				return statusFound(cmd.Context(), f.to(cmd), c, q, limit)
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
func statusOf(ctx context.Context, o output, c *control.Client, ids []string) error {
	var found []control.Message
	var missing []string
	for _, id := range ids {
		m, err := c.Message(ctx, id)
		if isNotFound(err) {
			missing = append(missing, id)
			continue
		}
		if err != nil {
			return err
		}
		found = append(found, m)
	}
	if err := printStatus(o, found, len(ids) == 1); err != nil {
		return err
	}
	if len(missing) > 0 {
		return &failure{text: "no message has this id", more: missing,
			hint: "ids are esmed's own, of 26 characters; find one by --ref, by the SMSC's --message-id, or by --to"}
	}
	return nil
}

func statusFound(ctx context.Context, o output, c *control.Client, q control.MessageQuery, limit count) error {
	if q.To == "" {
		l, err := c.Messages(ctx, q)
		if err != nil {
			return err
		}
		if len(l.Items) == 0 {
			return notFound(q)
		}
		return printStatus(o, l.Items, false)
	}
	rows := 0
	err := printList(ctx, o, limit, func(ctx context.Context, cursor string, size int) (control.List[control.Message], error) {
		q.Cursor, q.Limit = cursor, size
		l, err := c.Messages(ctx, q)
		rows += len(l.Items)
		return l, err
	}, o.narrate)
	if err == nil && rows == 0 {
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

func printStatus(o output, ms []control.Message, one bool) error {
	if one && len(ms) == 1 && !o.text() {
		return o.object(ms[0])
	}
	if one && len(ms) == 0 {
		return nil
	}
	return printWhole(o, ms, o.narrate)
}

// narrate tells the story of each message.
func (o output) narrate(ms []control.Message) {
	for i, m := range ms {
		if i > 0 {
			o.printf("\n")
		}
		o.story(m)
	}
}

func (o output) story(m control.Message) {
	o.printf("Message %s to %s from %s\n", clean(m.ID), clean(m.To), or(m.Source.Addr, "the SMSC's own sender"))
	o.printf("State   %s, %s\n", o.state(m.State), firmness(m))
	o.printf("Because %s\n", or(m.Reason, "nothing has happened to it yet"))
	if m.MaybeDoubled {
		o.printf("        More than one attempt may have arrived: the recipient may have it twice.\n")
	}
	o.printf("\nWhat was asked\n")
	o.item(clock(m.AcceptedAt), "accepted by us for %s%s; %s", clean(m.SMSC), withRef(m.Ref), receiptAsked(m.RegisteredDelivery))
	o.submits(m)
	o.reported(m)
	o.uncounted(m)
	for _, x := range m.Exceptions {
		o.printf("\nTo be decided: exception %s (esmed exceptions show %s)\n", clean(x), clean(x))
	}
	o.printf("\nRecord by record: esmed events %s\n", clean(m.ID))
}

// item is a line of a story's section.
func (o output) item(at, format string, args ...any) {
	o.printf("  %-24s  %s\n", at, fmt.Sprintf(format, args...))
}

func firmness(m control.Message) string {
	switch {
	case m.Final && m.Basis == "receipt":
		return "final: reported by " + clean(m.SMSC)
	case m.Final && m.Basis == "submit_sm_resp":
		return "final: refused by " + clean(m.SMSC)
	case m.Final && m.Basis == "expiry":
		return "final: expired in our queue"
	case m.Final:
		return "final"
	case m.Closed:
		return "closed: a report that still comes counts"
	}
	return "not final"
}

func withRef(ref string) string {
	if ref == "" {
		return ""
	}
	return ", ref " + quote(ref)
}

// receiptAsked reads registered_delivery (SMPP v3.4 §5.2.17).
func receiptAsked(octet int) string {
	asked := [...]string{"no receipt was asked for", "a final receipt was asked for", "a receipt was asked for failure only", "a receipt was asked for success only"}[octet&0x03]
	if octet&0x10 != 0 {
		asked += ", and intermediate notifications"
	}
	return asked
}

// submits tells each attempt and its answer. The answer that the SMSC accepted the message with has a line,
// as it has a time and a record of its own.
func (o output) submits(m control.Message) {
	o.printf("\nWhat was sent, and what %s answered\n", clean(m.SMSC))
	accepted, sent := m.Acceptance, false
	for _, p := range m.Parts {
		for _, a := range p.Attempts {
			sent = true
			what := fmt.Sprintf("attempt %d", a.Attempt)
			if len(m.Parts) > 1 {
				what = fmt.Sprintf("part %d, attempt %d", p.Part, a.Attempt)
			}
			what += fmt.Sprintf(" left on %s, sequence_number %d", clean(a.Session), a.SequenceNumber)
			if accepted == nil || a.CommandStatus != accepted.CommandStatus || a.MessageID != accepted.MessageID {
				o.item(clock(a.At), "%s: %s", what, answered(a))
				continue
			}
			o.item(clock(a.At), "%s", what)
			o.item(clock(accepted.At), "%s accepted it with %s (record %d)", clean(m.SMSC), answered(a), accepted.Record)
			accepted = nil
		}
	}
	if !sent {
		o.item("-", "nothing was sent yet")
	}
}

func answered(a control.Attempt) string {
	switch {
	case a.CommandStatus == "":
		return "no answer is known"
	case a.MessageID != "":
		return clean(a.CommandStatus) + ", message_id " + quote(a.MessageID)
	}
	return clean(a.CommandStatus)
}

func (o output) reported(m control.Message) {
	o.printf("\nWhat %s reported\n", clean(m.SMSC))
	r := m.Receipt
	if r == nil {
		o.item("-", "%s", unreported(m))
		return
	}
	at := ""
	if m.Final && m.FinalisedAt != nil {
		at = clock(*m.FinalisedAt)
	}
	o.item(at, "%s (record %d)", reportedWords(r), r.Record)
	if r.DoneDate != "" {
		o.item("", "done %s by its own clock", clean(r.DoneDate))
	}
	if m.Verification == nil {
		o.item("", "nothing but its report says so: no independent verification")
		return
	}
	o.item(clock(m.Verification.At), "independent verification: %s (record %d)", clean(m.Verification.Result), m.Verification.Record)
}

// unreported says why there is no report, where that is no wonder.
func unreported(m control.Message) string {
	switch {
	case m.Receptions.Receipts > 0:
		return "nothing that counts"
	case m.State == "FAILED":
		return "nothing, as it has no such message"
	case m.RegisteredDelivery&0x03 == 0:
		return "nothing, as no receipt was asked for"
	}
	return "nothing yet"
}

func reportedWords(r *control.MessageReceipt) string {
	words := or(r.RawStat, "no word in its text")
	if r.MessageState != nil {
		words += fmt.Sprintf(", message_state %d", *r.MessageState)
	}
	if r.Err != "" {
		words += ", err " + clean(r.Err)
	}
	return words
}

// uncounted says what was received for the message and changed nothing.
func (o output) uncounted(m control.Message) {
	n := m.Receptions
	if n.Duplicate+n.Repeat+n.Late+n.Stale+n.Unordered+n.Noted+n.Conflict == 0 {
		return
	}
	o.printf("\nWhat was received and did not count\n")
	for _, x := range []struct {
		n   int
		why string
	}{
		{n.Duplicate, "duplicate: the same event, received again"},
		{n.Repeat, "repeat: the state that it has already"},
		{n.Late, "late: an intermediate report after its end"},
		{n.Stale, "stale: older than what had been reported"},
		{n.Unordered, "unordered: no telling whether it is newer"},
		{n.Noted, "noted: names no state that could count"},
		{n.Conflict, "conflict: another final state; the first one stands"},
	} {
		if x.n > 0 {
			o.item(fmt.Sprintf("%d of %d", x.n, n.Receipts), "%s", x.why)
		}
	}
}
