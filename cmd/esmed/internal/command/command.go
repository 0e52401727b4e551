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

	exitInterrupted = 128 + int(syscall.SIGINT)  // while it followed something
	exitPipe        = 128 + int(syscall.SIGPIPE) // nobody reads stdout, and SIGPIPE is ignored, else it would end us
)

// Streams are what the program reads from and writes to.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the program with the arguments after its name and gives its exit status. SIGINT and SIGTERM
// end what it does.
func Main(args []string, s Streams) int {
	// In two, so that it can be told which came: only SIGINT ends the inner one alone.
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, stopAll := signal.NotifyContext(ended, os.Interrupt)
	defer stopAll()
	out := newStdout(s.Out)
	root := newRoot(Streams{In: s.In, Out: out, Err: s.Err})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	flushed := out.Flush() // also what went wrong with it before
	if errors.Is(flushed, syscall.EPIPE) {
		return exitPipe
	}
	if untold := new(silent); flushed != nil && (err == nil || errors.As(err, untold)) {
		err = &failure{text: "stdout: " + flushed.Error(), hint: "what was found could not be written: make room, or write elsewhere", err: flushed, code: untold.code}
	}
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errFollowed):
		return followed(ended)
	}
	return report(s.Err, cmd, err)
}

// errFollowed ends a command that follows something until somebody ends it, about which there is nothing to say.
var errFollowed = errors.New("no longer followed")

// followed is the exit status of a command that followed something: a shell expects a program that was interrupted at
// the keyboard to say so, and a service manager one that it ended to have done its work.
func followed(ended context.Context) int {
	if ended.Err() != nil {
		return exitDone
	}
	return exitInterrupted
}

// stdout is buffered, because a list is many short lines. What is to be seen at once is flushed.
type stdout struct {
	*bufio.Writer
	terminal bool     // a person looks at it
	file     *os.File // what it is written to; nil when that is no file
}

func newStdout(w io.Writer) *stdout {
	file, _ := w.(*os.File)
	return &stdout{Writer: bufio.NewWriterSize(w, outBuffer), terminal: terminal(w), file: file}
}

const outBuffer = 64 << 10

func newRoot(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "esmed",
		Short: "An SMPP client daemon that knows what happened to each message, and how it knows",
		Long: `esmed keeps binds to SMSCs, submits messages, and stores every receipt before it answers it.
Its other commands ask the daemon what happened to a message, and how it knows. Begin with esmed help getting-started.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(badFlag)
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
			for _, shell := range cmd.Commands() {
				shell.Args = noArgs
			}
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
	cmd.Example = list.Example
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
