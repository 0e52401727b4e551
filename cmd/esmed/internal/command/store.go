package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func storeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "store",
		Short:   "Say what the store takes of the disk",
		Example: "  esmed store stat",
		GroupID: groupDaemon,
	}
	cmd.AddCommand(storeStatCommand())
	needsSubcommand(cmd)
	return cmd
}

func storeStatCommand() *cobra.Command {
	var (
		r reach
		f format
	)
	cmd := &cobra.Command{
		Use:   "stat",
		Short: "Sizes, ages and growth of the store, and when the disk will be full",
		Long: `Says what log, projection and keys take of the disk, since when they have what they have, how fast they grow,
what retention drops next, and when there will be no room for messages if all goes on as it did.

Growth is measured by the times of the log's own records over the last seven days, or as many as there are;
with less than a day nothing is said about the future. Without a daemon neither retention nor reserve are known.`,
		Example: "  esmed store stat\n  esmed store stat -o json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.reader(cmd, func(c *control.Client) error {
				s, err := c.Store(cmd.Context())
				if err != nil {
					return err
				}
				return printStore(f.to(cmd), &s)
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	return cmd
}

func printStore(o output, s *control.Store) error {
	if !o.text() {
		return o.object(s)
	}
	for _, line := range [][2]string{
		{"data_dir", fmt.Sprintf("%s, %s", clean(s.DataDir), octets(s.Bytes))},
		{"log", storeLog(&s.Log)}, {"state.db", storeFile(s.State)}, {"base.db", storeFile(s.Base)}, {"keys", octets(s.KeysBytes)},
		{"messages", storeMessages(&s.Messages)}, {"growth", storeGrowth(s.Growth)}, {"retention", storeRetention(s.Retention)},
		{"disk", storeDisk(&s.Disk)}, {"full", storeForecast(&s.Forecast)},
	} {
		o.printf("%-10s %s\n", line[0], line[1])
	}
	return nil
}

// octets is a size for people.
func octets[N int64 | uint64 | float64](n N) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	size, unit := float64(n), 0
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%.0f B", size)
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}

// span is from when to when; "" where there is nothing.
func span(from, to *time.Time) string {
	if from == nil || to == nil {
		return ""
	}
	return fmt.Sprintf(", %s to %s", clock(*from), clock(*to))
}

func storeLog(l *control.StoreLog) string {
	return fmt.Sprintf("%s in %s; %s, seq %d to %d%s", octets(l.Bytes), plural(int64(l.Segments), "segment"),
		plural(l.Records, "record"), l.FirstSeq, l.LastSeq, span(l.OldestAt, l.NewestAt))
}

func storeFile(f control.StoreFile) string {
	if f.Bytes == 0 {
		return "none"
	}
	return fmt.Sprintf("%s, %s of it free", octets(f.Bytes), octets(f.FreeBytes))
}

func storeMessages(m *control.StoreMessages) string {
	names := slices.SortedFunc(maps.Keys(m.States), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.States[b], m.States[a]), cmp.Compare(a, b))
	})
	states := make([]string, len(names))
	for i, name := range names {
		states[i] = fmt.Sprintf("%d %s", m.States[name], clean(name))
	}
	text := fmt.Sprintf("%d%s", m.Count, span(m.OldestAt, m.NewestAt))
	if len(states) > 0 {
		text += "; " + strings.Join(states, ", ")
	}
	return text
}

func storeGrowth(g *control.StoreGrowth) string {
	if g == nil {
		return "unknown: the log has less than a day of the past, or ends in the future"
	}
	return fmt.Sprintf("%s a day (log %s, state.db %s; %.0f records), over the last %s",
		octets(g.LogBytes+g.StateBytes), octets(g.LogBytes), octets(g.StateBytes), g.Records, age(time.Duration(g.OverSeconds)*time.Second))
}

func storeRetention(r *control.StoreRetention) string {
	if r == nil {
		return "unknown without a daemon"
	}
	text := fmt.Sprintf("log %s, messages %s", age(time.Duration(r.LogSeconds)*time.Second), age(time.Duration(r.MessagesSeconds)*time.Second))
	if r.DueBytes > 0 {
		text += fmt.Sprintf("; %s of the log are due", octets(r.DueBytes))
	}
	if r.NextAt != nil {
		text += fmt.Sprintf("; next %s of the log at %s", octets(r.NextBytes), clock(*r.NextAt))
	}
	return text
}

func storeDisk(d *control.StoreDisk) string {
	text := fmt.Sprintf("%s free of %s", octets(d.FreeBytes), octets(d.SizeBytes))
	if d.Refuses {
		return text + "; messages are refused now: esmed help upkeep"
	}
	if d.ReserveBytes != nil {
		text += "; messages are refused below " + octets(*d.ReserveBytes)
	}
	return text
}

func storeForecast(f *control.StoreForecast) string {
	switch {
	case f.FullAt != nil:
		return f.FullAt.Format(time.DateOnly) + ", " + clean(f.Why)
	case f.Bytes != nil:
		return fmt.Sprintf("not %s (%s at most)", clean(f.Why), octets(*f.Bytes))
	}
	return f.Verdict + ": " + clean(f.Why)
}
