package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// resolveFlags are the flags of exceptions resolve.
type resolveFlags struct {
	reach    reach
	format   format
	assign   string
	accepted string
	simple   map[string]*bool // actions without a value
	reason   string
	kind     string
	smsc     string
	since    timeFlag
}

// simpleActions are the actions that are flags without a value.
var simpleActions = []struct {
	action, flag, usage string
}{
	{"dismiss", "dismiss", "nothing is to be done"},
	{"resend", "resend", "in doubt: send it once more; it may arrive twice"},
	{"not_sent", "not-sent", "in doubt: it never left, so it waits in the queue again and is not doubled"},
	{"take", "take", "conflict: the second final state counts"},
	{"undo", "undo", "take an earlier decision back: the message is folded again from its other records"},
}

func exceptionsResolveCommand() *cobra.Command {
	f := resolveFlags{simple: map[string]*bool{}}
	cmd := &cobra.Command{
		Use:   "resolve ID... | --kind K --smsc S --since T",
		Short: "Decide exceptions, one by one or in bulk",
		Long: `Records what you decide about exceptions, with who you are, when, and --reason. ids are those of esmed
exceptions list: x1841 for an exception, i1790 for a receipt that waits in the inbox. Without ids, all open
exceptions of a kind, SMSC and time are decided alike; --undo, --assign and --accepted take ids only.

Nothing is erased: --undo records that a decision no longer counts. Decisions are about what esmed concludes,
not about what was received. Exit status 1 when any of them could not be decided.`,
		Example: `  esmed exceptions resolve x1841 --take --reason "alpha confirmed by mail, ticket 4711"
  esmed exceptions resolve i1790 --assign 01JDXW5Q0C8Z4Y3K7M2N9P6R5T
  esmed exceptions resolve x2002 --accepted 5A3C99F1
  esmed exceptions resolve --kind in_doubt --smsc alpha --since 2h --resend
  esmed exceptions resolve x1841 --undo`,
		RunE: f.run,
	}
	socketFlag(cmd, &f.reach)
	outputFlag(cmd, &f.format)
	flags := cmd.Flags()
	flags.StringVar(&f.assign, "assign", "", "a receipt without an owner belongs to this `MESSAGE[/PART]`")
	flags.StringVar(&f.accepted, "accepted", "", "in doubt, or without an id: the SMSC accepted it as `SMSC_ID`")
	for _, a := range simpleActions {
		f.simple[a.action] = flags.Bool(a.flag, false, a.usage)
	}
	flags.StringVar(&f.reason, "reason", "", "why, in your own words, for those who read it later")
	flags.StringVar(&f.kind, "kind", "", "in bulk: all open ones of this kind")
	flags.StringVar(&f.smsc, "smsc", "", "in bulk: all open ones of this SMSC")
	flags.Var(&f.since, "since", "in bulk: all open ones since this time, or for as long as this")
	return cmd
}

func (f *resolveFlags) run(cmd *cobra.Command, ids []string) error {
	decision, err := f.decision(cmd, ids)
	if err != nil {
		return err
	}
	c := f.reach.daemon()
	defer c.Close()
	if err := checkSMSC(cmd.Context(), c, f.smsc); err != nil {
		return err
	}
	t := &resolveTeller{o: f.format.to(cmd), bulk: decision.Select != nil, live: newCounter(cmd.ErrOrStderr(), "decided")}
	defer t.live.end()
	t.begin()
	if t.bulk {
		err = t.resolve(cmd.Context(), c, decision)
	}
	for chunk := range slices.Chunk(ids, control.MaxLimit) {
		if decision.IDs = chunk; err == nil {
			err = t.resolve(cmd.Context(), c, decision)
		}
	}
	t.live.end()
	if err != nil {
		return err
	}
	return t.finish()
}

