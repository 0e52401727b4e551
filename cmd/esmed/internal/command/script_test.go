package command_test

import (
	"fmt"
	"os"
	"testing"

	"esmed/cmd/esmed/internal/command"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"esmed": func() {
			os.Exit(command.Main(os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

// leakChecked fails the tests when one of them leaves a goroutine behind.
type leakChecked struct{ *testing.M }

func (m leakChecked) Run() int {
	code := m.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
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
		Condition:           scriptCondition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// scriptCondition knows [tools]: whether all programs are there that a test may need, so that one which is missing is a
// failure. [bash-completion] is the library that bash's completions are written for.
func scriptCondition(name string) (bool, error) {
	switch name {
	case "tools":
		return os.Getenv("CI_TOOLS") == "1", nil
	case "bash-completion":
		_, err := os.Stat("/usr/share/bash-completion/bash_completion")
		return err == nil, nil
	}
	return false, fmt.Errorf("no such condition: %s", name)
}
