// Command esmed is an SMPP client daemon with receipt correlation, and the command line to ask it.
package main

import (
	"os"

	"esmed/cmd/esmed/internal/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
