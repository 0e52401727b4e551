package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func TestLogger_writesOneJSONObjectALine(t *testing.T) {
	var out bytes.Buffer
	log, err := newLogger(&out, zapcore.InfoLevel, "json", nil)
	require.NoError(t, err)
	log.Debug("hidden")
	log.Info("bound", zap.String("smsc", "alpha"))
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.Equal(t, "bound", line["msg"])
	require.Equal(t, "alpha", line["smsc"])
	require.Contains(t, line, "time")
}

// entry is what journald is given.
type entry struct {
	message  string
	priority journal.Priority
	fields   map[string]string
}

func TestLogger_givesJournaldFieldsOfItsOwn(t *testing.T) {
	for format, message := range map[string]string{
		"json":    `{"msg":"submit_sm refused","smsc":"alpha","message_id":"5A3C","part":2,"elapsed":"1.5s","at":"2026-11-30T12:00:00Z","temporary":true,"error":"no\nroom"}`,
		"console": "submit_sm refused\t" + `{"smsc": "alpha", "message_id": "5A3C", "part": 2, "elapsed": "1.5s", "at": "2026-11-30T12:00:00Z", "temporary": true, "error": "no\nroom"}`,
	} {
		var out bytes.Buffer
		var got []entry
		log, err := newLogger(&out, zapcore.InfoLevel, format, func(m string, p journal.Priority, f map[string]string) error {
			got = append(got, entry{m, p, f})
			return nil
		})
		require.NoError(t, err)
		log = log.With(zap.String("smsc", "alpha"))
		log.Debug("hidden")
		log.Warn("submit_sm refused", zap.String("message_id", "5A3C"), zap.Int("part", 2), zap.Duration("elapsed", 1500*time.Millisecond),
			zap.Time("at", time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)), zap.Bool("temporary", true), zap.Error(errors.New("no\nroom")))
		require.Equal(t, []entry{{message, journal.PriWarning, map[string]string{
			"SYSLOG_IDENTIFIER": "esmed", "ESMED_MSG": "submit_sm refused", "ESMED_SMSC": "alpha", "ESMED_MESSAGE_ID": "5A3C", "ESMED_PART": "2",
			"ESMED_ELAPSED": "1.5s", "ESMED_AT": "2026-11-30T12:00:00Z", "ESMED_TEMPORARY": "true", "ESMED_ERROR": "no\nroom",
		}}}, got, format)
		require.Empty(t, out.String())
	}
}

func TestLogger_prioritiesAreThoseOfSyslog(t *testing.T) {
	var got []journal.Priority
	log, err := newLogger(&bytes.Buffer{}, zapcore.DebugLevel, "json", func(_ string, p journal.Priority, _ map[string]string) error {
		got = append(got, p)
		return nil
	})
	require.NoError(t, err)
	log.Debug("a")
	log.Info("b")
	log.Warn("c")
	log.Error("d")
	require.Equal(t, []journal.Priority{journal.PriDebug, journal.PriInfo, journal.PriWarning, journal.PriErr}, got)
}

func TestLogger_whatJournaldDoesNotTakeGoesToStderrWithItsPriority(t *testing.T) {
	for _, format := range []string{"json", "console"} {
		var out bytes.Buffer
		log, err := newLogger(&out, zapcore.DebugLevel, format, func(string, journal.Priority, map[string]string) error {
			return errors.New("journald restarts")
		})
		require.NoError(t, err)
		log = log.With(zap.String("smsc", "alpha"))
		log.Debug("a")
		log.Info("b")
		log.Warn("c")
		log.Error("d")
		require.Regexp(t, `(?m)\A<7>.*alpha.*\n<6>.*\n<4>.*\n<3>.*\n\z`, out.String(), format)
		require.NotContains(t, out.String(), "time")
	}
}

func TestJournalName(t *testing.T) {
	require.Equal(t, "ESMED_MESSAGE_ID", journalName("message_id"))
	require.Equal(t, "ESMED_A_B9", journalName("a.B9"))
}

func TestLogger_refusesWhatItDoesNotKnow(t *testing.T) {
	_, err := newLogger(&bytes.Buffer{}, zapcore.InfoLevel, "xml", nil)
	require.ErrorContains(t, err, "log.format")
}

func TestMaskNumber(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"an international number keeps its ends", "+393331234567", "+393*******67"},
		{"digits keep their ends", "393331234567", "3933******67"},
		{"a short code is hidden whole", "4711", "****"},
		{"a sender of letters is no number", "ACME", "ACME"},
		{"nothing stays nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, maskNumber(tt.in)) })
	}
}
