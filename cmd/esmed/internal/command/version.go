package command

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Say which esmed this is",
		Example: "  esmed version -o json",
		GroupID: groupTools,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := f.to(cmd)
			b := buildInfo()
			if !o.text() {
				return o.object(b)
			}
			o.printf("esmed %s (%s, %s)\n", b.Version, or(b.Revision, "no revision"), b.Go)
			return nil
		},
	}
	outputFlag(cmd, &f)
	return cmd
}

// build is what the program knows of its own making.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"` // built from a checkout with changes
	Go       string `json:"go"`
}

func buildInfo() build {
	b := build{Version: "devel", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func version() string { return buildInfo().Version }
