package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"esmed/smpp/smpptest"
)

// auditing is what audit was told.
type auditing struct {
	truth, messages, events string
	opt                     smpptest.AuditOptions
	show                    int
}

func auditCommand() *cobra.Command {
	var a auditing
	c := &cobra.Command{
		Use:   "audit --truth F --messages F --events F",
		Short: "Compare the truth of serve with what esmed says",
		Long: `Reads the truth and esmed's messages and events, prints figures, the differences, and one line that begins
with "agree:" or "DISAGREE:". The exit status is 0 if they agree and 1 if not.

An acknowledged final receipt must show in its message if one of its ids is literally the message_id of its
submit, and the other that of no other; with --rules-fit always, because esmed has the rules to read them all.`,
		Example: `  esmed list --limit 0 -o ndjson > messages.ndjson
  esmed events --after 0 -o ndjson > events.ndjson
  smscsim audit --truth truth.ndjson --messages messages.ndjson --events events.ndjson`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.run(c.OutOrStdout()) },
	}
	f := c.Flags()
	f.StringVar(&a.truth, "truth", "", "what smscsim serve --truth wrote")
	f.StringVar(&a.messages, "messages", "", "esmed's messages, NDJSON")
	f.StringVar(&a.events, "events", "", "esmed's events, NDJSON")
	f.BoolVar(&a.opt.RulesFit, "rules-fit", false, "esmed's rules read every id that the SMSC wrote")
	f.IntVar(&a.opt.MaxInDoubt, "max-in-doubt", -1, "disagree if more messages are in doubt; -1: any number may be")
	f.IntVar(&a.show, "show", 20, "how many differences to print; 0: all")
	return c
}

func (a *auditing) run(out io.Writer) error {
	if a.truth == "" || a.messages == "" || a.events == "" {
		return usageError{errors.New("--truth, --messages and --events are needed")}
	}
	truth, err1 := readFile(a.truth, smpptest.ReadTruth)
	messages, err2 := readFile(a.messages, smpptest.ReadMessages)
	events, err3 := readFile(a.events, smpptest.ReadEvents)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	report := smpptest.Audit(truth, messages, events, a.opt)
	fmt.Fprint(out, report.Figures())
	for i, d := range report.Differences {
		if i == cmp.Or(a.show, len(report.Differences)) {
			fmt.Fprintf(out, "  and %d more\n", len(report.Differences)-i)
			break
		}
		fmt.Fprintf(out, "  %s\n", d)
	}
	fmt.Fprintln(out, report.Verdict())
	if !report.Agree() {
		return errDisagree
	}
	return nil
}

func readFile[T any](name string, read func(io.Reader) ([]T, error)) ([]T, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}
