package daemon

import (
	"fmt"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/journal"
	"go.uber.org/zap/zapcore"
)

// journalSend is journal.Send: it gives an entry to journald.
type journalSend func(message string, p journal.Priority, fields map[string]string) error

// journalCore writes to journald in its own protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). MESSAGE is the line
// as elsewhere, without time and level; beside it each fact is a field that journalctl finds by and prints:
// smsc is ESMED_SMSC. The prefix keeps them apart from those that journald gives a meaning, as MESSAGE_ID.
type journalCore struct {
	zapcore.LevelEnabler
	message   zapcore.Encoder
	fields    []zapcore.Field // of With
	send      journalSend
	otherwise zapcore.Core // takes what journald does not
}

// With implements zapcore.Core.
func (c journalCore) With(fields []zapcore.Field) zapcore.Core {
	c.message = c.message.Clone()
	for i := range fields {
		fields[i].AddTo(c.message)
	}
	c.fields = append(c.fields[:len(c.fields):len(c.fields)], fields...)
	c.otherwise = c.otherwise.With(fields)
	return c
}

// Check implements zapcore.Core.
func (c journalCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

// Write implements zapcore.Core.
func (c journalCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	line, err := c.message.EncodeEntry(e, fields)
	if err != nil {
		return err
	}
	message := strings.TrimSuffix(line.String(), zapcore.DefaultLineEnding)
	line.Free()
	if c.send(message, priority(e.Level), c.journalFields(e, fields)) == nil {
		return nil
	}
	return c.otherwise.Write(e, fields)
}

// Sync implements zapcore.Core: journald has each entry when it is sent.
func (c journalCore) Sync() error { return nil }

func (c journalCore) journalFields(e zapcore.Entry, fields []zapcore.Field) map[string]string {
	facts := zapcore.NewMapObjectEncoder()
	for _, all := range [][]zapcore.Field{c.fields, fields} {
		for i := range all {
			all[i].AddTo(facts)
		}
	}
	out := map[string]string{"SYSLOG_IDENTIFIER": "esmed", "ESMED_MSG": e.Message}
	for name, v := range facts.Fields {
		out[journalName(name)] = journalValue(v)
	}
	return out
}

// journalName is a fact's name as journald allows it: capitals, digits and underscores.
func journalName(name string) string {
	return "ESMED_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
}

func journalValue(v any) string {
	if at, ok := v.(time.Time); ok {
		return at.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}
