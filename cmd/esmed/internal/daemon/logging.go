package daemon

import (
	"fmt"
	"io"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"
	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

// newLogger makes the daemon's log: format json or console, of lines that level lets through. Nothing is ever
// sampled away. With journal set it goes to journald in its own protocol, and only what that does not take
// goes to w, which is the journal too.
func newLogger(w io.Writer, level zapcore.LevelEnabler, format string, journal journalSend) (*zap.Logger, error) {
	cfg := zapcore.EncoderConfig{
		TimeKey:        "time",
		LevelKey:       "level",
		MessageKey:     "msg",
		EncodeTime:     zapcore.RFC3339NanoTimeEncoder,
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder,
	}
	encoder := zapcore.NewJSONEncoder
	switch format {
	case "json":
	case "console":
		encoder = zapcore.NewConsoleEncoder
	default:
		return nil, fmt.Errorf("log.format: json or console (got %q)", format)
	}
	out := zapcore.Lock(zapcore.AddSync(w))
	if journal == nil {
		return zap.New(zapcore.NewCore(encoder(cfg), out, level)), nil
	}
	cfg.TimeKey = zapcore.OmitKey // journald has its own
	lines := zapcore.NewCore(priorityEncoder{encoder(cfg), buffer.NewPool()}, out, level)
	cfg.LevelKey = zapcore.OmitKey // which is PRIORITY
	return zap.New(journalCore{LevelEnabler: level, message: encoder(cfg), send: journal, otherwise: lines}), nil
}

// priorityEncoder puts <N> in front of each line, where journald reads the priority from (sd-daemon(3)).
type priorityEncoder struct {
	zapcore.Encoder
	pool buffer.Pool
}

// Clone implements zapcore.Encoder.
func (e priorityEncoder) Clone() zapcore.Encoder { return priorityEncoder{e.Encoder.Clone(), e.pool} }

// EncodeEntry implements zapcore.Encoder.
func (e priorityEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line, err := e.Encoder.EncodeEntry(entry, fields)
	if err != nil {
		return nil, err
	}
	out := e.pool.Get()
	fmt.Fprintf(out, "<%d>", priority(entry.Level))
	_, _ = out.Write(line.Bytes())
	line.Free()
	return out, nil
}

// priority is a level as syslog counts it.
func priority(l zapcore.Level) journal.Priority {
	switch {
	case l >= zapcore.ErrorLevel:
		return journal.PriErr
	case l == zapcore.WarnLevel:
		return journal.PriWarning
	case l == zapcore.InfoLevel:
		return journal.PriInfo
	}
	return journal.PriDebug
}

// maskNumber hides the middle of a number, so that a log line can be told apart but nobody called. A
// sender of letters is no number and stays.
func maskNumber(addr string) string {
	const head, tail = 4, 2
	if strings.ContainsFunc(addr, func(r rune) bool { return (r < '0' || r > '9') && r != '+' }) {
		return addr
	}
	if len(addr) <= head+tail {
		return strings.Repeat("*", len(addr))
	}
	return addr[:head] + strings.Repeat("*", len(addr)-head-tail) + addr[len(addr)-tail:]
}