// decision reads what is decided, and about what in bulk.
func (f *resolveFlags) decision(cmd *cobra.Command, ids []string) (control.Resolve, error) {
	d := control.Resolve{Target: f.assign, MessageID: f.accepted, Reason: f.reason}
	given := 0
	set := func(action string) { d.Action, given = action, given+1 }
	if cmd.Flags().Changed("assign") {
		set("assign")
	}
	if cmd.Flags().Changed("accepted") {
		set("accepted")
	}
	for _, a := range simpleActions {
		if *f.simple[a.action] {
			set(a.action)
		}
	}
	selection := f.kind != "" || f.smsc != "" || !f.since.t.IsZero()
	switch {
	case given != 1:
		return d, usage(cmd, "say what you decide, once: --assign, --dismiss, --resend, --accepted, --not-sent, --take or --undo")
	case len(ids) > 0 && selection:
		return d, usage(cmd, "name ids, or select with --kind, --smsc and --since, not both")
	case len(ids) == 0 && !selection:
		return d, usage(cmd, "name the exceptions, or select them with --kind, --smsc and --since: everything at once is no decision")
	case len(ids) > 0:
		return d, nil
	}
	d.Select = &control.Selection{Kind: f.kind, SMSC: f.smsc}
	if !f.since.t.IsZero() {
		d.Select.Since = &f.since.t
	}
	return d, nil
}

// resolveTeller tells what came of decisions, as they come.
type resolveTeller struct {
	o       output
	bulk    bool
	live    *counter
	summary control.ResolveSummary
}

func (t *resolveTeller) begin() {
	if t.o.format == formatJSON {
		t.o.printf(`{"items":[`)
	}
}

func (t *resolveTeller) resolve(ctx context.Context, c *control.Client, d control.Resolve) error {
	told := t.summary.Resolved + t.summary.Failed
	sum, err := c.Resolve(ctx, d, func(r control.Resolved) error {
		told++
		t.live.show(told)
		return t.tell(r, told)
	})
	t.summary.Resolved += sum.Resolved
	t.summary.Failed += sum.Failed
	return err
}

// tell tells one. In bulk people are told of those only that could not be decided.
func (t *resolveTeller) tell(r control.Resolved, n int) error {
	switch t.o.format {
	case formatNDJSON:
		return t.o.object(r)
	case formatJSON:
		b, err := json.Marshal(r)
		if n > 1 {
			t.o.printf(",\n")
		}
		t.o.printf("%s", b)
		return err
	}
	if !r.OK {
		t.o.printf("%s  not resolved: %s\n", clean(r.ID), or(r.Detail, "no reason given"))
		return nil
	}
	if t.bulk {
		return nil
	}
	t.o.printf("%s  %s in record %d\n", clean(r.ID), or(r.Status, "decided"), r.Record)
	for _, m := range r.Moves {
		t.o.printf("    %s\n", movedWords(m))
	}
	if r.Exception != "" && r.Exception != r.ID {
		t.o.printf("    kept as exception %s, which --undo takes\n", clean(r.Exception))
	}
	return nil
}

// movedWords say what a decision did to a message.
func movedWords(m control.Moved) string {
	var what []string
	if m.Verdict != "" {
		what = append(what, clean(m.Verdict))
	}
	switch {
	case m.From != m.To:
		what = append(what, fmt.Sprintf("%s, was %s", or(m.To, "none"), or(m.From, "none")))
	case m.To != "":
		what = append(what, "still "+clean(m.To))
	}
	return fmt.Sprintf("message %s, part %d: %s", clean(m.Message), m.Part, strings.Join(what, "; "))
}

func (t *resolveTeller) finish() error {
	all := t.summary.Resolved + t.summary.Failed
	switch t.o.format {
	case formatJSON:
		t.o.printf("],\"resolved\":%d,\"failed\":%d}\n", t.summary.Resolved, t.summary.Failed)
	case formatText:
		switch {
		case all == 0:
			t.o.printf("none\n")
		case t.bulk, all > 1:
			t.o.printf("%d resolved of %d\n", t.summary.Resolved, all)
		}
	}
	if t.summary.Failed == 0 {
		return nil
	}
	return &failure{
		text: fmt.Sprintf("%d of %s not resolved", t.summary.Failed, plural(all, "exception")),
		hint: "esmed exceptions show ID says how each stands and what can be decided",
	}
}
