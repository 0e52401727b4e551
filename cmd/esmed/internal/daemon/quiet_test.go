package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"esmed/store"
)

// quietLog is a quiet log that can be read.
type quietLog struct {
	quiet
	*zap.Logger
	t   *testing.T
	out bytes.Buffer
}

func newQuietLog(t *testing.T) *quietLog {
	t.Helper()
	l := &quietLog{t: t}
	log, err := newLogger(&l.out, zapcore.DebugLevel, "json", nil)
	require.NoError(t, err)
	l.Logger = l.over(log)
	return l
}

// suppressed are the lines since it was last asked: how many each says were not written before it.
func (l *quietLog) suppressed() []int {
	l.t.Helper()
	var all []int
	for dec := json.NewDecoder(&l.out); dec.More(); {
		var line struct{ Suppressed int }
		require.NoError(l.t, dec.Decode(&line))
		all = append(all, line.Suppressed)
	}
	return all
}

func TestQuiet_likeLinesAreWrittenAFewTimesAndThenCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newQuietLog(t)
		held := func(n int) {
			for seq := range n {
				log.Warn("receipt held", zap.String("smsc", "alpha"), zap.Int("seq", seq))
			}
		}
		held(1000)
		require.Equal(t, []int{0, 0, 0, 0, 0}, log.suppressed(), "the first ones are written")
		time.Sleep(quietFor - time.Nanosecond)
		log.flush(time.Now())
		require.Empty(t, log.suppressed(), "too soon")
		time.Sleep(time.Nanosecond)
		held(1)
		require.Equal(t, []int{995}, log.suppressed(), "the first one after that says how many there were")

		held(6)
		require.Equal(t, []int{0, 0, 0, 0}, log.suppressed())
		time.Sleep(quietFor)
		log.flush(time.Now())
		require.Equal(t, []int{1}, log.suppressed(), "what is left is told when nothing follows, by its newest line")
		log.flush(time.Now())
		require.Empty(t, log.suppressed())

		held(7)
		log.close()
		require.Equal(t, []int{0, 0, 0, 0, 0, 1}, log.suppressed(), "and at the end")
	})
}

func TestQuiet_kindsOfLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tests := []struct {
			name  string
			write func(*zap.Logger, int)
			all   bool // each of ten is written
		}{
			{"the same about another message is like", func(l *zap.Logger, n int) { l.Warn("x", zap.Int("seq", n)) }, false},
			{"of another SMSC is not", func(l *zap.Logger, n int) { l.Warn("x", zap.String("smsc", fmt.Sprint(n))) }, true},
			{"nor by a logger of another SMSC", func(l *zap.Logger, n int) { l.With(zap.String("smsc", fmt.Sprint(n))).Warn("x") }, true},
			{"nor with another status", func(l *zap.Logger, n int) { l.Warn("x", zap.Stringer("command_status", time.Duration(n))) }, true},
			{"nor for another error", func(l *zap.Logger, n int) { l.Error("x", zap.Error(fmt.Errorf("y: %w", fmt.Errorf("%d", n)))) }, true},
			{"the same error elsewhere is like", func(l *zap.Logger, n int) { l.Error("x", zap.Error(fmt.Errorf("%d: %w", n, errQuiet))) }, false},
			{"another level is not", func(l *zap.Logger, n int) { l.Log(zapcore.Level(n%3), "x") }, true},
			{"what is asked for by log.level: debug is all written", func(l *zap.Logger, _ int) { l.Debug("x") }, true},
		}
		for _, tt := range tests {
			log := newQuietLog(t)
			for n := range 10 {
				tt.write(log.Logger, n)
			}
			want := quietAfter
			if tt.all {
				want = 10
			}
			require.Len(t, log.suppressed(), want, tt.name)
		}
	})
}

var errQuiet = errors.New("the disk is full")

// What names a file that changes all the time is of a kind by what it comes down to.
func TestQuiet_errorsOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newQuietLog(t)
		for i := range 2 * quietAfter {
			file := &fs.PathError{Op: "open", Path: fmt.Sprint("keys/", i, ".key.tmp"), Err: syscall.ENOSPC}
			log.Error("reception not stored", zap.Error(fmt.Errorf("%w: %w", store.ErrKey, fmt.Errorf("%w: %w", store.ErrDiskFull, file))))
		}
		require.Len(t, log.suppressed(), quietAfter)
	})
}

func TestQuiet_kindsHaveABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newQuietLog(t)
		const n = 3 * quietKinds
		for i := range n {
			log.Warn("submit_sm refused", zap.Stringer("command_status", time.Duration(i)))
		}
		require.Len(t, log.suppressed(), quietKinds+quietAfter)
		require.LessOrEqual(t, len(log.kinds), quietKinds+1)
		time.Sleep(quietFor)
		log.flush(time.Now())
		require.Equal(t, []int{n - quietKinds - quietAfter - 1}, log.suppressed(), "each is written or counted")
		require.Empty(t, log.kinds)
	})
}
