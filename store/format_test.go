package store

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// unpack gives the content of a .tar.gz of testdata a directory of its own.
func unpack(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		require.NoError(t, err)
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		require.NoError(t, err)
		_, err = io.Copy(out, r)
		require.NoError(t, errors.Join(err, out.Close()))
	}
}

// TestOpen_format1 opens a store as the first version left it (its state.db has no windows), and goes on.
func TestOpen_format1(t *testing.T) {
	cfg := testConfig(unpack(t, "format1.tar.gz"))
	clean(t, cfg)
	s := startIn(t, cfg)
	ctx := context.Background()
	require.True(t, s.rebuilt)
	for id, want := range map[statemachine.ID]statemachine.State{
		"01KB9A0000000000000000000A": statemachine.Delivered,
		"01KB9A0000000000000000000B": statemachine.Submitted,
		"01KB9A0000000000000000000C": statemachine.InDoubt,
		"01KB9A0000000000000000000D": statemachine.Queued,
		"01KB9A0000000000000000000E": statemachine.Submitting,
	} {
		m, err := s.Message(ctx, id)
		require.NoError(t, err)
		require.Equal(t, want, m.State, id)
	}
	rows, _, err := s.Inbox(ctx, "alpha", "", 0)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	kinds := make(map[statemachine.ExceptionKind]bool)
	open, _, err := s.Exceptions(ctx, ExceptionFilter{Status: statemachine.StatusOpen})
	require.NoError(t, err)
	for _, x := range open {
		kinds[x.Kind] = true
	}
	require.Equal(t, map[statemachine.ExceptionKind]bool{
		statemachine.KindConflict: true, statemachine.KindUnmappedState: true, statemachine.KindInDoubt: true,
	}, kinds)
	parts, err := s.NextQueued(ctx, "alpha", began, nil, nil, 0)
	require.NoError(t, err)
	require.Len(t, parts, 1)
	require.Equal(t, "Your code is 4714", string(parts[0].Accepted.Parts[0].ShortMessage))

	s.append(&statemachine.Reception{
		SMSC: "alpha", Account: "alpha", Session: "alpha/1", PDU: receiptPDU("88", "DELIVRD", someDest, "a text", 4),
	})
	m, err := s.Message(ctx, "01KB9A0000000000000000000B")
	require.NoError(t, err)
	require.Equal(t, statemachine.Delivered, m.State)
}

// TestOpen_format2 opens a store as the version before left it: what waits for a retry stands by time first in
// its state.db, which is to give back what it dropped, and records were dropped before its base.db.
func TestOpen_format2(t *testing.T) {
	cfg := testConfig(unpack(t, "format2.tar.gz"))
	ctx := context.Background()
	queue := func(s *Store) (ids []statemachine.ID) {
		due, err := s.NextQueued(ctx, "alpha", began.AddDate(0, 0, 1), nil, nil, 0)
		require.NoError(t, err)
		for _, q := range due {
			require.Equal(t, "Your code is "+string(q.Entry.Message), string(q.Accepted.Parts[0].ShortMessage))
			ids = append(ids, q.Entry.Message)
		}
		return ids
	}
	before := files(t, cfg.Dir)
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	require.Equal(t, []statemachine.ID{"M5", "M2", "M7", "M3", "M4", "M1"}, queue(r))
	want := dump(t, r)
	verifies(t, r)
	require.NoError(t, r.Close())
	require.Equal(t, before, files(t, cfg.Dir), "nothing is touched by reading")

	s := start(t, cfg)
	require.False(t, s.rebuilt)
	same(t, want, dump(t, s.Store))
	stats, err := s.QueueStats(ctx)
	require.NoError(t, err)
	require.Equal(t, []QueueStat{
		{SMSC: "alpha", Waiting: 3, Delayed: 3, ByPriority: [priorities]int64{2, 1, 1, 2}, Oldest: began.Add(8*time.Hour + time.Minute)},
		{SMSC: "beta", Waiting: 1, ByPriority: [priorities]int64{1}, Oldest: began.Add(8*time.Hour + 6*time.Minute)},
	}, stats)
	cfg.Now = func() time.Time { return began.AddDate(0, 0, 1) }
	require.NoError(t, s.stop())
	s = start(t, cfg)
	s.append(&statemachine.Sent{Message: "M4", Part: 1, Attempt: 2, SMSC: "alpha", Session: "alpha/1"})
	require.NoError(t, s.Sync(ctx))
	require.Equal(t, []statemachine.ID{"M5", "M2", "M7", "M3", "M1"}, queue(s.Store))
	s.retire(keepSince(began.Add(8 * time.Hour)))
	madeAnew(t, s)
}

