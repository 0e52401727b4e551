package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/store"

	"github.com/spf13/cobra"
)

// compactLeaves is how much room a compaction without a daemon leaves on the disk at least.
const compactLeaves = 16 << 20

func compactCommand() *cobra.Command {
	var (
		r reach
		f format
	)
	cmd := &cobra.Command{
		Use:   "compact",
		Short: "Give room back that the projection has and does not need",
		Long: `Writes state.db and base.db anew without the pages that nothing is in, each beside the one that is there and
then in its place; whatever ends it before, the old one stays. It needs room for a second one of what is in it.
What the log no longer needs is given back by retention.

While the daemon runs only base.db is written anew, since state.db is in use all the time. Stop the daemon for
both. Room within a file is used again before it grows, so that this is worth while after much was dropped for good.`,
		Example: "  systemctl stop esmed && esmed compact && systemctl start esmed",
		GroupID: groupDaemon,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			result, err := compact(cmd, &r, compactShown(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			return printCompacted(f.to(cmd), result)
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	return cmd
}

// compact has the daemon do what can be done while it runs, and does all of it where none does. A data directory that is
// named may be one that no daemon has, whatever else runs.
func compact(cmd *cobra.Command, r *reach, shown func(control.CompactProgress)) (control.CompactResult, error) {
	ctx, client := cmd.Context(), r.daemon()
	defer client.Close()
	if namesDataDir(cmd) {
		if result, err := compactDir(ctx, r.dataDir, shown); !errors.Is(err, store.ErrLocked) {
			return result, r.noReader("", err)
		}
	}
	if err := client.Ready(ctx); !errors.Is(err, control.ErrNoDaemon) {
		return client.Compact(ctx, shown)
	}
	result, err := compactDir(ctx, r.dataDir, shown)
	return result, r.noReader(r.noDaemon(), err)
}

func compactDir(ctx context.Context, dir string, shown func(control.CompactProgress)) (control.CompactResult, error) {
	cfg := store.Config{Dir: dir, Decode: daemon.DecodePDU, TextSpans: daemon.TextSpans}
	done, err := store.Compact(ctx, cfg, compactLeaves, func(p store.CompactProgress) { shown(control.CompactProgress(p)) })
	result := control.CompactResult{Files: make([]control.CompactedFile, len(done))}
	for i, one := range done {
		result.Files[i] = control.CompactedFile{File: one.File, Before: one.Before, After: one.After}
	}
	return result, err
}

// compactShown shows on a terminal how far it is.
func compactShown(w io.Writer) func(control.CompactProgress) {
	live := terminal(w)
	return func(p control.CompactProgress) {
		if live {
			fmt.Fprintf(w, "\r\x1b[K%s: %d of %d MiB\r", clean(p.File), p.Done>>20, p.Total>>20)
		}
	}
}

func printCompacted(o output, r control.CompactResult) error {
	if !o.text() {
		return o.object(r)
	}
	for _, one := range r.Files {
		if one.Left != "" {
			o.printf("%s: left as it is, %s: it %s\n", clean(one.File), octets(one.After), clean(one.Left))
			continue
		}
		o.printf("%s: %s, was %s\n", clean(one.File), octets(one.After), octets(one.Before))
	}
	return nil
}
