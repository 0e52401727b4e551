package command

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func manCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages",
		Long: `Writes a manual page for esmed, and one for each of its commands, into a directory, which is made if it is not
there. The packages bring them along; man esmed-send shows one.`,
		Example: "  esmed man ~/.local/share/man/man1 && man esmed-send",
		GroupID: groupTools,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(cmd, "esmed man needs the directory to write to")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{
				Section: "1", Source: "esmed " + version(), Manual: "esmed", Date: builtFrom(),
			}, args[0])
		},
	}
}

// builtFrom is when the commit was made that the program is of, so that its pages are the same wherever they are
// written; nil when it is of none, or has changes.
func builtFrom() *time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key != "vcs.time" {
			continue
		}
		if at, err := time.Parse(time.RFC3339, s.Value); err == nil {
			return &at
		}
	}
	return nil
}