// TestOpen_format3 opens a store as the version before left it: its state.db and base.db do not name messages by their
// states, nor tell how far their times and those of their ids part.
func TestOpen_format3(t *testing.T) {
	cfg := testConfig(unpack(t, "format3.tar.gz"))
	ctx := context.Background()
	count := func(s *Store, f Filter) int {
		f.Limit = 1000
		items, _, err := s.Messages(ctx, f)
		require.NoError(t, err)
		return len(items)
	}
	before := files(t, cfg.Dir)
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	want := dump(t, r)
	verifies(t, r)
	require.NoError(t, r.Close())
	require.Equal(t, before, files(t, cfg.Dir), "nothing is touched by reading")

	var upgraded []uint64
	cfg.OnUpgrade = func(from uint64) { upgraded = append(upgraded, from) }
	s := start(t, cfg)
	require.Equal(t, []uint64{3}, upgraded)
	require.False(t, s.rebuilt)
	same(t, want, dump(t, s.Store))
	for state, want := range map[statemachine.State]int{
		statemachine.Queued: 2, statemachine.Submitting: 2, statemachine.Submitted: 4, statemachine.InDoubt: 2, statemachine.Enroute: 2,
		statemachine.Undeliverable: 2, statemachine.Expired: 2, statemachine.Failed: 2,
	} {
		require.Equal(t, want, count(s.Store, Filter{States: []statemachine.State{state}}), state)
	}
	require.Equal(t, count(s.Store, Filter{}), count(s.Store, Filter{Until: began.Add(6 * time.Hour)})+count(s.Store, Filter{Since: began.Add(6 * time.Hour)}))
	filtersAreOfKeys(t, s.Store)
	verifies(t, s.Store)
	madeAnew(t, s)

	upgraded = nil
	s = start(t, cfg)
	require.Empty(t, upgraded)
	require.NoError(t, s.stop())
}

// TestUpgrade_cutShort ends an upgrade behind each of its transactions: who opens the store next has the same.
func TestUpgrade_cutShort(t *testing.T) {
	whole := testConfig(unpack(t, "format3.tar.gz"))
	r, err := OpenReadOnly(whole)
	require.NoError(t, err)
	want := dump(t, r)
	require.NoError(t, r.Close())
	errCut := errors.New("cut short")
	for n, cut := 1, true; cut; n++ {
		cfg := testConfig(unpack(t, "format3.tar.gz"))
		db, err := openStateFile(filepath.Join(cfg.Dir, stateFile), stateFile, stateOptions(false))
		require.NoError(t, err)
		left := n
		up := upgrading{
			read: func(fn func(*stateTx) error) error {
				return db.View(func(tx *bbolt.Tx) error { return fn(newStateTx(tx)) })
			},
			write: func(fn func(*stateTx, sink) error) error {
				if left--; left < 0 {
					return errCut
				}
				return db.Update(func(tx *bbolt.Tx) error {
					state := newStateTx(tx)
					return fn(state, state)
				})
			},
		}
		err = up.run(3)
		cut = errors.Is(err, errCut)
		require.True(t, cut || err == nil, err)
		require.NoError(t, db.Close())
		r, err := OpenReadOnly(cfg)
		require.NoError(t, err)
		same(t, want, dump(t, r))
		require.NoError(t, r.Close())
		s := start(t, cfg)
		same(t, want, dump(t, s.Store))
		verifies(t, s.Store)
		require.NoError(t, s.stop())
	}
}
