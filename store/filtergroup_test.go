package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestFilterGroup: a group knows of each filter what it knows by itself.
func TestFilterGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const messages = 600 // two blocks of ids and of refs
		g, alone := &filterGroup{blocks: blocksFor(messages)}, map[uint32]*filter{}
		of := [...]table{tableIDs, tableRefs, tableDests}
		hash := func(i int) *keyHash {
			h := hashKey(of[i%len(of)], fmt.Appendf(nil, "key %d\x00", i))
			return &h
		}
		keys := rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 50)
		for _, number := range rapid.SliceOfDistinct(rapid.Uint32Range(64, 95), rapid.ID[uint32]).Draw(t, "numbers") {
			f := newFilter(blocksFor(messages))
			for _, i := range keys.Draw(t, "keys") {
				f.add(hash(i))
			}
			g.put(number, f)
			require.True(t, g.has(number))
			for _, i := range keys.Draw(t, "late keys") {
				f.add(hash(i))
				g.add(number, hash(i))
			}
			alone[number] = f
		}
		for number, f := range alone {
			for i := range 1000 {
				require.Equal(t, f.has(hash(i)), g.having(hash(i))&column(number) != 0)
			}
		}
		left := len(alone)
		for number := range alone {
			left--
			require.Equal(t, left == 0, g.drop(number))
			require.False(t, g.has(number))
		}
	})
}
