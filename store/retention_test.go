package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

// keepSince drops all that is older than an instant.
func keepSince(at time.Time) Retention {
	return Retention{Messages: at, Inbox: at, Exceptions: at, Log: at}
}

// retire takes steps until nothing is left to do, and says what they did together.
func (r *running) retire(keep Retention) (all RetentionStep) {
	r.t.Helper()
	for range 10000 {
		step, err := r.Retire(context.Background(), keep)
		require.NoError(r.t, err)
		all = all.Add(step)
		if !step.More {
			return all
		}
	}
	require.Fail(r.t, "it does not end")
	return all
}

// verifies requires that all files agree.
func verifies(t tb, s *Store) {
	t.Helper()
	v, err := s.Verify(context.Background(), nil)
	require.NoError(t, err)
	require.Nil(t, v.Difference, fmt.Sprint(v.Difference))
}

// sameAgain requires that a projection made anew is the same: on disk, and in memory by who only reads.
func sameAgain(t tb, cfg Config, want map[string]string, dir string) {
	t.Helper()
	copyDir(t, cfg.Dir, dir)
	require.NoError(t, os.Remove(filepath.Join(dir, stateFile)))
	cfg.Dir = dir
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	same(t, want, dump(t, r))
	verifies(t, r)
	require.NoError(t, r.Close())
	s := start(t, cfg)
	require.NoError(t, s.Sync(context.Background()))
	same(t, want, dump(t, s.Store))
	verifies(t, s.Store)
	require.NoError(t, s.stop())
}

// TestRetire_anyLife drops from stores of any history, again and again: what is left is what all records gave,
// verifies, and can be made anew.
func TestRetire_anyLife(t *testing.T) {
	n := 0
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n++
		cfg := testConfig(filepath.Join(base, fmt.Sprint(n)))
		cfg.SegmentRecords = rapid.SampledFrom([]int{1, 3, 10}).Draw(t, "segment")
		cfg.PartitionMessages = rapid.SampledFrom([]int{1, 2, 50_000}).Draw(t, "partition")
		now := began
		cfg.Now = func() time.Time { return now }
		s := start(t, cfg)
		var w world
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			for range rapid.IntRange(1, 15).Draw(t, "facts") {
				s.bring(w.next(t))
				now = now.Add(time.Duration(rapid.IntRange(0, 3*24*60).Draw(t, "minutes")) * time.Minute)
			}
			old := now.Add(-time.Duration(rapid.IntRange(0, 30*24).Draw(t, "hours")) * time.Hour)
			keep := keepSince(old)
			if rapid.IntRange(0, 3).Draw(t, "messages kept") == 0 {
				keep.Messages = time.Time{}
			}
			s.retire(keep)
			verifies(t, s.Store)
			want := dump(t, s.Store)
			if rapid.Bool().Draw(t, "restart") {
				require.NoError(t, s.stop())
				s = start(t, cfg)
				same(t, want, dump(t, s.Store))
			}
		}
		want := dump(t, s.Store)
		require.NoError(t, s.stop())
		sameAgain(t, cfg, want, filepath.Join(base, fmt.Sprint(n, "again")))
	})
}

