package command

import (
	"regexp"
	"strings"
	"testing"

	"esmed/cmd/esmed/docs"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

var (
	indented = regexp.MustCompile("(?m)^    esmed (.*)$")
	quoted   = regexp.MustCompile("`esmed ([^`]*)`")
	aFlag    = regexp.MustCompile("(?:^| )--?([a-z][a-z-]*)")
)

// What the documentation tells people to type is what the program takes.
func TestDocs_speakOfCommandsThatExist(t *testing.T) {
	root := newRoot(Streams{})
	root.InitDefaultHelpCmd()
	seen := 0
	for _, topic := range docs.Topics() {
		text, _ := docs.Text(topic.Name)
		for _, line := range append(indented.FindAllStringSubmatch(text, -1), quoted.FindAllStringSubmatch(text, -1)...) {
			typed := line[1]
			if strings.HasPrefix(typed, "COMMAND") || strings.HasPrefix(typed, "hint:") || strings.HasPrefix(typed, "error:") {
				continue
			}
			seen++
			cmd, _, err := root.Find(strings.Fields(typed))
			require.NoError(t, err, "%s: esmed %s", topic.Name, typed)
			require.NotEqual(t, root, cmd, "%s: esmed %s", topic.Name, typed)
			for _, f := range aFlag.FindAllStringSubmatch(typed, -1) {
				require.True(t, hasFlag(cmd, f[1]), "%s: esmed %s has no flag %s", topic.Name, typed, f[1])
			}
		}
	}
	require.Greater(t, seen, 20)
}

func hasFlag(cmd *cobra.Command, name string) bool {
	if len(name) == 1 {
		return cmd.Flags().ShorthandLookup(name) != nil
	}
	return cmd.Flags().Lookup(name) != nil
}

// What the help shows is what the program takes; a line of a shell may hold more than one command.
func TestCommands_haveExamplesThatWork(t *testing.T) {
	root := newRoot(Streams{})
	root.InitDefaultHelpCmd()
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd != root && !strings.HasPrefix(cmd.CommandPath(), "esmed completion") { // which is cobra's, and explains at length
			require.Contains(t, cmd.Example, cmd.CommandPath(), cmd.CommandPath())
		}
		for _, found := range typedInExample.FindAllStringSubmatch(cmd.Example, -1) {
			named, rest, err := root.Find(strings.Fields(found[1]))
			require.NoError(t, err, found[0])
			require.NotSame(t, root, named, found[0])
			for _, f := range aFlag.FindAllStringSubmatch(strings.Join(rest, " "), -1) {
				require.True(t, hasFlag(named, f[1]), "%s has no flag %s: %s", named.CommandPath(), f[1], found[0])
			}
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
}

// typedInExample finds each run of esmed in an example, as far as it goes on its line.
var typedInExample = regexp.MustCompile(`(?:^|\s)esmed ([a-z][^|>&\n]*)`)

func TestCommands_explainThemselves(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.False(t, strings.HasSuffix(cmd.Short, "."), "%s: %s", cmd.CommandPath(), cmd.Short)
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot(Streams{}))
}
