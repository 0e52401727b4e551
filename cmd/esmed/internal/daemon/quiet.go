package daemon

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	// quietFor is how long lines of a kind are counted, and quietAfter how many of them are written in that time.
	quietFor   = 10 * time.Second
	quietAfter = 5
	// quietKinds is how many kinds are told apart; what comes beyond is told apart by its message only.
	quietKinds = 1000
)

// repeats says of lines of the same kind which are written: the first quietAfter within quietFor. The first one
// after that says how many there were. None is lost from the count.
type repeats struct {
	began      time.Time // of the time that is counted in; zero: there was no line yet
	written    int       // in that time
	suppressed int       // in that time
}

// see takes a line, and reports whether it is written, and how many were suppressed before it.
func (r *repeats) see(now time.Time) (write bool, suppressed int) {
	switch {
	case r.began.IsZero() || now.Sub(r.began) >= quietFor:
		suppressed = r.suppressed
		*r = repeats{began: now, written: 1}
		return true, suppressed
	case r.written < quietAfter:
		r.written++
		return true, 0
	}
	r.suppressed++
	return false, 0
}

// quiet writes a log in which like lines are written a few times and then counted (see repeats): a peer, or a disk that
// is full, can make the daemon repeat itself without end. Lines are of a kind when they have level and message in common,
// and what tells who and why: not the message they are about, which the store knows, and always the error.
// Debug lines are all written.
type quiet struct {
	mu    sync.Mutex
	kinds map[quietKind]*quietLine
}

type quietKind struct {
	level       zapcore.Level
	message, of string
}

// quietLine is the newest line of a kind, and where it is written to.
type quietLine struct {
	repeats
	core   zapcore.Core
	entry  zapcore.Entry
	fields []zapcore.Field
}

// over makes a logger's lines quiet.
func (q *quiet) over(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core { return quietCore{Core: c, quiet: q} }))
}

// write writes or counts a line.
func (q *quiet) write(core zapcore.Core, of string, entry zapcore.Entry, fields []zapcore.Field) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	line := q.line(quietKind{entry.Level, entry.Message, of})
	write, suppressed := line.see(entry.Time)
	line.core, line.entry, line.fields = core, entry, fields
	if !write {
		return nil
	}
	return line.write(suppressed)
}

// line is that of a kind. The caller holds the lock.
func (q *quiet) line(kind quietKind) *quietLine {
	if q.kinds == nil {
		q.kinds = map[quietKind]*quietLine{}
	}
	if q.kinds[kind] == nil && len(q.kinds) >= quietKinds {
		kind.of = ""
	}
	if q.kinds[kind] == nil {
		q.kinds[kind] = &quietLine{}
	}
	return q.kinds[kind]
}

// flush writes what is only counted so far of kinds whose time of quietFor is over, and forgets these.
func (q *quiet) flush(now time.Time) {
	q.end(func(l *quietLine) bool { return now.Sub(l.began) >= quietFor })
}

// close writes all that is only counted so far.
func (q *quiet) close() { q.end(func(*quietLine) bool { return true }) }

func (q *quiet) end(over func(*quietLine) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for kind, line := range q.kinds {
		if !over(line) {
			continue
		}
		if line.suppressed > 0 {
			_ = line.write(line.suppressed - 1) // nobody is left to tell that the log cannot be written
		}
		delete(q.kinds, kind)
	}
}

// write writes the newest line, and how many like it were not.
func (l *quietLine) write(suppressed int) error {
	fields := l.fields
	if suppressed > 0 {
		fields = append(slices.Clip(fields), zap.Int("suppressed", suppressed))
	}
	return l.core.Write(l.entry, fields)
}

// quietCore is the zapcore.Core of a quiet log.
type quietCore struct {
	zapcore.Core
	quiet *quiet
	of    string // what the fields of With tell of a line's kind
}

// With implements zapcore.Core.
func (c quietCore) With(fields []zapcore.Field) zapcore.Core {
	return quietCore{c.Core.With(fields), c.quiet, c.of + kindOf(fields)}
}

// Check implements zapcore.Core.
func (c quietCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

// Write implements zapcore.Core.
func (c quietCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	if e.Level < zapcore.InfoLevel {
		return c.Core.Write(e, fields)
	}
	return c.quiet.write(c.Core, c.of+kindOf(fields), e, fields)
}

// kindOf is what fields tell of the kind of a line.
func kindOf(fields []zapcore.Field) (of string) {
	for i := range fields {
		switch f := &fields[i]; f.Key {
		case "smsc", "session", "component", "operation", "action", "event", "alert", "key", "addr",
			"command_id", "command_status", "outcome", "correlation", "reason", "error":
			of += "|" + fieldText(f)
		}
	}
	return of
}

// fieldText is a field's value; of an error what it comes down to.
func fieldText(f *zapcore.Field) string {
	switch v := f.Interface.(type) {
	case error:
		return innermost(v)
	case fmt.Stringer:
		return v.String()
	}
	if f.String != "" {
		return f.String
	}
	return strconv.FormatInt(f.Integer, 10)
}
