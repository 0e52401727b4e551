package command

import (
	"fmt"
	"os"
	"strings"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Check a configuration, or print an example",
		Example: "  esmed config example > esmed.yaml\n  esmed config check --config esmed.yaml",
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
	Warnings []checkedProblem `json:"warnings"` // what the daemon would start with all the same
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
everything that is wrong, each with its path. Exit status 0 when the daemon would start with it, else 2.
Files and directories that others may read, and should not, are warnings.`,
		Example: "  esmed config check --config /etc/esmed/esmed.yaml",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usage(cmd, "--config is needed")
			}
			o := f.to(cmd)
			c, err := loadAndCheck(path)
			var warnings []*config.Problem
			if err == nil {
				warnings = c.Warnings(path)
			}
			if !o.text() {
				return printChecked(o, path, warnings, err)
			}
			if err != nil {
				return badConfig(path, err)
			}
			for _, w := range warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "esmed: warning: %s\n", clean(w.Error()))
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

// loadAndCheck loads a configuration and reads what the daemon would read with it.
func loadAndCheck(path string) (*config.Config, error) {
	c, err := config.Load(path, os.Environ(), nil)
	if err != nil || c.API.TokensFile == "" {
		return c, err
	}
	if _, err := control.ReadTokens(c.API.TokensFile); err != nil {
		return nil, &config.Problem{Path: "api.tokens_file", Text: err.Error()}
	}
	return c, nil
}

func printChecked(o output, path string, warnings []*config.Problem, err error) error {
	problems := configProblems(err)
	if err != nil && len(problems) == 0 {
		return badConfig(path, err)
	}
	result := checked{OK: err == nil, Problems: checkedProblems(problems), Warnings: checkedProblems(warnings)}
	if err := o.object(result); err != nil {
		return err
	}
	if !result.OK {
		return silent{exitUsage}
	}
	return nil
}

func checkedProblems(problems []*config.Problem) []checkedProblem {
	list := make([]checkedProblem, len(problems))
	for i, p := range problems {
		list[i] = checkedProblem{p.Path, p.Text}
	}
	return list
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
