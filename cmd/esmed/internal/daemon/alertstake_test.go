package daemon

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"esmed/cmd/esmed/internal/control"
)

func TestAlerts_take(t *testing.T) {
	var out bytes.Buffer
	log, err := newLogger(&out, zapcore.InfoLevel, "json", nil)
	require.NoError(t, err)
	a := &alerts{metrics: newMetrics("test"), log: log, active: map[alertKey]control.Alert{}}
	start := time.Now()
	down := func(severity string) control.Alert {
		return over(control.AlertBindDown, "alpha", severity, 31, 30, "s", "alpha/1 is not bound")
	}
	back := over(control.AlertBindDown, "alpha", control.Critical, 0, 30, "s", "all sessions are bound")
	exceptions := over(control.AlertExceptions, "", control.Warning, 2, 0, "", "things for a person to decide")
	type told struct{ Level, Msg, Alert string }
	tests := []struct {
		name     string
		measured []control.Alert
		complete bool
		told     []told
		active   []string // of what take gives
		bindDown float64
	}{
		{"one begins", []control.Alert{down(control.Warning)}, true, []told{{"warn", "alert", "bind_down"}}, []string{"bind_down"}, 1},
		{"goes on, another begins", []control.Alert{down(control.Warning), exceptions}, true, []told{{"warn", "alert", "exceptions"}}, []string{"bind_down", "exceptions"}, 1},
		{"becomes critical, and the store does not answer", []control.Alert{down(control.Critical)}, false, []told{{"error", "alert", "bind_down"}}, []string{"bind_down", "exceptions"}, 1},
		{"is less bad again, which is no news", []control.Alert{down(control.Warning)}, false, nil, []string{"bind_down", "exceptions"}, 1},
		{"is over", []control.Alert{back, exceptions}, true, []told{{"info", "alert over", "bind_down"}}, []string{"exceptions"}, 0},
		{"what is measured no more is over", []control.Alert{back}, true, []told{{"info", "alert over", "exceptions"}}, nil, 0},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out.Reset()
			var active []string
			for _, alert := range a.take(tt.measured, start.Add(time.Duration(i)*time.Second), tt.complete) {
				if alert.Active {
					active = append(active, alert.Alert)
					require.NotNil(t, alert.Since)
				}
			}
			require.Equal(t, tt.active, active)
			var lines []told
			for dec := json.NewDecoder(&out); dec.More(); {
				var line told
				require.NoError(t, dec.Decode(&line))
				lines = append(lines, line)
			}
			require.Equal(t, tt.told, lines)
			require.InDelta(t, tt.bindDown, testutil.ToFloat64(a.metrics.alerts.WithLabelValues(control.AlertBindDown)), 0)
		})
	}
}
