package command

import (
	"fmt"
	"strconv"
	"strings"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func inboxDiagnoseCommand() *cobra.Command {
	var (
		r    reach
		f    format
		smsc string
	)
	cmd := &cobra.Command{
		Use:   "diagnose",
		Short: "Find the id rules and the time zone that fit an SMSC's receipts",
		Long: `Tries every rule for ids, and likely pairs of them, on the receipts that wait and the messages that are open:
which would match how many, how many not, with examples and the line to configure. The time zone is read off the
dates of receipts that found their message, or would. Nothing is changed.

A rule is good when it matches many receipts whose addresses agree, hardly any with another address, hardly any that
fit several messages, and still matches those that found their message before. After the configuration was
changed, SIGHUP takes it up, and what waits is judged again.`,
		Example: "  esmed inbox diagnose --smsc alpha",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.reader(cmd, func(c *control.Client) error {
				if err := checkSMSC(cmd.Context(), c, smsc); err != nil {
					return err
				}
				found, err := c.Diagnosis(cmd.Context(), smsc)
				if err != nil {
					return err
				}
				o := f.to(cmd)
				return printWhole(o, found, o.diagnoses)
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().StringVar(&smsc, "smsc", "", "of this SMSC only")
	return cmd
}

func (o output) diagnoses(found []control.Diagnosis) {
	if len(found) == 0 {
		o.printf("No receipt waits, and none was matched.\n")
	}
	for i := range found {
		if i > 0 {
			o.printf("\n")
		}
		o.diagnosis(&found[i])
	}
}

func (o output) diagnosis(d *control.Diagnosis) {
	o.printf("SMSC %s, account %s: %s, %s\n", clean(d.SMSC), clean(d.Account), waiting(d.Receipts), stillOpen(d.Open))
	for _, note := range d.Notes {
		o.printf("  %s\n", clean(note))
	}
	if d.Receipts > 0 {
		o.printf("\nRules in force: message_id: %s\n", clean(d.Today.Config.Value))
		o.triedRules(d, &d.Today)
		for i := range d.Proposals {
			p := &d.Proposals[i]
			o.printf("\nTo try (%s): %s\n", clean(p.Quality), clean(p.Config.Line))
			o.triedRules(d, p)
		}
		if len(d.Proposals) == 0 {
			o.printf("\nNo rule that was tried matches more.\n")
		}
		o.triedLists("receipted_message_id", d.TLV)
		o.triedLists("the text's id", d.Text)
	}
	o.zone(&d.Timezone)
	if z := d.Timezone.Config; z != nil && !d.Timezone.Agrees && len(d.Proposals) > 0 {
		p := &d.Proposals[0].Config
		o.printf("Both together, since rules: may be there only once: rules: {message_id: %s, timezone: %s}\n", clean(p.Value), clean(z.Value))
	}
}

func waiting(n int) string {
	if n == 1 {
		return "1 receipt waits"
	}
	return fmt.Sprintf("%d receipts wait", n)
}

func stillOpen(n int) string {
	if n == 1 {
		return "1 submit waits for a report"
	}
	return fmt.Sprintf("%d submits wait for a report", n)
}

// triedRules tells what rules make of the receipts, then examples.
func (o output) triedRules(d *control.Diagnosis, t *control.TriedRules) {
	o.printf("  match %d of %d, %d of them confirmed by address; %d fit nothing, %d several, %d another address\n",
		t.Unique, d.Receipts, t.Confirmed, t.None, t.Several, t.Contradicted)
	for _, w := range t.Warnings {
		o.printf("  mind: %s\n", clean(w))
	}
	for _, x := range t.Examples {
		o.printf("  %s  %s\n", clean(x.Inbox), diagnosedReceipt(&x))
	}
}

func diagnosedReceipt(x *control.DiagnosedReceipt) string {
	var ids []string
	if x.TLVID != nil {
		ids = append(ids, "tlv id "+clean(*x.TLVID))
	}
	if x.TextID != nil {
		ids = append(ids, "text id "+clean(*x.TextID))
	}
	named := strings.Join(ids, ", ")
	if named == "" {
		named = "no id"
	}
	whose := fmt.Sprintf("%s of message %s, part %d", clean(x.MessageID), clean(x.Message), x.Part)
	switch {
	case x.Result == "ambiguous":
		return named + " fits several messages"
	case x.Message == "":
		return named + " fits nothing"
	case x.Result == "address_mismatch":
		return named + " fits " + whose + ", whose address is another"
	case x.Confirmed:
		return named + " is " + whose + "; the address agrees"
	}
	return named + " is " + whose
}

// shownLists is how many lists of rules a table has at most; JSON has all.
const shownLists = 12

func (o output) triedLists(what string, lists []control.TriedList) {
	if len(lists) == 0 {
		return
	}
	o.printf("\nRules tried on %s alone:\n", what)
	rows := make([][]string, min(len(lists), shownLists))
	for i := range rows {
		l := &lists[i]
		rows[i] = []string{
			"[" + strings.Join(l.Rules, ", ") + "]", strconv.Itoa(l.Unique), strconv.Itoa(l.Confirmed),
			strconv.Itoa(l.None), strconv.Itoa(l.Several), strconv.Itoa(l.Contradicted),
		}
	}
	o.printTable([]string{"rules", "match", "confirmed", "nothing", "several", "another address"}, rows, 2, 3, 4, 5, 6)
	if n := len(lists) - len(rows); n > 0 {
		o.printf("  and %d more, which match no better (-o json has them)\n", n)
	}
}

func (o output) zone(z *control.DiagnosedZone) {
	configured := "none is configured"
	if z.Configured != "" {
		configured = clean(z.Configured) + " is configured"
	}
	o.printf("\nTime zone of its dates: %s", configured)
	switch {
	case z.Receipts == 0:
		o.printf("; no receipt says anything about it\n")
	case z.Agrees:
		o.printf(", and the dates of %s agree\n", plural(z.Receipts, "receipt"))
	case z.Config != nil:
		best := z.Offsets[0]
		o.printf("\nTo try: %s\n  UTC%s fits %d of %s; where summer time is kept name the place's own zone, as Europe/Rome\n",
			clean(z.Config.Line), clean(best.Offset), best.Receipts, plural(z.Receipts, "receipt"))
	default:
		o.printf("; the dates of %s do not agree on one, or are too few\n", plural(z.Receipts, "receipt"))
		for _, x := range z.Offsets[:min(len(z.Offsets), 3)] {
			o.printf("  UTC%s fits %d\n", clean(x.Offset), x.Receipts)
		}
	}
}
