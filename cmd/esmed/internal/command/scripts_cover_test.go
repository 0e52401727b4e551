package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// scriptedRun is one line of a script that runs the program.
type scriptedRun struct {
	cmd   *cobra.Command
	fails bool // it is to
	args  []string
}

// scriptedRuns are those of all scripts.
func scriptedRuns(t *testing.T, root *cobra.Command) (runs []scriptedRun) {
	files, err := filepath.Glob("../../../../testdata/scripts/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(txtar.Parse(data).Comment)) {
			words := scriptWords(line)
			fails := len(words) > 0 && words[0] == "!"
			if fails {
				words = words[1:]
			}
			if len(words) == 4 && words[1] == "sh" && words[2] == "-c" && !strings.ContainsAny(words[3], ";|") {
				words = append(words[:1], strings.Fields(words[3])...)
			}
			if len(words) < 2 || words[0] != "exec" || words[1] != "esmed" {
				continue
			}
			cmd, args, err := root.Find(words[2:])
			if err != nil {
				require.True(t, fails, "%s: %s", file, line)
				continue
			}
			runs = append(runs, scriptedRun{cmd, fails, args})
		}
	}
	return runs
}

// scriptWords are those of a script's line, as testscript reads it: quotes hold one together.
func scriptWords(line string) (words []string) {
	var word strings.Builder
	quoted, some := false, false
	end := func() {
		if some {
			words = append(words, word.String())
		}
		word.Reset()
		some = false
	}
	for _, r := range strings.TrimSpace(line) {
		switch {
		case r == '\'':
			quoted, some = !quoted, true
		case r == '#' && !quoted && !some:
			return words
		case (r == ' ' || r == '\t') && !quoted:
			end()
		default:
			word.WriteRune(r)
			some = true
		}
	}
	end()
	return words
}

// groups are the commands that do nothing without a subcommand.
var groups = map[string]bool{"esmed": true, "esmed completion": true, "esmed config": true, "esmed store": true}

// textOnly are the commands that print no data.
var textOnly = map[string]bool{
	"esmed completion bash": true, "esmed completion fish": true, "esmed completion powershell": true, "esmed completion zsh": true,
	"esmed config example": true, "esmed help": true, "esmed man": true, "esmed run": true,
}

// Every command is run by a script that it succeeds in and by one that it fails in, and prints JSON in one where it
// prints data.
func TestCommands_areRunByScripts(t *testing.T) {
	root := newRoot(Streams{})
	root.InitDefaultHelpCmd()
	runs := scriptedRuns(t, root)
	var missing []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		if !cmd.Runnable() || cmd.Hidden {
			return
		}
		path := cmd.CommandPath()
		var works, fails, json bool
		for _, r := range runs {
			if r.cmd != cmd {
				continue
			}
			args := strings.Join(r.args, " ")
			works, fails = works || !r.fails, fails || r.fails
			json = json || !r.fails && (strings.Contains(args, "-o json") || strings.Contains(args, "-o ndjson"))
		}
		if !works && !groups[path] {
			missing = append(missing, path+" works in no script")
		}
		if !fails {
			missing = append(missing, path+" fails in no script")
		}
		if !json && !groups[path] && !textOnly[path] {
			missing = append(missing, path+" prints JSON in no script")
		}
	}
	walk(root)
	require.Empty(t, strings.Join(missing, "\n"))
}
