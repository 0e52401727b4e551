package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func reprocessCommand() *cobra.Command {
	var (
		r    reach
		f    format
		dry  bool
		path string
	)
	cmd := &cobra.Command{
		Use:   "reprocess",
		Short: "Judge what is held or noted again under the rules in force",
		Long: `Reads all receipts that wait in the inbox, and those that were noted without effect, again under the rules in
force, and makes messages found by the ids that these rules give: inbox first, then messages from the newest
on, slowly enough to stay out of the traffic's way. Each page is a record. Final states stay as they are.

The daemon does so by itself after each change of rules (SIGHUP or restart); ending this command leaves the
rest to it.

--dry-run tells message by message what would change, and why, if the configuration as it reads now were taken
up: the daemon's own file, or --config when no daemon runs. Nothing is recorded.`,
		Example: "  esmed reprocess\n  esmed reprocess --dry-run\n  esmed reprocess --dry-run --config new.yaml -o ndjson",
		GroupID: groupState,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dry {
				return rehearseReprocess(cmd, &r, f.to(cmd), path)
			}
			if path != "" {
				return usage(cmd, "--config is for --dry-run: the daemon has its own")
			}
			c := r.daemon()
			defer c.Close()
			t := reprocessTeller{o: f.to(cmd), live: newCounter(cmd.ErrOrStderr(), "judged again")}
			defer t.live.end()
			if t.o.format == formatJSON {
				t.o.printf(`{"items":[`)
			}
			result, err := c.Reprocess(cmd.Context(), t.decision, func(p control.ReprocessProgress) { t.live.show(p.Rows + p.Messages) })
			t.live.end()
			if err != nil {
				return err
			}
			return t.result(result)
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "tell what would change, and change nothing")
	cmd.Flags().StringVar(&path, "config", "", "the configuration to try when no daemon runs (default: the rules in force)")
	return cmd
}

// reprocessTeller tells what a pass comes to: people of the messages that it moves, programs of every decision.
type reprocessTeller struct {
	o    output
	live *counter
	told int
	dry  bool
}

func (t *reprocessTeller) decision(d control.Decision) error {
	if !t.o.text() {
		if t.told++; t.o.format == formatJSON && t.told > 1 {
			t.o.printf(",")
		}
		return t.o.object(d)
	}
	if d.Message == "" || d.From == d.To {
		return nil
	}
	t.live.end()
	how := ""
	if d.By != "" {
		how = fmt.Sprintf(", matched by %s %s", clean(d.By), quote(d.ExternalID))
		if len(d.Rule) > 0 {
			how += " under " + clean(strings.Join(d.Rule, ", "))
		}
	}
	t.o.printf("%s  part %d: %s, was %s (record %d%s)\n", clean(d.Message), d.Part, or(d.To, "none"), or(d.From, "none"), d.Record, how)
	return nil
}

func (t *reprocessTeller) result(r control.ReprocessResult) error {
	switch t.o.format {
	case formatNDJSON:
		return nil
	case formatJSON:
		t.o.printf(`],"result":`)
		if err := t.o.object(r); err != nil {
			return err
		}
		t.o.printf("}\n")
		return nil
	}
	judged, changed := "judged again", "changed state"
	if t.dry {
		judged, changed = "would be judged again", "would change state"
	}
	t.o.printf("%s and %s %s; %s %s\n",
		plural(r.Rows, "waiting receipt"), plural(r.Messages, "message"), judged, plural(r.Changed, "message"), changed)
	for _, verdict := range slices.Sorted(maps.Keys(r.Verdicts)) {
		t.o.printf("  %-10s %d\n", clean(verdict), r.Verdicts[verdict])
	}
	return nil
}
