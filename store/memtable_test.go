package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestOverlay puts, deletes and looks up as a map would, over what lies below, and walks the same.
func TestOverlay(t *testing.T) {
	id := tableID{table: tableQueue}
	key := rapid.Custom(func(t *rapid.T) string {
		prefix := rapid.SampledFrom([]string{"", "alpha", "alpha\x00"}).Draw(t, "prefix")
		return prefix + string(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'a', 0xFF}), 1, 10).Draw(t, "rest"))
	})
	rapid.Check(t, func(t *rapid.T) {
		o, below := newOverlay(), map[string]string{}
		for _, k := range rapid.SliceOfN(key, 0, 30).Draw(t, "below") {
			below[k] = "below"
		}
		for range 2 { // its room is used again
			o.reset()
			want, changed := maps.Clone(below), map[string]bool{}
			for _, k := range rapid.SliceOfN(key, 0, 60).Draw(t, "keys") {
				changed[k] = true
				switch v := rapid.StringN(0, 5, 5).Draw(t, "value"); {
				case rapid.Bool().Draw(t, "delete"):
					delete(want, k)
					o.delete(id, []byte(k))
				case below[k] == "":
					want[k] = v
					o.putNew(id, []byte(k), []byte(v))
				default:
					want[k] = v
					o.put(id, []byte(k), []byte(v))
				}
			}
			for k := range changed {
				value, ok := o.get(id, []byte(k))
				require.True(t, ok)
				now, there := want[k]
				require.Equal(t, there, value != nil)
				require.Equal(t, now, string(value))
			}
			requireWalk(t, o, id, changed, want)
			written := flushed{rows: maps.Clone(below), t: t}
			require.NoError(t, o.flush(&written))
			require.Equal(t, want, written.rows)
		}
	})
}

// requireWalk walks all that was changed, in both directions and from some keys on.
func requireWalk(t *rapid.T, o *overlay, id tableID, changed map[string]bool, want map[string]string) {
	keys := slices.Sorted(maps.Keys(changed))
	prefix := rapid.SampledFrom([]string{"", "alpha", "a", "alpha\x00\xFF", "\xFF"}).Draw(t, "prefix")
	after := rapid.SampledFrom(append([]string{"", "alpha"}, keys...)).Draw(t, "after")
	for _, reverse := range []bool{false, true} {
		var expected, got []string
		for _, k := range keys {
			if behind := after == "" || k > after && !reverse || k < after && reverse; behind && strings.HasPrefix(k, prefix) {
				expected = append(expected, k)
			}
		}
		if reverse {
			slices.Reverse(expected)
		}
		table := o.sorted(id)
		if table == nil {
			require.Empty(t, expected)
			continue
		}
		s := &memSource{table: table}
		var from []byte
		if after != "" {
			from = []byte(after)
		}
		s.begin([]byte(prefix), from, reverse)
		for k, v := s.current(); k != nil; k, v = s.current() {
			got = append(got, string(k))
			now, there := want[string(k)]
			require.Equal(t, there, v != nil)
			require.Equal(t, now, string(v))
			s.advance()
		}
		// Behind a key that does not begin with the prefix there is no promise of what comes.
		if after == "" || strings.HasPrefix(after, prefix) {
			require.Equal(t, expected, got)
		}
	}
}

// flushed takes what an overlay writes, in order and nothing in vain.
type flushed struct {
	t    *rapid.T
	rows map[string]string
	last []byte
}

func (f *flushed) put(_ tableID, key, value []byte) error {
	f.inOrder(key)
	f.rows[string(key)] = string(value)
	return nil
}

func (f *flushed) delete(_ tableID, key []byte) error {
	f.inOrder(key)
	delete(f.rows, string(key))
	return nil
}

func (f *flushed) inOrder(key []byte) {
	if f.last != nil {
		require.Negative(f.t, bytes.Compare(f.last, key))
	}
	f.last = bytes.Clone(key)
}

func TestOverlay_putAndTakenAway(t *testing.T) {
	o, id := newOverlay(), tableID{table: tableQueue}
	o.putNew(id, []byte("came and went"), nil)
	o.delete(id, []byte("came and went"))
	o.delete(id, []byte("was there"))
	var deleted []string
	require.NoError(t, o.flush(deletions(func(key string) { deleted = append(deleted, key) })))
	require.Equal(t, []string{"was there"}, deleted)
}

type deletions func(key string)

func (d deletions) put(tableID, []byte, []byte) error { return nil }

func (d deletions) delete(_ tableID, key []byte) error {
	d(string(key))
	return nil
}

func BenchmarkOverlay(b *testing.B) {
	o, id := newOverlay(), tableID{table: tableQueue}
	key, value := make([]byte, 0, 64), make([]byte, 200)
	b.ReportAllocs()
	for i := range b.N {
		if i%applyBatch == 0 {
			o.sorted(id)
			o.reset()
		}
		key = fmt.Appendf(key[:0], "alpha%08x-0000", uint32(i)*2654435761)
		o.put(id, key, value)
		o.get(id, key)
	}
}
