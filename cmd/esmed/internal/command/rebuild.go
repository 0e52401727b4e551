package command

import (
	"errors"
	"fmt"
	"io"

	"esmed/cmd/esmed/internal/daemon"
	"esmed/store"

	"github.com/spf13/cobra"
)

// rebuilt is what rebuild prints as JSON.
type rebuilt struct {
	Records        uint64   `json:"records"`
	ElapsedSeconds float64  `json:"elapsed_seconds"`
	Older          []string `json:"older"` // finals that rested on decisions of another parser
}

func rebuildCommand() *cobra.Command {
	var (
		r reach
		f format
	)
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the projection anew from the log, while no daemon runs",
		Long: `Folds the log anew into another state.db and puts it in place of the one that is there, which stays as it is
if anything ends the work before. The daemon has to be stopped.

Everything is decided again by this version's parser. The messages whose final state rested on a decision
of another version's are listed.`,
		GroupID: groupDaemon,
		Example: "  systemctl stop esmed && esmed rebuild && systemctl start esmed",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg := store.Config{Dir: r.dataDir, Decode: daemon.DecodePDU, TextSpans: daemon.TextSpans}
			result, err := store.Rebuild(cmd.Context(), cfg, rebuildProgress(cmd.ErrOrStderr()))
			switch {
			case errors.Is(err, store.ErrLocked):
				return &failure{text: r.dataDir + " is in use", hint: "stop the daemon first: rebuild needs the data directory for itself", err: err}
			case errors.Is(err, store.ErrNoStore):
				return &failure{text: r.dataDir + " holds no store", hint: "name the daemon's data_dir with --data-dir or ESMED_DATA_DIR", err: err}
			case err != nil:
				return err
			}
			return printRebuilt(f.to(cmd), result)
		},
	}
	dataDirFlag(cmd, &r, "what to rebuild (also ESMED_DATA_DIR)")
	outputFlag(cmd, &f)
	return cmd
}

// rebuildProgress shows on a terminal how far it is.
func rebuildProgress(w io.Writer) func(done, total uint64) {
	if !terminal(w) {
		return nil
	}
	return func(done, total uint64) {
		fmt.Fprintf(w, "\r\x1b[Krebuild: seq %d of %d", done, total)
		if done >= total {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}

func printRebuilt(o output, r store.RebuildResult) error {
	if !o.text() {
		older := make([]string, len(r.Older))
		for i, id := range r.Older {
			older[i] = string(id)
		}
		return o.object(rebuilt{Records: r.Records, ElapsedSeconds: r.Elapsed.Seconds(), Older: older})
	}
	o.printf("rebuilt: %s in %.1f s\n", plural(r.Records, "record"), r.Elapsed.Seconds())
	if len(r.Older) == 0 {
		return nil
	}
	o.printf("%s rested on a decision of another version's parser, and was decided again:\n", plural(len(r.Older), "final state"))
	for _, id := range r.Older {
		o.printf("  %s\n", clean(string(id)))
	}
	return nil
}