func TestRetire(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords, cfg.PartitionMessages = 10, 4
	now := began
	cfg.Now = func() time.Time { return now }
	s := start(t, cfg)
	ctx := context.Background()
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	for i := range 10 {
		now = now.Add(time.Hour)
		s.append(life(fmt.Sprint("M", i), fmt.Sprint("id", i), "a text")...)
	}
	now = now.Add(time.Hour)
	s.append(message("N0", "order", "a text")) // waits in the queue
	s.append(&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("99", "DELIVRD", someDest, "x", 4)})
	s.append(&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("id9", "EXPIRED", someDest, "x", 4)})
	keysBefore, err := os.ReadDir(filepath.Join(cfg.Dir, keysDir))
	require.NoError(t, err)

	t.Run("nothing is due", func(t *testing.T) {
		require.Zero(t, s.retire(keepSince(began)))
		require.Zero(t, s.retire(Retention{}))
	})
	t.Run("whole partitions and segments go", func(t *testing.T) {
		done := s.retire(keepSince(began.Add(6 * time.Hour)))
		require.Equal(t, 4, done.Messages)
		require.Equal(t, 1, done.Segments)
		require.Equal(t, 3, done.Keys)
		keys, err := os.ReadDir(filepath.Join(cfg.Dir, keysDir))
		require.NoError(t, err)
		require.Len(t, keys, len(keysBefore)-3)
		for i := range 10 {
			_, err := s.Message(ctx, statemachine.ID(fmt.Sprint("M", i)))
			if i < 4 {
				require.ErrorIs(t, err, ErrNotFound)
			} else {
				require.NoError(t, err)
			}
		}
		stat, err := s.Stat(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 7, stat.Messages)
		verifies(t, s.Store)
		agreesWithFiles(t, cfg)
	})
	t.Run("a receipt for a message that is gone belongs to nobody", func(t *testing.T) {
		late := s.append(&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("id1", "EXPIRED", someDest, "x", 4)})
		row, err := s.InboxRowBySeq(ctx, late[0].Seq)
		require.NoError(t, err)
		require.Equal(t, statemachine.Unmatched, row.Why)
	})
	t.Run("what is open is closed first", func(t *testing.T) {
		now = now.Add(100 * time.Hour)
		done := s.retire(keepSince(now))
		require.Equal(t, 1, done.Closed)
		require.Equal(t, 7, done.Messages)
		require.Equal(t, 2, done.Inbox)
		require.Positive(t, done.Exceptions)
		stat, err := s.Stat(ctx)
		require.NoError(t, err)
		require.Zero(t, stat.Messages)
		queues, err := s.QueueStats(ctx)
		require.NoError(t, err)
		require.Equal(t, []QueueStat{{SMSC: "alpha"}}, queues)
		verifies(t, s.Store)
		agreesWithFiles(t, cfg)
	})
	t.Run("and it goes on", func(t *testing.T) {
		s.append(life("P1", "new", "a text")...)
		_, err := s.Accept(ctx, message("P2", "order", "another text")) // its ref is free again
		require.NoError(t, err)
		m, err := s.Message(ctx, "P1")
		require.NoError(t, err)
		require.Equal(t, statemachine.Delivered, m.State)
		events, err := s.Events(ctx, 0, 1000)
		require.NoError(t, err)
		require.Greater(t, events[0].Record.Seq, uint64(1), "from the first that is left")
		report, err := s.Report(ctx, time.Time{}, time.Time{})
		require.NoError(t, err)
		require.Len(t, report, 12, "counters stay")
		verifies(t, s.Store)
		sameAgain(t, cfg, dump(t, s.Store), filepath.Join(t.TempDir(), "again"))
	})
	require.NoError(t, s.stop())
}

// agreesWithFiles requires that nothing is on disk that was given back.
func agreesWithFiles(t *testing.T, cfg Config) {
	t.Helper()
	retired, err := filepath.Glob(filepath.Join(cfg.Dir, logDir, "*"+retiredSuffix))
	require.NoError(t, err)
	require.Empty(t, retired)
}

// TestRetire_gives_a_table_back_at_once counts the transactions that it takes: one for each table of each partition.
func TestRetire_gives_a_table_back_at_once(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 100
	s := fillWith(t, cfg, 250)
	keep := Retention{Messages: time.Now().Add(time.Hour)}
	for dropped := 0; dropped < 200; {
		step, err := s.Retire(context.Background(), keep)
		require.NoError(t, err)
		dropped += step.Messages
		var left map[tableID]bool
		require.NoError(t, s.view(func(tx *stateTx) (err error) {
			left, err = tx.freeing()
			return err
		}))
		if step.Messages == 0 {
			continue
		}
		require.Len(t, left, 6, "messages, ids, refs, dests, filters, states")
		for n := range len(left) + 1 {
			did, err := s.freeStep(context.Background())
			require.NoError(t, err)
			require.Equal(t, n < len(left), did)
		}
		require.NoError(t, s.view(func(tx *stateTx) error {
			for id := range left {
				require.Nil(t, tx.bucket(id))
			}
			return nil
		}))
	}
	s.check()
}
