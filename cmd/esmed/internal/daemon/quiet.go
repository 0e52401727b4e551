package daemon

import (
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// quietFor is how long further lines of a kind are only counted after one was written.
const quietFor = 10 * time.Second

// repeats says of lines of the same kind which are written: the first, then one every quietFor that says
// how many there were. None is lost from the count.
type repeats struct {
	written time.Time // when the last was written; zero: never
	count   int       // of those since
}

// see takes a line, and reports whether it is written, and for how many it stands besides itself.
func (r *repeats) see(now time.Time) (write bool, besides int) {
	if !r.written.IsZero() && now.Sub(r.written) < quietFor {
		r.count++
		return false, 0
	}
	besides = r.count
	*r = repeats{written: now}
	return true, besides
}

// quieted reports whether a peer can make the daemon write that line as often as it likes.
func quieted(message string) bool {
	switch message {
	case "response to nothing outstanding", "body of a response is broken", "receipt held",
		"reception not stored", "session event not recorded":
		return true
	}
	return false
}

// quiet writes a log in which lines that a peer can repeat at will are only counted (see repeats).
type quiet struct {
	mu    sync.Mutex
	kinds map[quietKind]*quietLine
}

type quietKind struct{ smsc, message string }

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
func (q *quiet) write(core zapcore.Core, smsc string, entry zapcore.Entry, fields []zapcore.Field) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	kind := quietKind{smsc, entry.Message}
	if q.kinds == nil {
		q.kinds = map[quietKind]*quietLine{}
	}
	line := q.kinds[kind]
	if line == nil {
		line = &quietLine{}
		q.kinds[kind] = line
	}
	write, besides := line.see(entry.Time)
	line.core, line.entry, line.fields = core, entry, fields
	if !write {
		return nil
	}
	return line.write(besides)
}

// flush writes what is only counted so far, if the last line of its kind was written longer ago than that.
func (q *quiet) flush(now time.Time, longer time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, line := range q.kinds {
		if line.count > 0 && now.Sub(line.written) >= longer {
			besides := line.count - 1
			line.repeats = repeats{written: now}
			_ = line.write(besides) // nobody is left to tell that the log cannot be written
		}
	}
}

// write writes the newest line, which stands for so many besides.
func (l *quietLine) write(besides int) error {
	fields := l.fields
	if besides > 0 {
		fields = append(slices.Clip(fields), zap.Int("besides", besides))
	}
	return l.core.Write(l.entry, fields)
}

// quietCore is the zapcore.Core of a quiet log.
type quietCore struct {
	zapcore.Core
	quiet *quiet
	smsc  string
}

// With implements zapcore.Core.
func (c quietCore) With(fields []zapcore.Field) zapcore.Core {
	return quietCore{c.Core.With(fields), c.quiet, smscOf(fields, c.smsc)}
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
	if !quieted(e.Message) {
		return c.Core.Write(e, fields)
	}
	return c.quiet.write(c.Core, smscOf(fields, c.smsc), e, fields)
}

func smscOf(fields []zapcore.Field, otherwise string) string {
	for i := range fields {
		if fields[i].Key == "smsc" {
			return fields[i].String
		}
	}
	return otherwise
}
