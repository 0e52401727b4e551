package command

import (
	"fmt"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func exceptionsShowCommand() *cobra.Command {
	var (
		r reach
		f format
	)
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show an exception with all that bears on it, and how to decide it",
		Long: `Shows what is to be decided, the records that it is about, the messages that come into question, and the
commands that decide it. Beside a receipt without an owner stand the submits to the same destination whose
answer was lost before it came: one of them may be its own. Nothing is assigned by that.`,
		Example: "  esmed exceptions show x1841",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(cmd, "%s needs one id, as x1841", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.reader(cmd, func(c *control.Client) error {
				x, err := c.Exception(cmd.Context(), args[0])
				if isNotFound(err) {
					return &failure{text: "there is no exception " + quote(args[0]), hint: "esmed exceptions list --status all lists them", err: err}
				}
				if err != nil {
					return err
				}
				o := f.to(cmd)
				if !o.text() {
					return o.object(x)
				}
				o.exception(x)
				return nil
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	return cmd
}

// exception tells what is to be decided, each record that it is about, and how to decide it.
func (o output) exception(x control.ExceptionDetail) {
	o.printf("Exception %s: %s, %s\n", clean(x.ID), clean(x.Kind), clean(x.Status))
	o.printf("Because   %s\n", or(x.Reason, "-"))
	o.printf("SMSC      %s, account %s\n", or(x.SMSC, "-"), or(x.Account, "-"))
	if x.Message != "" {
		o.printf("Message   %s, part %d\n", clean(x.Message), x.Part)
	}
	if x.Count == 1 {
		o.printf("Seen      once, %s\n", clock(x.FirstAt))
	} else {
		o.printf("Seen      %s, first %s, last %s\n", plural(x.Count, "time"), clock(x.FirstAt), clock(x.LastAt))
	}
	switch res := x.Resolution; {
	case byHand(res):
		o.printf("Resolved  %s by %s at %s, record %d: %s\n",
			clean(res.Action), who(res.By), clock(res.At), res.Record, or(res.Reason, "no reason given"))
	case res != nil:
		o.printf("Ended     by itself at %s, with record %d: %s\n", clock(res.At), res.Record, endWords(res.Action))
	}
	if len(x.Candidates) > 0 {
		o.printf("Candidates\n")
	}
	for _, cand := range x.Candidates {
		o.printf("  %s\n", candidateWords(cand))
	}
	for _, e := range x.Events {
		o.printf("\n")
		o.event(e, true)
	}
	if gone := len(x.Records) - len(x.Events); gone > 0 {
		o.printf("\n%s of it not in the log any more.\n", plural(gone, "record"))
	}
	if n := uint64(len(x.Records)); x.Count > n {
		o.printf("\nThese are the first %s of %d.\n", plural(n, "record"), x.Count)
	}
	o.doubts(x.InDoubt)
	o.choices(x)
}

func candidateWords(c control.Candidate) string {
	words := fmt.Sprintf("%s, part %d", clean(c.Message), c.Part)
	if c.Attempt > 0 {
		words += fmt.Sprintf(", attempt %d", c.Attempt)
	}
	if c.State == "" {
		return words + ": not kept any more"
	}
	return words + fmt.Sprintf(": %s, to %s, accepted %s", clean(c.State), or(c.To, "-"), clockOr(c.AcceptedAt, "-"))
}

func (o output) doubts(doubts []control.Doubt) {
	if len(doubts) == 0 {
		return
	}
	o.printf("\nIn doubt, to the same destination, when it came (nothing is assigned by this):\n")
	for _, d := range doubts {
		where := "may have left since the backup"
		if d.Session != "" {
			where = "left " + clock(d.At) + " on " + clean(d.Session)
		}
		o.printf("  %s, part %d, attempt %d: %s, %s", clean(d.Message), d.Part, d.Attempt, where, lostWords(d.Cause, d.Record))
		if d.Exception != "" {
			o.printf("; exception %s", clean(d.Exception))
		}
		o.printf("\n")
	}
}

// choice is a decision that a person may make: the flags of exceptions resolve, and what they mean.
type choice struct{ flags, means string }

// choices tells the commands that decide an exception, or take back what decided it.
func (o output) choices(x control.ExceptionDetail) {
	choices := choicesFor(x)
	if len(choices) == 0 {
		return
	}
	o.printf("\nDecide with one of these, and --reason TEXT:\n")
	for _, c := range choices {
		o.printf("  esmed exceptions resolve %s %s\n      %s\n", clean(x.ID), c.flags, c.means)
	}
	if x.Kind == "conflict" && namesTwo(x) && x.Status == "open" {
		o.printf("To believe one of the two always: smscs[].rules.state of %s, then SIGHUP; what was noted is judged again then.\n", or(x.SMSC, "the SMSC"))
	}
	if x.Kind == "unmapped_state" && x.Status == "open" {
		o.printf("To give the word a meaning: smscs[].rules.states of %s, then SIGHUP; what was noted is judged again then.\n", or(x.SMSC, "the SMSC"))
	}
}

// byHand reports whether a person decided the exception itself: an exception also ends with what a person
// decided about another one.
func byHand(r *control.Resolution) bool {
	if r == nil || !isPerson(r.By) {
		return false
	}
	switch r.Action {
	case "assign", "dismiss", "resend", "accepted", "not_sent", "take":
		return true
	}
	return false
}

// endWords say what ended an exception that nobody decided.
func endWords(action string) string {
	switch action {
	case "receipt":
		return "a receipt told"
	case "late_answer":
		return "the answer came late"
	case "client_ref":
		return "a receipt with our reference told"
	case "matched":
		return "its message was found"
	case "unmatched", "ambiguous", "address_mismatch":
		return "it is held as " + action + " now"
	case "rules":
		return "the rules settle it"
	case "retention":
		return "its time was over"
	case "undo":
		return "what had led to it was taken back"
	}
	return or(action, "no more is known")
}

func choicesFor(x control.ExceptionDetail) []choice {
	if x.Status != "open" {
		if byHand(x.Resolution) {
			return []choice{{"--undo", "takes this decision back"}}
		}
		return nil
	}
	dismiss := choice{"--dismiss", "nothing is to be done"}
	accepted := choice{"--accepted SMSC_ID", "the SMSC accepted it, with this id"}
	switch x.Kind {
	case "conflict":
		if namesTwo(x) {
			return []choice{{"--take", "the final one of the two states counts, if only one is final"}, dismiss}
		}
		dismiss.means = "the first final state stands"
		return []choice{{"--take", "what contradicts it counts"}, dismiss}
	case "in_doubt":
		dismiss.means = "it stays in doubt, and off this list"
		return []choice{
			accepted, {"--not-sent", "it never left: it waits in the queue again, and is not doubled"},
			{"--resend", "send it once more: it may arrive twice"}, dismiss,
		}
	case "no_message_id":
		return []choice{accepted, dismiss}
	case "unmatched", "ambiguous", "address_mismatch":
		return append(assignChoices(x), dismiss)
	}
	return []choice{dismiss}
}

// namesTwo reports whether a conflict is about receipts that were noted, not refused: each names two states
// itself, and none of them came first.
func namesTwo(x control.ExceptionDetail) bool {
	for _, e := range x.Events {
		for _, d := range e.Decisions {
			if d.Record == e.Seq && d.Verdict == "noted" {
				return true
			}
		}
	}
	return false
}

// assignChoices are the parts that a receipt may be assigned to: its candidates, then those in doubt.
func assignChoices(x control.ExceptionDetail) []choice {
	var choices []choice
	add := func(message string, part int, means string) {
		flags := fmt.Sprintf("--assign %s/%d", clean(message), part)
		for _, c := range choices {
			if c.flags == flags {
				return
			}
		}
		choices = append(choices, choice{flags, means})
	}
	for _, c := range x.Candidates {
		if c.State != "" {
			add(c.Message, c.Part, "it is about this message, whose id it has")
		}
	}
	for _, d := range x.InDoubt {
		add(d.Message, d.Part, "it is about this message, which is in doubt")
	}
	if len(choices) == 0 {
		choices = []choice{{"--assign MESSAGE[/PART]", "it is about this message"}}
	}
	return choices
}
