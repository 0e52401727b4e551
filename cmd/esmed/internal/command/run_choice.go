package command

import (
	"fmt"
	"time"
)

// runWish is what the command line says of a file that was sent before.
type runWish struct {
	again  bool // all rows once more
	resume bool // what was accepted of the last run is not sent again, though the file has changed
}

// choose says under which run a file goes out: next itself, or the last one, taken up again. A file that was sent
// before goes out again only when that cannot double or drop a row without being asked for.
func (w runWish) choose(last *run, next run) (chosen run, err error) {
	if last == nil {
		if w.resume {
			return run{}, &failure{text: "this file was not sent before: there is nothing to resume", hint: "leave --resume out"}
		}
		return next, nil
	}
	same := last.SHA256 == next.SHA256
	here := last.Owner == next.Owner && last.Socket == next.Socket
	switch {
	case w.again && (last.finished() || !same || !here):
		return next, nil
	case !here:
		return run{}, last.elsewhere(next)
	case w.resume, same && !last.finished():
		taken := *last
		taken.SHA256, taken.FinishedAt, taken.Refused = next.SHA256, time.Time{}, 0
		return taken, nil
	}
	return run{}, last.inTheWay(same)
}

// elsewhere refuses a run whose rows this user's daemon cannot recognise.
func (r *run) elsewhere(next run) error {
	f := &failure{hint: "resume it there; --again sends all rows once more"}
	if r.Socket != next.Socket {
		f.text = "the last run of this file went to the daemon on " + r.Socket
	} else {
		f.text = fmt.Sprintf("the last run of this file was user %d's, whose rows are not known by yours", r.Owner)
	}
	return f
}

// inTheWay refuses what might double or drop rows, and says how to have it either way.
func (r *run) inTheWay(same bool) error {
	const choice = "--resume sends what is new, and what reads as before in its place is not sent again; --again sends all rows"
	began := r.BegunAt.Format(time.RFC3339)
	switch {
	case !r.finished():
		return &failure{text: "the file has changed since its run of " + began + " was interrupted", hint: choice}
	case !same:
		return &failure{text: "a file of this name was sent on " + began + ", and has changed since", hint: choice}
	case r.Refused > 0:
		return &failure{
			text: fmt.Sprintf("this file was sent on %s, and %s refused", began, plural(r.Refused, "row")),
			hint: "send the file of its rejected rows, corrected; --again sends all rows once more",
		}
	}
	return &failure{text: "this file was sent on " + began, hint: "--again sends all rows once more"}
}
