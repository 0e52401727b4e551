package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// brokenJournal fails when it is told to.
type brokenJournal struct {
	journal
	err atomic.Pointer[error]
}

func (j *brokenJournal) append(at time.Time, values [][]byte, rules []byte) error {
	if err := j.err.Load(); err != nil {
		return *err
	}
	return j.journal.append(at, values, rules)
}

func TestRun_failedFsync(t *testing.T) {
	cfg := testConfig(t.TempDir())
	s, err := Open(cfg)
	require.NoError(t, err)
	broken := &brokenJournal{journal: s.journal}
	s.journal = broken
	ended := make(chan error, 1)
	r := &running{Store: s, t: t}
	go func() { ended <- s.Run(context.Background()) }()
	r.append(message("M1", "", "a"))
	failure := errors.New("fdatasync: input/output error")
	broken.err.Store(&failure)
	answers := make(chan error, 100)
	posted := 0
	for n := range 100 {
		err := s.Post(context.Background(), &statemachine.Cutoff{Message: statemachine.ID(fmt.Sprint(n))}, func(_ statemachine.Record, err error) { answers <- err })
		if err != nil {
			require.ErrorIs(t, err, ErrClosed)
			continue
		}
		posted++
	}
	require.ErrorIs(t, <-ended, failure)
	require.Positive(t, posted)
	for range posted {
		require.ErrorIs(t, <-answers, failure, "everybody who was taken gets it")
	}
	_, err = s.Accept(context.Background(), message("M2", "", "a"))
	require.ErrorIs(t, err, ErrClosed)
	m, err := s.Message(context.Background(), "M1")
	require.NoError(t, err)
	require.Equal(t, statemachine.Queued, m.State)
	require.NoError(t, s.Close())
	clean(t, cfg)
}

func TestWriter_diskFull(t *testing.T) {
	s, err := Open(testConfig(t.TempDir()))
	require.NoError(t, err)
	broken := &brokenJournal{journal: s.journal}
	s.journal = broken
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	r := &running{Store: s, t: t, stop: func() error {
		cancel()
		return errors.Join(<-ended, s.Close())
	}}
	go func() { ended <- s.Run(ctx) }()
	first, err := s.Accept(ctx, message("M1", "r1", "a"))
	require.NoError(t, err)
	key := s.keys.current.name

	full := fmt.Errorf("%w: write: no space left on device", ErrDiskFull)
	broken.err.Store(&full)
	_, err = s.Accept(ctx, message("M2", "r2", "a"))
	require.ErrorIs(t, err, ErrDiskFull)
	again, err := s.Accept(ctx, message("M1", "r1", "a"))
	require.NoError(t, err, "what is durable is answered")
	require.Equal(t, first.Seq, again.Seq)

	broken.err.Store(nil)
	next, err := s.Accept(ctx, message("M3", "r2", "a"))
	require.NoError(t, err)
	require.False(t, next.Existing, "the ref was given back")
	require.Equal(t, first.Seq+1, next.Seq)
	require.NotEqual(t, key, s.keys.current.name, "a seq that is given again is sealed with another key")
	r.check()
}

// withoutFiles calls fn while nothing can be opened.
func withoutFiles(t *testing.T, fn func()) {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 0
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }()
	fn()
}

func TestWriter_noMoreFiles(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords = 2
	s := startIn(t, cfg)
	withoutFiles(t, func() {
		_, err := s.Accept(ctx, message("M1", "r1", "a")) // needs a key
		require.ErrorIs(t, err, ErrNoFiles)
		require.ErrorIs(t, err, ErrDiskFull)
	})
	for _, id := range []string{"M1", "M2"} {
		_, err := s.Accept(ctx, message(id, "", "a"))
		require.NoError(t, err)
	}
	withoutFiles(t, func() {
		_, err := s.Append(ctx, &statemachine.Cutoff{Message: "M1"}) // needs a segment
		require.ErrorIs(t, err, ErrNoFiles)
	})
	_, err := s.Accept(ctx, message("M3", "", "a"))
	require.NoError(t, err)
}

