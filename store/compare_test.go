package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestComparison_rows changes one row of a table that is compared in several pieces, at their edges too.
func TestComparison_rows(t *testing.T) {
	const count = 2*compareRows + 3
	id, keyOf := tableID{table: tableMeta}, func(i int) []byte { return fmt.Appendf(nil, "%06d", 2*i) }
	whole := newOverlay()
	for i := range count {
		whole.put(id, keyOf(i), []byte{byte(i)})
	}
	for _, c := range []struct {
		name, want string
		change     func(o *overlay, i int)
	}{
		{"all agrees", "", func(*overlay, int) {}},
		{"a row was taken away", "is missing", func(o *overlay, i int) { o.delete(id, keyOf(i)) }},
		{"a row was put there", "does not follow from the log", func(o *overlay, i int) { o.put(id, fmt.Appendf(nil, "%06d", 2*i+1), []byte{}) }},
		{"a row has another value", "is not what the log says", func(o *overlay, i int) { o.put(id, keyOf(i), []byte{byte(i), 0}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, i := range []int{0, compareRows - 1, compareRows, 2*compareRows - 1, 2 * compareRows, count - 1} {
				stored := newOverlay()
				for key, value := range whole.table(id).all() {
					stored.put(id, key, value)
				}
				c.change(stored, i)
				err := compareAll(id, newStateTx(nil, stored), newStateTx(nil, whole))
				if c.want == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorContains(t, err, c.want, "row %d", i)
			}
		})
	}
}

// compareAll compares a table as comparison.table does.
func compareAll(id tableID, stored, anew *stateTx) error {
	c := comparison{v: new(verifier), taken: newTaken("1")}
	var after []byte
	for {
		last, err := c.rows(id, newSide(stored, id, after), newSide(anew, id, after))
		if last == nil || err != nil {
			return err
		}
		after = slices.Clone(last)
	}
}
