package command

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"esmed/cmd/esmed/docs"
	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// completionTime is how long a shell waits for names from the daemon at most.
const completionTime = 500 * time.Millisecond

// packagedConfig is where the packages put the configuration.
const packagedConfig = "/etc/esmed/esmed.yaml"

// addCompletions says for each command below root what its flags and arguments may be. A flag means the same
// wherever it is, so that its name decides.
func addCompletions(root *cobra.Command) {
	flags, args := flagCompletions(), argCompletions(root)
	var add func(*cobra.Command)
	add = func(cmd *cobra.Command) {
		for name, complete := range flags {
			if cmd.Flags().Lookup(name) != nil {
				// It can only fail because a group has the very flags of its list, which are completed already.
				_ = cmd.RegisterFlagCompletionFunc(name, complete)
			}
		}
		if complete, known := args[cmd.CommandPath()]; known {
			cmd.ValidArgsFunction = complete
		}
		for _, c := range cmd.Commands() {
			add(c)
		}
	}
	add(root)
}

// flagCompletions are those of the flags with a value, by name.
func flagCompletions() map[string]cobra.CompletionFunc {
	of := map[string]cobra.CompletionFunc{
		"smsc": completeSMSC, "state": listOf(control.StateNames()), "kind": oneOf(control.ExceptionKinds()...),
		"status": oneOf("open", "resolved", "dismissed", "all"), "by": oneOf("hour", "smsc"),
		"output":   oneOf(string(formatText), string(formatJSON), string(formatNDJSON)),
		"in-doubt": oneOf("hold", "resend"), "alphabet": oneOf("gsm7", "latin1", "ascii", "ucs2"),
		"receipt": oneOf("final", "failure", "none"), "file-format": oneOf("csv", "ndjson"), "restored": oneOf("doubt", "send"),
		"log-level": oneOf("debug", "info", "warn", "error"), "log-format": oneOf("json", "console"),
		"data-dir": directories,
	}
	for _, name := range []string{"config", "socket", "file", "rejected", "pcap", "verify"} {
		of[name] = files
	}
	for _, name := range []string{
		"accepted", "after", "assign", "data-coding", "data-hex", "from", "head", "limit", "listen", "message-id", "part",
		"priority-flag", "protocol-id", "reason", "ref", "ref-prefix", "schedule", "service-type", "settle", "since", "text",
		"timeout", "tlv", "to", "udh-hex", "until", "validity", "window",
	} {
		of[name] = cobra.NoFileCompletions
	}
	return of
}

// argCompletions are those of arguments, by the command's path. Most commands take none, or ids, of which there are
// too many.
func argCompletions(root *cobra.Command) map[string]cobra.CompletionFunc {
	of := map[string]cobra.CompletionFunc{
		"esmed backup": firstOnly(directories), "esmed man": firstOnly(directories),
	}
	for _, order := range bindOrders {
		of["esmed binds "+string(order.action)] = firstOnly(completeSMSC)
	}
	var none func(*cobra.Command)
	none = func(cmd *cobra.Command) {
		if _, known := of[cmd.CommandPath()]; !known && cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
			of[cmd.CommandPath()] = cobra.NoFileCompletions
		}
		for _, c := range cmd.Commands() {
			none(c)
		}
	}
	none(root)
	return of
}

func files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func directories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// firstOnly completes the first argument, and no other.
func firstOnly(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, word)
	}
}

func oneOf(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(words, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// listOf completes the last of words that commas separate, in any case, with those that are not there yet.
func listOf(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, list string) ([]cobra.Completion, cobra.ShellCompDirective) {
		done := list[:strings.LastIndex(list, ",")+1]
		there := strings.Split(strings.ToUpper(done), ",")
		var found []cobra.Completion
		for _, word := range beginning(words, strings.ToUpper(list[len(done):])) {
			if !slices.Contains(there, word) {
				found = append(found, done+word)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func beginning(words []string, word string) []cobra.Completion {
	var found []cobra.Completion
	for _, w := range words {
		if strings.HasPrefix(w, word) {
			found = append(found, w)
		}
	}
	return found
}

// completeHelp offers topics and commands, then the commands of a group.
func completeHelp(root *cobra.Command) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []string
		if len(args) == 0 {
			for _, t := range docs.Topics() {
				words = append(words, t.Name)
			}
		}
		if cmd, rest, err := root.Find(args); err == nil && len(rest) == 0 {
			words = append(words, subcommands(cmd)...)
		}
		return beginning(words, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeSMSC offers the names of SMSCs, as the daemon knows them, else as the configuration does. It says nothing
// where neither answers, since a shell is no place for errors.
func completeSMSC(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	var names []string
	if socket := cmd.Flags().Lookup("socket"); socket != nil {
		c := control.Dial(socket.Value.String())
		defer c.Close()
		names, _ = queuedSMSCs(ctx, c, word)
	}
	if len(names) == 0 {
		names = configuredSMSCs(cmd)
	}
	return beginning(names, word), cobra.ShellCompDirectiveNoFileComp
}

// configuredSMSCs are those of the configuration that --config names, else of the packages'; none if it cannot be used.
func configuredSMSCs(cmd *cobra.Command) []string {
	path := packagedConfig
	if f := cmd.Flags().Lookup("config"); f != nil && f.Changed {
		path = f.Value.String()
	}
	names, err := config.SMSCNames(path, os.Environ())
	if err != nil {
		return nil
	}
	return names
}
