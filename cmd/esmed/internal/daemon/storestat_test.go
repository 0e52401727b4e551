package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

func TestForecast(t *testing.T) {
	const gib = 1 << 30
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	growth := &control.StoreGrowth{LogBytes: 2 * gib, StateBytes: 1 * gib}
	kept := func(days, old int) *control.Store {
		at := now.Add(-time.Duration(old) * day)
		return &control.Store{
			Bytes: 5 * gib, Growth: growth, State: control.StoreFile{Bytes: 2 * gib},
			Log: control.StoreLog{OldestAt: &at}, Messages: control.StoreMessages{OldestAt: &at},
			Retention: &control.StoreRetention{LogSeconds: int64(days) * 86400, MessagesSeconds: int64(days) * 86400},
		}
	}
	tests := []struct {
		name    string
		store   *control.Store
		free    uint64
		reserve uint64
		verdict string
		days    int     // until it is full
		most    float64 // GiB that it takes at most
	}{
		{"too little history", &control.Store{}, gib, 0, control.ForecastUnknown, 0, 0},
		{"no retention is known", &control.Store{Growth: growth}, 30 * gib, 0, control.ForecastFull, 10, 0},
		{"the reserve does not count as room", &control.Store{Growth: growth}, 30 * gib, 6 * gib, control.ForecastFull, 8, 0},
		{"there is less than the reserve", &control.Store{Growth: growth}, 1 * gib, 6 * gib, control.ForecastFull, 0, 0},
		{"free pages of state.db are used first", &control.Store{Growth: growth, State: control.StoreFile{Bytes: 6 * gib, FreeBytes: 6 * gib}}, 24 * gib, 0, control.ForecastFull, 10, 0},
		{"nothing grows", &control.Store{Bytes: gib, Growth: &control.StoreGrowth{}}, 1, 0, control.ForecastNever, 0, 1},
		{"it is full before retention sets in", kept(20, 5), 30 * gib, 0, control.ForecastFull, 10, 0},
		{"retention sets in before, and makes base.db", kept(20, 15), 100 * gib, 0, control.ForecastNever, 0, 5 + 15 + 7},
		{"base.db is what there is no room for", kept(20, 15), 20 * gib, 0, control.ForecastFull, 5, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.store.Disk = control.StoreDisk{FreeBytes: tt.free, ReserveBytes: &tt.reserve}
			f := forecast(tt.store, now)
			require.Equal(t, tt.verdict, f.Verdict)
			require.NotEmpty(t, f.Why)
			require.Equal(t, tt.verdict == control.ForecastFull, f.FullAt != nil)
			require.Equal(t, tt.verdict == control.ForecastNever, f.Bytes != nil)
			if f.FullAt != nil {
				require.WithinDuration(t, now.Add(time.Duration(tt.days)*day), *f.FullAt, 2*time.Hour)
			}
			if f.Bytes != nil {
				require.InDelta(t, tt.most*gib, *f.Bytes, gib/10)
			}
		})
	}
}

func TestDescribeRetention(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	keep := &config.Retention{Log: 10 * day, Messages: 5 * day}
	ended := func(days int) time.Time { return now.Add(-time.Duration(days) * day) }
	u := &store.Usage{Segments: []store.SegmentUsage{
		{Bytes: 100, Newest: ended(12)}, {Bytes: 200, Newest: ended(10)}, {Bytes: 400, Newest: ended(7)}, {Bytes: 800, Newest: ended(3)}, {Bytes: 1600},
	}}
	r := describeRetention(u, keep, now)
	next := now.Add(3 * day)
	require.Equal(t, &control.StoreRetention{LogSeconds: 864000, MessagesSeconds: 432000, DueBytes: 300, NextAt: &next, NextBytes: 400}, r)

	u.Segments = u.Segments[4:]
	require.Nil(t, describeRetention(u, keep, now).NextAt, "what is appended to does not go")
	require.Nil(t, describeRetention(&store.Usage{}, keep, now).NextAt)
}
