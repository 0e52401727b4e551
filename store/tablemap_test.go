package store

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTableMap is a map, whose keys come in order.
func TestTableMap(t *testing.T) {
	ids := rapid.Custom(func(t *rapid.T) tableID {
		return tableID{table(rapid.IntRange(0, len(tableNames)-1).Draw(t, "table")), uint32(rapid.IntRange(0, 5).Draw(t, "part"))}
	})
	rapid.Check(t, func(t *rapid.T) {
		var m tableMap[int]
		want := make(map[tableID]int)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				id, value := ids.Draw(t, "id"), rapid.Int().Draw(t, "value")
				m.put(id, value)
				want[id] = value
			},
			"delete": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				m.delete(id)
				delete(want, id)
			},
			"keep": func(t *rapid.T) {
				part := ids.Draw(t, "id").part
				m.keep(func(id tableID, value int) bool {
					require.Equal(t, want[id], value)
					return id.part != part
				})
				for id := range want {
					if id.part == part {
						delete(want, id)
					}
				}
			},
			"": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				value, ok := m.get(id)
				was, there := want[id]
				require.Equal(t, there, ok)
				require.Equal(t, was, value)
				var order []tableID
				for id, value := range m.all() {
					require.Equal(t, want[id], value)
					order = append(order, id)
				}
				require.Len(t, order, len(want))
				require.True(t, slices.IsSortedFunc(order, func(x, y tableID) int {
					return cmp.Or(cmp.Compare(x.table, y.table), cmp.Compare(x.part, y.part))
				}))
			},
		})
	})
}
