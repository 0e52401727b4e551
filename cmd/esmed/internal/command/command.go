package command

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1 // failed, or not found
	exitUsage  = 2 // wrong usage or configuration
)

// Streams are what the program reads from and writes to.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the program with the arguments after its name and gives its exit status. SIGINT and SIGTERM
// end what it does.
func Main(args []string, s Streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := &stdout{Writer: bufio.NewWriterSize(s.Out, outBuffer), terminal: terminal(s.Out)}
	root := newRoot(Streams{In: s.In, Out: out, Err: s.Err})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if flushed := out.Flush(); flushed != nil && err == nil {
		err = &failure{text: "stdout: " + flushed.Error(), err: flushed}
	}
	if err == nil {
		return exitDone
	}
	return report(s.Err, cmd, err)
}

// stdout is buffered, because a list is many short lines. What is to be seen at once is flushed.
type stdout struct {
	*bufio.Writer
	terminal bool // a person looks at it
}

const outBuffer = 64 << 10

func newRoot(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "esmed",
		Short: "An SMPP client daemon that knows what happened to each message, and how it knows",
		Long: `esmed keeps binds to SMSCs, submits messages, and stores every receipt before it answers it.
Its other commands ask the daemon what happened to a message, and how it knows.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, "%s", err) })
	root.AddGroup(
		&cobra.Group{ID: groupDaemon, Title: "The daemon:"},
		&cobra.Group{ID: groupMessages, Title: "Messages:"},
		&cobra.Group{ID: groupState, Title: "How things stand:"},
		&cobra.Group{ID: groupTools, Title: "Tools:"},
	)
	root.AddCommand(
		runCommand(), configCommand(),
		sendCommand(), statusCommand(), eventsCommand(), listCommand(), cancelCommand(), queryCommand(),
		inboxCommand(), exceptionsCommand(), reportCommand(), queueCommand(), bindsCommand(), checkCommand(), verifyCommand(),
		reprocessCommand(), evidenceCommand(), backupCommand(), rebuildCommand(), compactCommand(), storeCommand(), doctorCommand(),
		decodeCommand(), versionCommand(),
	)
	root.AddCommand(manCommand(root))
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.GroupID = groupTools
			needsSubcommand(cmd)
		}
	}
	needsSubcommand(root)
	addCompletions(root)
	return root
}

// Groups of commands in the help.
const (
	groupDaemon   = "daemon"
	groupMessages = "messages"
	groupState    = "state"
	groupTools    = "tools"
)

// needsSubcommand makes a command without work of its own refuse what is not one of its subcommands.
func needsSubcommand(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return usage(cmd, "%s needs a command: %s", cmd.CommandPath(), strings.Join(subcommands(cmd), ", "))
	}
}

// listByDefault makes a group whose list is what it does without a subcommand.
func listByDefault(cmd, list *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return list.RunE(cmd, nil)
	}
	cmd.AddCommand(list)
	return cmd
}

func unknownCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2
	hint := cmd.CommandPath() + " --help lists the commands"
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + near[0] + "? " + hint
	}
	return &failure{text: "there is no command " + quote(cmd.CommandPath()+" "+name), hint: hint, code: exitUsage}
}

func subcommands(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// noArgs is cobra's validator with a usage error.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(cmd, "%s takes no arguments (got %q)", cmd.CommandPath(), args[0])
	}
	return nil
}

// interrupted reports whether the person at the keyboard, or the service manager, ended it.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}
