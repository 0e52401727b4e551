package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// errDisagree ends the audit with 1; its line on stdout has said why.
var errDisagree = errors.New("the audit disagrees")

// usageError is a mistake in the command line.
type usageError struct{ error }

// run is the whole program: it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := rootCommand()
	root.SetArgs(withDefaultCommand(root, args))
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errDisagree):
		return 1
	}
	fmt.Fprintf(stderr, "smscsim: error: %v\n", err)
	if errors.As(err, new(usageError)) {
		fmt.Fprintf(stderr, "smscsim: hint: %s --help says how it is used\n", cmd.CommandPath())
		return 2
	}
	return 1
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "smscsim",
		Short:         "A simulated SMSC that misbehaves on demand and writes down what it did",
		Example:       "  smscsim --addr 127.0.0.1:2775 --truth truth.ndjson\n  smscsim serve --help",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(serveCommand(), loadCommand(), wireCommand(), rateCommand(), auditCommand(), manCommand(root))
	return root
}

// withDefaultCommand makes "smscsim --addr ..." mean "smscsim serve --addr ...".
func withDefaultCommand(root *cobra.Command, args []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") && !slices.Contains([]string{"-h", "--help"}, args[0]) {
		return append([]string{"serve"}, args...)
	}
	if !strings.HasPrefix(args[0], "-") {
		root.Args = func(_ *cobra.Command, args []string) error {
			return usageError{fmt.Errorf("unknown command %q", args[0])}
		}
		root.RunE = func(*cobra.Command, []string) error { return nil }
	}
	return args
}

// noArgs refuses what stands after the flags.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected %q", args[0])}
	}
	return nil
}