func TestDiskFull(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want error // nil: stays what it is
	}{
		{"no room to write", &fs.PathError{Op: "write", Err: syscall.ENOSPC}, ErrDiskFull},
		{"no room for a name", &os.LinkError{Op: "link", Err: syscall.ENOSPC}, ErrDiskFull},
		{"no file to be had", &fs.PathError{Op: "open", Err: syscall.ENFILE}, ErrNoFiles},
		{"no room, says fsync", &fs.PathError{Op: "sync", Err: syscall.ENOSPC}, nil},
		{"no room, says nobody knows who", syscall.ENOSPC, nil},
		{"another error", &fs.PathError{Op: "write", Err: syscall.EIO}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := diskFull(tt.err)
			require.ErrorIs(t, got, tt.err)
			if tt.want == nil {
				require.NotErrorIs(t, got, ErrDiskFull)
				return
			}
			require.ErrorIs(t, got, tt.want)
		})
	}
}

func TestWriter_time(t *testing.T) {
	now := began
	cfg := testConfig(t.TempDir())
	cfg.Now = func() time.Time { return now }
	s := start(t, cfg)
	at := func() time.Time { return s.append(&statemachine.Cutoff{Message: "M1"})[0].At }
	require.Equal(t, began, at())
	now = began.Add(-time.Hour)
	require.Equal(t, began, at(), "never back")
	require.NoError(t, s.stop())
	s = start(t, cfg)
	require.Equal(t, began, at(), "nor after a restart")
	now = began.Add(time.Nanosecond).In(time.FixedZone("", 3600))
	require.Equal(t, began.Add(time.Nanosecond), at())
	s.check()
}

// TestAccept_waitsForTheApplier holds the applier up: accepts wait, receptions do not.
func TestAccept_waitsForTheApplier(t *testing.T) {
	s := startIn(t, testConfig(t.TempDir()))
	s.append(message("M0", "", "a"))
	require.NoError(t, s.Sync(context.Background()))
	s.applyMu.Lock()
	events := make([]statemachine.Fact, maxLag)
	for i := range events {
		events[i] = &statemachine.SessionEvent{SMSC: "alpha", Event: "bound"}
	}
	s.append(events...)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := s.Accept(ctx, message("M1", "", "a"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	s.append(&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("9", "DELIVRD", someDest, "x", 4)})
	done := make(chan error, 1)
	go func() {
		_, err := s.Accept(context.Background(), message("M1", "", "a"))
		done <- err
	}()
	s.applyMu.Unlock()
	require.NoError(t, <-done)
}

func TestStore_metrics(t *testing.T) {
	cfg := testConfig(t.TempDir())
	var commits, records atomic.Int64
	var seen witness
	cfg.OnCommit = func(n int, _ time.Duration) {
		commits.Add(1)
		records.Add(int64(n))
	}
	cfg.Witness = func() Witness { return &witness{committed: &seen} }
	s := startIn(t, cfg)
	s.append(life("M1", "1", "a")...)
	require.NoError(t, s.Sync(context.Background()))
	require.EqualValues(t, 1, commits.Load())
	require.EqualValues(t, 4, records.Load())
	require.Equal(t, 4, seen.records)
	require.Equal(t, len(folded(t, s.Store).Decisions), seen.decisions)
}

// witness counts what it is shown, and adds it to another one once it is committed.
type witness struct {
	records, decisions int
	committed          *witness
}

func (w *witness) Folded(_ statemachine.Record, eff *statemachine.Effects) {
	w.records++
	w.decisions += len(eff.Decisions)
}

func (w *witness) Committed() {
	w.committed.records += w.records
	w.committed.decisions += w.decisions
}

func TestSetRules(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords = 2
	s := start(t, cfg)
	set := func(parser string, want uint64) {
		seq, err := s.SetRules(ctx, rulesOf(parser))
		require.NoError(t, err)
		require.Equal(t, want, seq)
	}
	set("1", 1)
	set("1", 1)
	s.append(message("M1", "", "a"), message("M2", "", "a"))
	set("2", 4)
	require.NoError(t, s.stop())
	s = start(t, cfg)
	set("2", 4)
	seq, rules, err := s.Rules(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 4, seq)
	require.Equal(t, "2", rules.Parser)
	set("1", 5)
	s.check()
}
