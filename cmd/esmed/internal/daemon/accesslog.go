package daemon

import (
	"fmt"
	"os"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"esmed/receipt"
	"esmed/statemachine"
)

// accessLog writes a JSON line a submit, receipt and mobile-originated message (log.access): no texts,
// numbers masked. A nil accessLog writes nothing.
type accessLog struct {
	log  *zap.Logger
	file *reopenable
}

// openAccessLog appends to the file at path, or makes it. path "" is no access log.
func openAccessLog(path string) (*accessLog, error) {
	if path == "" {
		return nil, nil
	}
	file := &reopenable{path: path}
	if err := file.reopen(); err != nil {
		return nil, fmt.Errorf("log.access: %w", err)
	}
	enc := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey: "time", MessageKey: "event",
		EncodeTime: zapcore.RFC3339NanoTimeEncoder, EncodeDuration: zapcore.SecondsDurationEncoder,
	})
	return &accessLog{log: zap.New(zapcore.NewCore(enc, file, zapcore.InfoLevel)), file: file}, nil
}

// submit writes the line of an attempt that has ended: with a command_status, or with what there was
// instead of an answer.
func (l *accessLog) submit(smsc string, one answer, messageID, outcome string) {
	if l == nil {
		return
	}
	l.log.Info("submit",
		zap.String("smsc", smsc), zap.String("session", one.Session), zap.String("id", string(one.ref.Message)),
		zap.Int("part", one.ref.Part), zap.Int("attempt", one.ref.Attempt), zap.String("dest", maskNumber(one.dest)),
		zap.String("outcome", outcome), zap.String("message_id", messageID), zap.Duration("elapsed", one.RoundTrip))
}

// accessLine is a line that is still to be written.
type accessLine struct {
	event  string
	fields []zap.Field
}

// receptionLine is the line of a reception and what was decided about it.
func receptionLine(seq uint64, r *statemachine.Reception, reading *receipt.Receipt, decisions []statemachine.Decision) accessLine {
	fields := []zap.Field{
		zap.String("smsc", r.SMSC), zap.String("session", r.Session), zap.Uint64("seq", seq),
		zap.String("source", maskNumber(reading.Source.Addr)), zap.String("dest", maskNumber(reading.Dest.Addr)),
	}
	if reading.Kind == receipt.Message {
		return accessLine{"mo", fields}
	}
	fields = append(fields, zap.String("kind", reading.Kind.String()), zap.String("message_id", reading.ID), zap.String("state", reading.State.String()))
	for i := range decisions {
		if d := &decisions[i]; d.Record == seq {
			fields = append(fields, zap.String("id", string(d.Message)), zap.String("verdict", string(d.Verdict)),
				zap.String("from", d.From.String()), zap.String("to", d.To.String()))
			break
		}
	}
	return accessLine{"receipt", fields}
}

func (l *accessLog) write(lines []accessLine) {
	for i := range lines {
		l.log.Info(lines[i].event, lines[i].fields...)
	}
}

// reopen takes the file anew by its name, which logrotate may have given to another.
func (l *accessLog) reopen() error {
	if l == nil {
		return nil
	}
	return l.file.reopen()
}

func (l *accessLog) close() error {
	if l == nil {
		return nil
	}
	return l.file.close()
}

// reopenable is a file that can be opened again under the hands of its writers.
type reopenable struct {
	path string
	mu   sync.Mutex
	file *os.File
}

func (r *reopenable) reopen() error {
	file, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.file
	r.file = file
	if old != nil {
		return old.Close()
	}
	return nil
}

// Write implements zapcore.WriteSyncer.
func (r *reopenable) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Write(line)
}

// Sync implements zapcore.WriteSyncer.
func (r *reopenable) Sync() error { return nil }

func (r *reopenable) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Close()
}
