package store

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

// TestLayers publishes, writes and walks in any order: what is read through the layers is at any time what was put last.
func TestLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := layerWorld{t: t, now: map[string]string{}, file: map[string]string{}}
		b := &batch{over: newOverlay()}
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) {
				b.over.reset()
				b.began, b.cursor = b.cursor, b.cursor+1
				for range rapid.IntRange(0, 8).Draw(t, "changes") {
					w.change(t, b.over)
				}
				w.layers.publish(b)
			},
			"write": func(t *rapid.T) {
				switch l := &w.layers; {
				case l.writing != nil:
					require.NoError(t, l.writing.flush(&flushed{t: t, rows: w.file}))
					l.written()
				case l.pending != nil:
					l.toFile()
				}
			},
			"": w.check,
		})
	})
}

// layerWorld is a table of a few keys, as it is and as the file has it.
type layerWorld struct {
	t         *rapid.T
	layers    layers
	now, file map[string]string
}

var layerTable = tableID{table: tableQueue}

func (w *layerWorld) change(t *rapid.T, o *overlay) {
	key := rapid.SampledFrom([]string{"a", "alpha1", "alpha2", "alpha22", "alpha3", "beta", "\xFF"}).Draw(t, "key")
	_, there := w.now[key]
	if there && rapid.Bool().Draw(t, "delete") {
		o.delete(layerTable, []byte(key))
		delete(w.now, key)
		return
	}
	value := rapid.StringN(0, 4, 4).Draw(t, "value")
	if !there && rapid.Bool().Draw(t, "new") {
		o.putNew(layerTable, []byte(key), []byte(value))
	} else {
		o.put(layerTable, []byte(key), []byte(value))
	}
	w.now[key] = value
}

// check looks up and walks the layers, with what the file has under them.
func (w *layerWorld) check(t *rapid.T) {
	below := newOverlay()
	for key, value := range w.file {
		below.put(layerTable, []byte(key), []byte(value))
	}
	tx := newStateTx(nil, append([]*overlay{below}, w.layers.all...)...)
	for key, value := range w.now {
		require.Equal(t, value, string(tx.get(layerTable, []byte(key))))
	}
	for _, reverse := range []bool{false, true} {
		got, last := map[string]string{}, []byte(nil)
		require.NoError(t, tx.scan(layerTable, nil, nil, reverse, func(key, value []byte) error {
			if last != nil {
				require.Equal(t, reverse, bytes.Compare(last, key) > 0)
			}
			last = slices.Clone(key)
			got[string(key)] = string(value)
			return nil
		}))
		require.Equal(t, w.now, got)
	}
}

// TestApplier_whatIsNotWritten folds batches over those that are published and over one that is on its way, has
// some come to nothing, and has the file and what lies over it agree at any time with a projection that is always
// written.
func TestApplier_whatIsNotWritten(t *testing.T) {
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
	t.Cleanup(func() { require.NoError(t, r.Close()) })

	layered, written := newScratchApplier(t, r), newScratchApplier(t, r)
	show := func(a *applier) map[string]string {
		return dump(t, &Store{state: a.db, applier: a, filters: a.filters})
	}
	up := func(end uint64) func(uint64) ([]statemachine.Record, error) {
		return func(seq uint64) ([]statemachine.Record, error) {
			if seq > end {
				return nil, nil
			}
			rec, err := r.Record(context.Background(), seq)
			return []statemachine.Record{rec}, err
		}
	}
	last, l := r.end.Load(), &layered.layers
	var end uint64
	for step := 1; end < last; step++ {
		if step%5 == 0 { // a batch that comes to nothing
			_, err := layered.foldBatch(func(seq uint64) ([]statemachine.Record, error) {
				if seq > end+2 {
					return nil, ErrKey
				}
				return up(last)(seq)
			}, nil)
			require.ErrorIs(t, err, ErrKey)
		}
		end = min(end+uint64(step%4+1), last) // batches end within lives
		b, err := layered.foldBatch(up(end), nil)
		require.NoError(t, err)
		require.Equal(t, end, b.cursor)
		l.publish(b)
		switch { // a write takes two batches' time, and another begins three later
		case l.writing != nil && step%2 == 0:
			require.NoError(t, layered.write(l.writing))
			require.LessOrEqual(t, l.written(), end)
		case l.writing == nil && step%3 == 0:
			l.toFile()
		}
		require.NoError(t, written.run(up(end), nil))
		same(t, show(written), show(layered))
	}
	same(t, dump(t, r), show(layered))
}

// newScratchApplier makes an applier of an empty projection.
func newScratchApplier(t *testing.T, r *Store) *applier {
	db, err := createState(filepath.Join(t.TempDir(), stateFile), origin{partition: 3}, true)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return newApplier(db, "scratch", new(filters), r.fold(), r.viewRecord)
}
