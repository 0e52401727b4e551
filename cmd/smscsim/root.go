package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
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
	fmt.Fprintf(stderr, "smscsim: error: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	fmt.Fprintf(stderr, "smscsim: hint: %s\n", hintOf(cmd, err))
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

// hintOf says what to do about an error.
func hintOf(cmd *cobra.Command, err error) string {
	if socket, ok := errors.AsType[*net.OpError](err); ok {
		switch socket.Op {
		case "dial":
			return "see whether something listens there, or name where it does"
		case "listen":
			return "name another address with --addr; 127.0.0.1:0 takes a port that is free"
		}
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return "look at " + file.Path + ", or name another one"
	}
	return cmd.CommandPath() + " --help says how it is used"
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
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args = cobra.ArbitraryArgs
			cmd.RunE = func(_ *cobra.Command, args []string) error {
				return usageError{fmt.Errorf("a shell is needed: bash, fish, powershell or zsh (got %q)", strings.Join(args, " "))}
			}
		}
	}
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
