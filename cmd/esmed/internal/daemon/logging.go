package daemon

import (
	"fmt"
	"io"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

// newLogger makes the daemon's log: format json or console, level as zap names them. Nothing is ever
// sampled away. With journal set, each line begins with its syslog priority (sd-daemon(3)) and carries
// no time, since journald adds its own.
func newLogger(w io.Writer, level, format string, journal bool) (*zap.Logger, error) {
	lvl, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, fmt.Errorf("log.level: %w", err)
	}
	cfg := zapcore.EncoderConfig{
		TimeKey:        "time",
		LevelKey:       "level",
		MessageKey:     "msg",
		EncodeTime:     zapcore.RFC3339NanoTimeEncoder,
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder,
	}
	if journal {
		cfg.TimeKey = zapcore.OmitKey
	}
	var enc zapcore.Encoder
	switch format {
	case "json":
		enc = zapcore.NewJSONEncoder(cfg)
	case "console":
		enc = zapcore.NewConsoleEncoder(cfg)
	default:
		return nil, fmt.Errorf("log.format: json or console (got %q)", format)
	}
	if journal {
		enc = priorityEncoder{enc, buffer.NewPool()}
	}
	return zap.New(zapcore.NewCore(enc, zapcore.Lock(zapcore.AddSync(w)), lvl)), nil
}

// priorityEncoder puts <N> in front of each line, where journald reads the priority from.
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

func priority(l zapcore.Level) int {
	switch {
	case l >= zapcore.ErrorLevel:
		return 3
	case l == zapcore.WarnLevel:
		return 4
	case l == zapcore.InfoLevel:
		return 6
	}
	return 7
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
