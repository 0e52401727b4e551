package daemon

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func TestLogger_writesOneJSONObjectALine(t *testing.T) {
	var out bytes.Buffer
	log, err := newLogger(&out, "info", "json", false)
	require.NoError(t, err)
	log.Debug("hidden")
	log.Info("bound", zap.String("smsc", "alpha"))
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.Equal(t, "bound", line["msg"])
	require.Equal(t, "alpha", line["smsc"])
	require.Contains(t, line, "time")
}

func TestLogger_leavesTheTimeToJournaldAndNamesThePriority(t *testing.T) {
	for _, format := range []string{"json", "console"} {
		var out bytes.Buffer
		log, err := newLogger(&out, "debug", format, true)
		require.NoError(t, err)
		log = log.With(zap.String("smsc", "alpha"))
		log.Debug("a")
		log.Info("b")
		log.Warn("c")
		log.Error("d")
		require.Regexp(t, `(?m)\A<7>.*\n<6>.*\n<4>.*\n<3>.*\n\z`, out.String(), format)
		require.NotContains(t, out.String(), "time")
	}
}

func TestLogger_refusesWhatItDoesNotKnow(t *testing.T) {
	_, err := newLogger(&bytes.Buffer{}, "loud", "json", false)
	require.ErrorContains(t, err, "log.level")
	_, err = newLogger(&bytes.Buffer{}, "info", "xml", false)
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
