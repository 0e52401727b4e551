package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"esmed/cmd/esmed/docs"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// example is a command line and what it prints.
var example = regexp.MustCompile("(?ms)^```console\n\\$ esmed ([^\n]*)\n(.*?)^```$")

// What the documentation shows as printed is what is printed.
func TestDocs_examplesPrintWhatTheyShow(t *testing.T) {
	config := filepath.Join(t.TempDir(), "esmed.yaml")
	require.NoError(t, os.WriteFile(config, []byte(`smscs:
  - {name: alpha, addr: ["127.0.0.1:2775"], system_id: esme, rules: {message_id: {text: [hex_to_dec]}, errors: {"027": absent_subscriber}}}
`), 0o600))
	seen := 0
	for _, topic := range docs.Topics() {
		text, _ := docs.Text(topic.Name)
		for _, shown := range example.FindAllStringSubmatch(text, -1) {
			seen++
			before, argument, quoted := strings.Cut(shown[1], ` "`)
			args := strings.Fields(strings.Replace(before, "esmed.yaml", config, 1))
			if quoted {
				args = append(args, strings.TrimSuffix(argument, `"`))
			}
			var out, errs bytes.Buffer
			require.Equal(t, exitDone, Main(args, Streams{Out: &out, Err: &errs}), "%s: %s\n%s", topic.Name, shown[1], &errs)
			require.Equal(t, shown[2], out.String(), "%s: %s", topic.Name, shown[1])
		}
	}
	require.GreaterOrEqual(t, seen, 5)
}

// fromBuild finds what the README has people type, after make build.
var fromBuild = regexp.MustCompile(`(?m)^bin/esmed ([a-z][^|>&#\n]*)`)

func TestReadme_speaksOfCommandsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../../../README.md")
	require.NoError(t, err)
	root := newRoot(Streams{})
	root.InitDefaultHelpCmd()
	typed := fromBuild.FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(typed), 10)
	for _, line := range typed {
		cmd, rest, err := root.Find(strings.Fields(line[1]))
		require.NoError(t, err, line[0])
		require.NotSame(t, root, cmd, line[0])
		for _, f := range aFlag.FindAllStringSubmatch(strings.Join(rest, " "), -1) {
			require.True(t, hasFlag(cmd, f[1]), "%s has no flag %s", line[0], f[1])
		}
	}
}

// A command that does something has a row in the table of commands.
func TestDocs_haveEveryCommand(t *testing.T) {
	text, _ := docs.Text("commands")
	var table strings.Builder
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			table.WriteString(cells[1])
		}
	}
	root := newRoot(Streams{})
	root.InitDefaultHelpCmd()
	seen := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "completion" {
			return // cobra's: a command for each shell
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
		if cmd.HasSubCommands() || cmd.Hidden {
			return
		}
		seen++
		path := regexp.QuoteMeta(strings.TrimPrefix(cmd.CommandPath(), "esmed "))
		require.Regexp(t, "`"+path+"(`| [A-Z])", table.String(), cmd.CommandPath())
	}
	walk(root)
	require.Greater(t, seen, 30)
}
