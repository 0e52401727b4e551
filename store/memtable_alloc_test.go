//go:build !race

package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOverlay_allocations: once it has the room, a batch's changes cost none.
func TestOverlay_allocations(t *testing.T) {
	const rows = 2000
	o, id := newOverlay(), tableID{table: tableQueue}
	keys := make([][]byte, rows)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "alpha%08x", uint32(i)*2654435761)
	}
	value := make([]byte, 300)
	batch := func() {
		o.reset()
		for _, key := range keys {
			o.put(id, key, value)
		}
		for _, key := range keys {
			if v, ok := o.get(id, key); !ok || len(v) != len(value) {
				panic("a row is missing")
			}
		}
		o.sort()
	}
	require.Zero(t, testing.AllocsPerRun(10, batch))
}
