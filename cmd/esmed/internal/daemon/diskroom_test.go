package daemon

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

// roomOf is a diskRoom whose disk and store are numbers.
func roomOf(disk *store.Disk, size *int64) *diskRoom {
	return &diskRoom{
		disk: func() (store.Disk, error) {
			if disk.Size == 0 {
				return store.Disk{}, errors.New("the system does not say")
			}
			return *disk, nil
		},
		bytes: func() (int64, error) { return *size, nil },
		log:   zap.NewNop(),
	}
}

func TestDiskRoom_measure(t *testing.T) {
	const mib = 1 << 20
	steps := []struct {
		name            string
		free            uint64
		refuses, stands bool
	}{
		{"there is plenty", 4000 * mib, false, false},
		{"the reserve is all that is left", 64 * mib, false, false},
		{"the reserve is touched", 64*mib - 1, true, false},
		{"half of it is left", 32 * mib, true, false},
		{"less than half of it is left", 32*mib - 1, true, true},
		{"half of it again is not enough to send", 39 * mib, true, true},
		{"half and a quarter of that is", 40 * mib, true, false},
		{"the reserve again is not enough to accept", 79 * mib, true, false},
		{"the reserve and a quarter is", 80 * mib, false, false},
	}
	disk, size := store.Disk{Size: 10_000 * mib, FilesUnlimited: true}, int64(0)
	r := roomOf(&disk, &size)
	require.Zero(t, r.reading())
	for _, s := range steps {
		disk.Free = s.free
		r.measure(time.Now())
		require.Equal(t, s.refuses, r.admit() != nil, s.name)
		require.Equal(t, s.stands, !r.sends(), s.name)
		require.Equal(t, s.refuses, r.reading().refuses, s.name)
		require.Equal(t, s.free < 256*mib, r.pause() == roomEvery, s.name)
	}
	disk.Size = 0
	r.measure(time.Now())
	require.NoError(t, r.admit(), "where nobody says how much room there is nothing is refused")
}

func TestDiskRoom_admit(t *testing.T) {
	disk, size := store.Disk{Size: 10 << 30}, int64(0)
	r := roomOf(&disk, &size)
	r.wrote(errors.New("something else"))
	require.NoError(t, r.admit(), "nobody has looked yet")
	r.wrote(store.ErrDiskFull)
	require.ErrorIs(t, r.admit(), control.ErrDiskFull, "a write that found no room makes it look at once")

	var none *diskRoom
	require.NoError(t, none.admit())
	require.True(t, none.sends())
}

func TestDiskRoom_files(t *testing.T) {
	steps := []struct {
		left            uint64
		refuses, stands bool
	}{
		{1000, false, false}, {leastFiles, false, false}, {leastFiles - 1, true, false}, {leastFiles/2 - 1, true, true},
		{leastFiles / 2, true, true}, {leastFiles, true, false}, {leastFiles * 5 / 4, false, false},
	}
	disk, size := store.Disk{Size: 100 << 30, Free: 50 << 30}, int64(0)
	r := roomOf(&disk, &size)
	for _, s := range steps {
		disk.Files = s.left
		r.measure(time.Now())
		require.Equal(t, s.refuses, r.admit() != nil, "%d files", s.left)
		require.Equal(t, s.stands, !r.sends(), "%d files", s.left)
	}
}

// What the system says of a disk is not all: a quota, for one, is no matter of its free space.
func TestDiskRoom_wrote(t *testing.T) {
	disk, size := store.Disk{Size: 100 << 30, Free: 50 << 30, FilesUnlimited: true}, int64(0)
	r := roomOf(&disk, &size)
	r.measure(time.Now())
	alert := func() bool { return (&reading{disk: r.reading(), short: r.short.Load()}).judgeDisk().Active }
	require.False(t, alert())
	r.wrote(errors.New("something else"))
	require.False(t, alert())
	r.wrote(store.ErrDiskFull)
	require.True(t, alert())
	require.NoError(t, r.admit(), "the next message tries whether there is room")
	r.wrote(nil)
	require.False(t, alert())
}

func TestReserveOf(t *testing.T) {
	const gib = 1 << 30
	tests := []struct {
		name              string
		size, grown, want uint64
	}{
		{"a store that hardly grows", 100 * gib, 1 << 20, leastReserve},
		{"one that grew by more in ten minutes", 100 * gib, 3 * gib, 3 * gib},
		{"but no more than a tenth of the disk", 100 * gib, 30 * gib, 10 * gib},
		{"a disk that is small", 100 << 20, 0, 10 << 20},
		{"no disk that says how large it is", 0, 5 * gib, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, reserveOf(tt.size, tt.grown)) })
	}
}

func TestGrowth(t *testing.T) {
	var g growth
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	require.True(t, g.due(now))
	g.add(now, 5000)
	require.False(t, g.due(now.Add(growthEvery-1)))
	require.Zero(t, g.grown(), "what was there before is no growth")
	g.add(now.Add(10*time.Second), 5300)
	g.add(now.Add(20*time.Second), 5100) // retention
	g.add(now.Add(30*time.Second), 5200)
	require.EqualValues(t, 400, g.grown())
	g.add(now.Add(10*time.Second+reserveSpan+1), 5200)
	require.EqualValues(t, 100, g.grown(), "what is longer ago does not count")
}
