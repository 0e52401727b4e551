package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"smscsim": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"addr": setAddr,
	}})
}

// Every command explains itself, shows an example, and is run by a script that it works in and by one that it does not.
func TestCommands_areCompleteAndRun(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(data)
	}
	for _, cmd := range append(rootCommand().Commands(), rootCommand()) {
		if cmd.Name() == "completion" { // which is cobra's, and explains at length
			continue
		}
		require.NotEmpty(t, cmd.Short)
		require.Contains(t, cmd.Example, cmd.CommandPath())
		require.Regexp(t, "(?m)^! "+cmd.CommandPath()+"( |$)", all.String(), "fails in no script")
		if cmd.Name() != "load" { // which needs an esmed: see the tests of lives
			require.Regexp(t, "(?m)^"+cmd.CommandPath()+" ", all.String(), "works in no script")
		}
	}
}

// setAddr waits for the file that serve --addr-file writes and puts its content into $ADDR.
func setAddr(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	for range time.Tick(10 * time.Millisecond) {
		if b, err := os.ReadFile(name); err == nil {
			ts.Setenv("ADDR", string(b[:len(b)-1]))
			return
		}
	}
}
