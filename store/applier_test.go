package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestApplier_foldsOverABatchThatIsNotWritten has every batch folded before the one before it is written, and the
// two that a failed write leaves behind folded again.
func TestApplier_foldsOverABatchThatIsNotWritten(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 3
	s := start(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	for i := range 12 {
		s.append(life(fmt.Sprintf("M%02d", i), fmt.Sprint("id", i%5), "a text")...)
	}
	require.NoError(t, s.stop())
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	defer r.Close()
	db, err := createState(filepath.Join(t.TempDir(), stateFile), origin{partition: 3}, true)
	require.NoError(t, err)
	defer db.Close()

	a := newApplier(db, "scratch", new(filters), r.fold(), r.viewRecord)
	last, size := r.end.Load(), uint64(1)
	fold := func() *batch {
		size++ // batches end within lives
		end := min(a.cursor+size, last)
		b, err := a.foldBatch(func(seq uint64) ([]statemachine.Record, error) {
			if seq > end {
				return nil, nil
			}
			rec, err := r.Record(context.Background(), seq)
			return []statemachine.Record{rec}, err
		}, nil)
		require.NoError(t, err)
		require.Equal(t, end, b.cursor)
		return b
	}
	before := fold()
	for before.cursor < last {
		next := fold()
		if size%5 == 0 {
			a.void() // as when before's write failed
			before = fold()
			require.LessOrEqual(t, before.began, next.began)
			continue
		}
		require.NoError(t, a.write(before))
		before = next
	}
	require.NoError(t, a.write(before))
	same(t, dump(t, r), dump(t, &Store{state: db, filters: new(filters)}))
}
