package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClock(t *testing.T) {
	began := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const s, m, h = time.Second, time.Minute, time.Hour
	type look struct {
		mono, step time.Duration // since the start; what the wall clock was set by until then
		doubt      bool
	}
	tests := []struct {
		name  string
		last  time.Duration // the log's last record, after the start
		looks []look
	}{
		{"clocks that agree", -h, []look{{0, 0, false}, {30 * s, 0, false}, {60 * s, 0, false}}},
		{"slow drift", -h, []look{{0, 0, false}, {30 * s, 20 * s, false}, {60 * s, 40 * s, false}, {90 * s, 60 * s, false}, {120 * s, 80 * s, false}}},
		{"a step of a minute is let pass", -h, []look{{0, 0, false}, {30 * s, m, false}}},
		{"a step forward, doubted until they agree for a minute", -h,
			[]look{{0, 0, false}, {30 * s, 5 * h, true}, {60 * s, 5 * h, true}, {89 * s, 5 * h, true}, {90 * s, 5 * h, false}}},
		{"a step forward and back: the minute begins again", -h,
			[]look{{0, 0, false}, {30 * s, 5 * h, true}, {60 * s, 0, true}, {90 * s, 0, true}, {120 * s, 0, false}}},
		{"a machine that slept", -h, []look{{0, 0, false}, {30 * s, 8 * h, true}, {90 * s, 8 * h, false}}},
		{"a start before the end of the log", 2 * m, []look{{0, 0, true}, {30 * s, 0, true}, {60 * s, 0, true}, {90 * s, 0, false}}},
		{"the end of the log is a minute ahead at most", m, []look{{0, 0, false}}},
		{"a start long before the end of the log, until the clock is set", 72 * h,
			[]look{{0, 0, true}, {h, 0, true}, {2 * h, 71 * h, true}, {2*h + 30*s, 71 * h, true}, {2*h + m, 71 * h, false}}},
		{"a step back behind the end of the log", 0, []look{{0, 0, false}, {30 * s, -h, true}, {10 * m, -h, true}, {61 * m, -h, false}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c clock
			for _, l := range tt.looks {
				wall := began.Add(l.mono + l.step)
				require.Equal(t, l.doubt, c.look(wall, l.mono, began.Add(tt.last)), "after %s", l.mono)
			}
		})
	}
	t.Run("an empty log says nothing", func(t *testing.T) {
		require.False(t, new(clock).look(began, 0, time.Time{}))
	})
}
