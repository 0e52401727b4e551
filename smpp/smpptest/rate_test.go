package smpptest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/smpp/smpptest"
)

// submitsAt is a truth of submits at these times after an hour zero.
func submitsAt(after ...time.Duration) []smpptest.Line {
	truth := []smpptest.Line{{Type: smpptest.LineLink, At: hour}}
	for _, d := range after {
		truth = append(truth, smpptest.Line{Type: smpptest.LineSubmit, At: hour.Add(d)})
	}
	return truth
}

var hour = time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)

func TestRateOf(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name    string
		truth   []smpptest.Line
		most    int
		mostAt  time.Duration
		average float64
	}{
		{"one alone has no average", submitsAt(3 * ms), 1, 3 * ms, 0},
		{"a second does not hold its end", submitsAt(0, 500*ms, 1000*ms, 1500*ms, 2000*ms), 2, 0, 2},
		{"the fullest second begins at no full one", submitsAt(0, 900*ms, 1000*ms, 1850*ms, 3000*ms), 3, 900 * ms, 4. / 3},
		{"all at once", submitsAt(0, 0, 0), 3, 0, 0},
		{"in any order", submitsAt(2000*ms, 0, 1900*ms), 2, 1900 * ms, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := smpptest.RateOf(tt.truth)
			require.Equal(t, len(tt.truth)-1, r.Submits)
			require.Equal(t, tt.most, r.Most)
			require.Equal(t, hour.Add(tt.mostAt), r.MostAt)
			require.InDelta(t, tt.average, r.Average, 1e-9)
		})
	}
	require.Zero(t, smpptest.RateOf(nil))
}

func TestRateOf_counts_as_one_who_looks_at_every_second(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		after := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 50).Draw(t, "at")) * 100 * time.Millisecond
		}), 1, 40).Draw(t, "after")
		want := 0
		for begin := -time.Second; begin <= 5*time.Second; begin += 100 * time.Millisecond {
			n := 0
			for _, d := range after {
				if d >= begin && d < begin+time.Second {
					n++
				}
			}
			want = max(want, n)
		}
		require.Equal(t, want, smpptest.RateOf(submitsAt(after...)).Most)
	})
}
