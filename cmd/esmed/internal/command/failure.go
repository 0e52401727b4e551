package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"strings"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/store"

	"github.com/spf13/cobra"
)

// failure is an error as it is told to a person.
type failure struct {
	text string
	more []string // further lines, one a finding
	hint string   // what to do next
	code int      // exit status; 0 = exitFailed
	err  error    // what caused it; may be nil
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.err }

// usage is an error of whoever wrote the command line.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return &failure{text: fmt.Sprintf(format, args...), hint: cmd.CommandPath() + " --help says how it is used", code: exitUsage}
}

// badFlag is usage for what cobra says of a flag. Numbers are said to be wanted in our words, not in strconv's.
func badFlag(cmd *cobra.Command, err error) error {
	text := err.Error()
	if number := new(strconv.NumError); errors.As(err, &number) {
		text = strings.Replace(text, number.Error(), "want a number", 1)
	}
	return usage(cmd, "%s", text)
}

// silent ends the program with a status after everything was said already.
type silent struct{ code int }

func (s silent) Error() string { return fmt.Sprintf("exit status %d", s.code) }

// report tells what went wrong and gives the exit status.
func report(w io.Writer, cmd *cobra.Command, err error) int {
	var s silent
	if errors.As(err, &s) {
		return s.code
	}
	if interrupted(cmd.Context(), err) {
		err = &failure{text: "interrupted"}
	}
	f := asFailure(err)
	fmt.Fprintf(w, "esmed: error: %s\n", clean(f.text))
	for _, line := range f.more {
		fmt.Fprintf(w, "  %s\n", clean(line))
	}
	if f.hint != "" {
		fmt.Fprintf(w, "esmed: hint: %s\n", clean(f.hint))
	}
	if f.code == 0 {
		return exitFailed
	}
	return f.code
}

// asFailure finds words for errors of the packages below.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	var problem *control.ProblemError
	if errors.As(err, &problem) {
		return refused(problem)
	}
	var damaged *store.DamagedError
	if errors.As(err, &damaged) {
		return &failure{text: err.Error(), hint: "keep a copy of the data directory before anything else is done to it; " + seeGuarantees}
	}
	for _, known := range []struct {
		err        error
		text, hint string
	}{
		{control.ErrNoDaemon, noDaemon(err), "start it with esmed run --config FILE, or name its socket with --socket or ESMED_SOCKET"},
		{control.ErrLost, control.ErrLost.Error(), "see whether it still runs (esmed binds), then try again: with a ref, what was accepted is recognised"},
		{store.ErrLocked, "the data directory is in use by a daemon that does not listen on this socket", "name the daemon's socket with --socket or ESMED_SOCKET"},
		{store.ErrNewerFormat, err.Error(), "use the esmed that wrote it, or a newer one"},
		{store.ErrCutShort, err.Error(), "start the daemon, which sets that commit aside: nobody was answered for it"},
		{store.ErrPartialBackup, err.Error(), "delete it, and make another one: esmed backup DIR"},
		{store.ErrDiskFull, err.Error(), "free space there, then try again: nothing was changed"},
		{control.ErrInUse, err.Error(), "stop that process first, or give this one an api.socket of its own"},
		{control.ErrNoSocket, err.Error(), "move it away, or name another api.socket"},
		{fs.ErrNotExist, err.Error(), "make what is missing, or name another place"},
		{fs.ErrPermission, err.Error(), "become a user, or join a group, that may use it: the daemon's socket is open to its group"},
	} {
		if errors.Is(err, known.err) {
			return &failure{text: known.text, hint: known.hint}
		}
	}
	return &failure{text: err.Error(), hint: "esmed help lists the topics that explain more"}
}

// noDaemon says where none runs, as far as the error tells.
func noDaemon(err error) string {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Addr != nil {
		return "no daemon runs on " + dial.Addr.String()
	}
	return "no daemon runs there"
}

const seeGuarantees = "esmed help guarantees says what to expect of it"

// queryPath begins the paths of problems with a query's parameters.
const queryPath = "query."

// refused tells what the API answered.
func refused(p *control.ProblemError) *failure {
	if f := badFlags(p); f != nil {
		return f
	}
	f := &failure{text: p.Detail, hint: p.Hint, err: p}
	if f.text == "" {
		f.text = strings.ToLower(p.Title)
	}
	for _, e := range p.Errors {
		f.more = append(f.more, e.String())
	}
	switch {
	case p.Status == http.StatusNotFound:
		f.hint = "esmed list shows messages; esmed status --ref, --message-id and --to find one"
	case len(p.Errors) > 0:
		f.hint = "correct what is listed and try again"
	case f.hint != "":
	case p.RetryAfter > 0:
		f.hint = "try again in " + p.RetryAfter.String()
	default:
		f.hint = "the daemon's log says more"
	}
	return f
}

// badFlags tells of a query that is not valid, whose parameters are flags here; nil when p is no such thing.
func badFlags(p *control.ProblemError) *failure {
	f := &failure{text: "a flag has a value that is not taken", hint: "correct it; --help says what the flag takes", code: exitUsage, err: p}
	for _, e := range p.Errors {
		name, ok := strings.CutPrefix(e.Path, queryPath)
		if !ok {
			return nil
		}
		e.Path = "--" + strings.ReplaceAll(name, "_", "-")
		f.more = append(f.more, e.String())
	}
	if len(p.Errors) == 0 {
		return nil
	}
	return f
}

// badConfig tells what is wrong with a configuration.
func badConfig(path string, err error) error {
	f := &failure{text: "the configuration cannot be used", code: exitUsage, err: err,
		hint: "correct it and run: esmed config check --config FILE; esmed config example prints a complete file"}
	if path != "" {
		f.text = "the configuration " + path + " cannot be used"
	}
	problems := configProblems(err)
	if len(problems) == 0 {
		f.text = err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.hint = "name the file that the daemon is started with; esmed config example > esmed.yaml makes one to begin with"
	case errors.Is(err, fs.ErrPermission):
		f.hint = "become a user, or join a group, that may read it"
	}
	for _, p := range problems {
		f.more = append(f.more, p.Error())
	}
	return f
}

// configProblems takes a joined error of package config apart; none when it is of another kind.
func configProblems(err error) []*config.Problem {
	var one *config.Problem
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*config.Problem
		for _, e := range joined.Unwrap() {
			all = append(all, configProblems(e)...)
		}
		return all
	}
	if errors.As(err, &one) {
		return []*config.Problem{one}
	}
	return nil
}

// isNotFound reports whether the API answered that there is no such thing.
func isNotFound(err error) bool {
	var p *control.ProblemError
	return errors.As(err, &p) && p.Status == http.StatusNotFound
}
