package command

import (
	"fmt"
	"io"
	"path/filepath"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func backupCommand() *cobra.Command {
	var (
		r         reach
		f         format
		chainOnly bool
	)
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy the store while the daemon runs",
		Long: `Copies projection, log and keys into DIR, which must be empty or not exist yet, and verifies the copy: its hash
chain, then, by folding its log, all that follows from it. That takes as long, and in DIR as much room, as esmed
verify does; --chain-only leaves the fold out. Traffic goes on. The daemon writes the copy, so DIR is a path of its
machine; without a daemon this command does. esmed help backup-and-restore says how to start from a copy.`,
		Example: "  esmed backup /var/backups/esmed/2026-11-30",
		GroupID: groupDaemon,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(cmd, "%s takes one directory", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			return r.reader(cmd, func(c *control.Client) error {
				result, err := c.Backup(cmd.Context(), control.Backup{Dir: dir, ChainOnly: chainOnly}, backupProgress(cmd.ErrOrStderr()))
				if err != nil {
					return err
				}
				return printBackup(f.to(cmd), result)
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().BoolVar(&chainOnly, "chain-only", false, "verify the copy's hash chain alone")
	return cmd
}

// backupProgress shows on a terminal how far it is, and elsewhere each file once.
func backupProgress(w io.Writer) func(control.BackupProgress) {
	live, file := terminal(w), "\x00"
	return func(p control.BackupProgress) {
		what := p.File
		if what == "" {
			what = "verifying the copy"
		}
		switch {
		case live && p.File != "":
			fmt.Fprintf(w, "\r\x1b[K%s: %d of %d MiB", clean(what), p.Done>>20, p.Total>>20)
		case live:
			fmt.Fprint(w, "\r\x1b[K")
		case what != file:
			fmt.Fprintf(w, "backup: %s\n", clean(what))
		}
		file = what
	}
}

func printBackup(o output, r control.BackupResult) error {
	if !o.text() {
		return o.object(r)
	}
	o.printf("%s: records up to seq %d, %.1f MiB, backup %s\n", clean(r.Dir), r.Seq, float64(r.Bytes)/(1<<20), clean(r.Backup))
	if r.Folded {
		o.printf("verified: hash chain, and fold against projection\n")
	} else {
		o.printf("verified: hash chain\n")
	}
	o.printf("chain head %s\n", clean(r.Hash))
	return nil
}
