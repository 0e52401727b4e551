package command

import (
	"os"
	"strings"

	"esmed/cmd/esmed/internal/config"

	"github.com/spf13/cobra"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Check a configuration, or print an example",
		GroupID: groupDaemon,
	}
	cmd.AddCommand(configCheckCommand(), configExampleCommand())
	needsSubcommand(cmd)
	return cmd
}

// checked is what config check found.
type checked struct {
	OK       bool             `json:"ok"`
	Problems []checkedProblem `json:"problems"`
}

type checkedProblem struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

func configCheckCommand() *cobra.Command {
	var path string
	var f format
	cmd := &cobra.Command{
		Use:   "check --config FILE",
		Short: "Say everything that is wrong with a configuration",
		Long: `Reads the file and the environment as the daemon would, password files included, and says
everything that is wrong, each with its path. Exit status 0 when the daemon would start with it, else 2.`,
		Example: "  esmed config check --config /etc/esmed/esmed.yaml",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usage(cmd, "--config is needed")
			}
			o := f.to(cmd)
			c, err := config.Load(path, os.Environ(), nil)
			if !o.text() {
				return printChecked(o, path, err)
			}
			if err != nil {
				return badConfig(path, err)
			}
			names := make([]string, len(c.SMSCs))
			for i := range c.SMSCs {
				names[i] = c.SMSCs[i].Name
			}
			o.printf("%s is valid: %s (%s)\n", clean(path), plural(len(names), "SMSC"), strings.Join(names, ", "))
			return nil
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "the configuration file")
	outputFlag(cmd, &f)
	return cmd
}

func printChecked(o output, path string, err error) error {
	problems := configProblems(err)
	if err != nil && len(problems) == 0 {
		return badConfig(path, err)
	}
	result := checked{OK: err == nil, Problems: []checkedProblem{}}
	for _, p := range problems {
		result.Problems = append(result.Problems, checkedProblem{p.Path, p.Text})
	}
	if err := o.object(result); err != nil {
		return err
	}
	if !result.OK {
		return silent{exitUsage}
	}
	return nil
}

func configExampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "example",
		Short:   "Print a complete, commented configuration with every default",
		Example: "  esmed config example > esmed.yaml",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write([]byte(config.Example()))
			return err
		},
	}
}
