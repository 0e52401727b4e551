package command

import (
	"os"
	"strings"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// rehearseReprocess tells what a reprocess would come to.
func rehearseReprocess(cmd *cobra.Command, r *reach, o output, path string) error {
	if path != "" {
		cfg, err := config.Load(path, os.Environ(), nil)
		if err != nil {
			return badConfig(path, err)
		}
		r.load = func() (*config.Config, error) { return cfg, nil }
		if !cmd.Flags().Changed("data-dir") {
			r.dataDir = cfg.DataDir
		}
	}
	return r.reader(cmd, func(c *control.Client) error {
		t := reprocessTeller{o: o, live: newCounter(cmd.ErrOrStderr(), "judged"), dry: true}
		defer t.live.end()
		if o.format == formatJSON {
			o.printf(`{"items":[`)
		}
		result, err := c.RehearseReprocess(cmd.Context(), t.rehearsed, func(p control.ReprocessProgress) { t.live.show(p.Rows + p.Messages) })
		t.live.end()
		if err != nil {
			return err
		}
		return t.result(result)
	})
}

// rehearsed tells people of each receipt that would find its message or count for something else, and programs
// of every decision.
func (t *reprocessTeller) rehearsed(d control.Rehearsed) error {
	if !t.o.text() {
		if t.told++; t.o.format == formatJSON && t.told > 1 {
			t.o.printf(",")
		}
		return t.o.object(d)
	}
	if d.Message == "" {
		return nil
	}
	t.live.end()
	moves := or(d.From, "none") + " -> " + or(d.To, "none")
	if d.From == d.To {
		moves = "stays " + or(d.From, "as it is")
	}
	t.o.printf("%s part %d: %s, because record %d (%s) would be %s\n",
		clean(d.Message), d.Part, moves, d.Record, heldReceipt(&d), howMatched(&d.Decision))
	return nil
}

// heldReceipt says which receipt a decision would be about.
func heldReceipt(d *control.Rehearsed) string {
	text := "receipt"
	if d.ExternalID != "" {
		text += " for id " + clean(d.ExternalID)
	}
	if d.ReceivedAt != nil {
		text += ", held since " + clock(*d.ReceivedAt)
	}
	return text
}

// howMatched says by what a receipt would be matched, and what it would count for.
func howMatched(d *control.Decision) string {
	text := or(d.Verdict, d.Correlation)
	if d.By != "" {
		text += ", matched by " + clean(d.By)
	}
	if len(d.Rule) > 0 {
		text += " with " + clean(strings.Join(d.Rule, ", "))
	}
	return text
}
