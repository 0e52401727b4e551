package command

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// A shell that is told nothing about a value offers files for it, which is wrong for most.
func TestCompletions_areSaidForAllFlagsAndArguments(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		require.True(t, cmd.ValidArgsFunction != nil || len(cmd.ValidArgs) > 0, cmd.CommandPath())
		for _, name := range valueFlags(cmd) {
			_, has := cmd.GetFlagCompletionFunc(name)
			require.True(t, has, "%s --%s", cmd.CommandPath(), name)
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot(Streams{}))
}

func TestCompletions_areOfFlagsThatExist(t *testing.T) {
	there := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, name := range valueFlags(cmd) {
			there[name] = true
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot(Streams{}))
	for name := range flagCompletions() {
		require.True(t, there[name], "no command has --%s", name)
	}
}

func TestCompletions_formatsAreThoseThatAreTaken(t *testing.T) {
	words, _ := flagCompletions()["output"](nil, nil, "")
	for _, word := range words {
		require.NoError(t, new(format).Set(word))
	}
	words, _ = flagCompletions()["restored"](nil, nil, "")
	for _, word := range words {
		require.NoError(t, new(restoredFlag).Set(word))
	}
}

// aValueFlag finds a flag that takes a value in the list of a help: one blank is before the word for the value.
var aValueFlag = regexp.MustCompile(`(?m)^ +(?:-., )?--([a-z-]+) \S`)

// valueFlags are the flags of a command that take a value.
func valueFlags(cmd *cobra.Command) []string {
	var names []string
	for _, found := range aValueFlag.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		names = append(names, found[1])
	}
	return names
}
