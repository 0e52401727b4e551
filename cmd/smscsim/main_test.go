package main

import (
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"smscsim": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"addr": setAddr,
	}})
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
