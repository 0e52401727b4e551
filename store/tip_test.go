package store

import (
	"bytes"
	"errors"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// newLog is a log of one segment.
func newLog(t *testing.T) *segmentLog {
	dir := t.TempDir()
	require.NoError(t, makeDir(filepath.Join(dir, logDir)))
	l, err := openLog(dir, true, DefaultSegmentRecords, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.close()) })
	require.NoError(t, l.begin())
	return l
}

// reopened is the same log as one finds it who opens it without its being closed.
func reopened(t *testing.T, l *segmentLog) *segmentLog {
	dir := t.TempDir()
	copyDir(t, l.dir, dir)
	again, err := openLog(dir, true, DefaultSegmentRecords, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, again.close()) })
	return again
}

// largeLog is a newLog that is larger than any other file that is written meanwhile, as go test's log is.
func largeLog(t *testing.T) *segmentLog {
	l := newLog(t)
	values := cutoffs(t, 1, 10) // a leaf that is left behind, and another
	values[0] = putBytes(values[0], 4, make([]byte, 24<<20))
	require.NoError(t, l.append(began, values, nil))
	for range 20 {
		require.NoError(t, l.append(began, cutoffs(t, l.next(), 30), nil))
	}
	return l
}

// withoutRoom appends 600 records while the log's file can be written only as far as so many octets behind what
// it has in use.
func withoutRoom(t *testing.T, l *segmentLog, octets int64) error {
	var used int64
	require.NoError(t, l.active().view(func(tx *bbolt.Tx) error {
		used = tx.Size()
		return nil
	}))
	values := cutoffs(t, l.next(), 600)
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	low := limit
	low.Cur = uint64(used + octets)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)) }()
	return l.append(began, values, nil)
}

func TestSegment_oneFsyncACommit(t *testing.T) {
	l := reopened(t, largeLog(t))
	a, fsyncs := l.active(), 0
	real := a.fsync
	a.fsync = func() error {
		fsyncs++
		return real()
	}
	append := func(want int, why string) {
		fsyncs = 0
		require.NoError(t, l.append(began, cutoffs(t, l.next(), 3), nil))
		require.Equal(t, want, fsyncs, why)
	}
	append(0, "bbolt's two: what a version that was set aside wrote may lie about")
	append(1, "durable before it is answered")
	append(1, "durable before it is answered")
	require.ErrorIs(t, withoutRoom(t, l, 4096), ErrDiskFull)
	append(0, "bbolt's two: what the one before wrote is taken for this one's")
	append(1, "durable before it is answered")
	require.NoError(t, a.putSum(a.path))
	append(1, "durable before it is answered")
}

func TestSegment_noRoom(t *testing.T) {
	l := largeLog(t)
	end := l.last()
	for _, octets := range []int64{0, 1000, 3 * 4096} {
		require.ErrorIs(t, withoutRoom(t, l, octets), ErrDiskFull)
		require.Equal(t, end, l.last())
		require.Len(t, seqsFrom(t, l, 1, 0), int(end))
		again := reopened(t, l)
		require.Equal(t, end, again.last())
		require.Equal(t, l.chain.head, again.chain.head)
		require.False(t, again.cutShort, "nothing of it was there")
	}
	require.NoError(t, l.append(began, cutoffs(t, l.next(), 100), nil))
	require.Len(t, seqsFrom(t, reopened(t, l), 1, 0), int(end)+100)
}

func TestSegment_failedFsync(t *testing.T) {
	l := newLog(t)
	for range 5 {
		require.NoError(t, l.append(began, cutoffs(t, l.next(), 30), nil))
	}
	a, end := l.active(), l.last()
	a.fsync = func() error { return syscall.ENOSPC }
	err := l.append(began, cutoffs(t, l.next(), 30), nil)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NotErrorIs(t, err, ErrDiskFull, "it is not undone")
	require.Len(t, seqsFrom(t, l, 1, 0), int(end), "nobody is shown what is not durable")
	_, refused := a.durable()
	for _, refused := range []error{refused, a.putSum(a.path), l.append(began, cutoffs(t, l.next(), 1), nil)} {
		require.True(t, errors.Is(refused, syscall.ENOSPC), "nothing is written any more")
	}
	again := reopened(t, l)
	require.Contains(t, []uint64{end, end + 30}, again.last())
	require.NoError(t, again.append(began, cutoffs(t, again.next(), 1), nil))
}

func TestTip(t *testing.T) {
	want := tip{txid: 7, before: 10, last: 12, hash: hash{1}, head: hash{2}}
	b := want.append([]byte("before"))[len("before"):]
	got, err := readTip(b)
	require.NoError(t, err)
	require.Equal(t, want, got)
	for i := range b {
		spoilt := bytes.Clone(b)
		spoilt[i] ^= 1
		_, err := readTip(spoilt)
		require.Error(t, err)
	}
	_, err = readTip(b[1:])
	require.Error(t, err)
}
