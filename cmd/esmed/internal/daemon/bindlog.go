package daemon

import (
	"errors"
	"fmt"
	"time"

	"esmed/smpp"
)

const (
	// failureAgain is after what time a failure to bind that is on record is recorded again, if it lasts.
	failureAgain = time.Hour
	// maxFailures is how many different failures have a record of their own within that time. An SMSC can
	// answer a bind with any number.
	maxFailures = 16
)

// bindLog makes few records of many attempts to bind that fail: an SMSC that is away for a week, or changes its
// mind from attempt to attempt, must not fill the log. Each failure is recorded when it comes first since
// the session was bound, and once in failureAgain while it lasts; the others are counted, and the next
// record has their number. A session that was bound is always recorded, and so is its end.
type bindLog struct {
	recorded map[string]time.Time // when each failure was last, since the session was bound
	failed   int                  // attempts since then
	since    time.Time            // the first of them
}

// take takes an event, and says whether it is recorded and what the record adds to it.
func (l *bindLog) take(e *smpp.Event) (record bool, besides string) {
	switch e.Kind {
	case smpp.EventFailed, smpp.EventBindRefused:
		return l.failure(e)
	case smpp.EventBound:
		if l.failed > 0 {
			besides = fmt.Sprintf("after %d failed since %s", l.failed, l.since.UTC().Format(time.RFC3339))
		}
		*l = bindLog{}
	}
	return true, besides
}

func (l *bindLog) failure(e *smpp.Event) (record bool, besides string) {
	if l.failed == 0 {
		l.recorded, l.since = map[string]time.Time{}, e.At
	}
	l.failed++
	for what, at := range l.recorded {
		if e.At.Sub(at) >= failureAgain {
			delete(l.recorded, what)
		}
	}
	what := e.Kind.String() + " " + e.Status.String() + " " + e.Reason + " " + innermost(e.Err)
	if _, known := l.recorded[what]; known || len(l.recorded) == maxFailures {
		return false, ""
	}
	l.recorded[what] = e.At
	if l.failed > 1 {
		besides = fmt.Sprintf("attempt %d since %s", l.failed, l.since.UTC().Format(time.RFC3339))
	}
	return true, besides
}

// innermost is what an error comes down to, without the addresses and ports that change from attempt to attempt.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			if all := several.Unwrap(); len(all) > 0 {
				next = all[len(all)-1]
			}
		}
		if next == nil {
			break
		}
		err = next
	}
	if err == nil {
		return ""
	}
	return err.Error()
}
