// Package command is esmed's command line: one file a command, flags in, text or JSON out.
//
// Commands work through the HTTP API over the daemon's Unix socket. Commands that only read open the
// data directory read-only when no daemon runs, behind the same API in this process, and say so on
// stderr. So what is printed, by people's tables and by -o json alike, has one source.
//
// What a caller of the program can rely on:
//
//   - stdout has the answer and nothing else; notes, progress and errors go to stderr;
//   - -o json prints the API's objects, -o ndjson the rows of a list one a line;
//   - exit status 0 is done, 1 failed or not found, 2 wrong usage or configuration;
//   - an error is two lines: "esmed: error: …", what is wrong, and "esmed: hint: …", what to do next;
//   - nothing that came from a peer reaches a terminal with its control characters.
package command
