package command_test

import (
	"os"
	"testing"

	"esmed/cmd/esmed/internal/command"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"esmed": func() {
			os.Exit(command.Main(os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "../../../../testdata/scripts",
		Setup: func(env *testscript.Env) error {
			// A program under the race detector waits a second before it ends, unless told not to.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("ESMED_SOCKET", env.WorkDir+"/esmed.sock")
			env.Setenv("ESMED_DATA_DIR", env.WorkDir+"/data")
			env.Values[valuesKey{}] = map[any]any{}
			return nil
		},
		Cmds:                scriptCommands(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
