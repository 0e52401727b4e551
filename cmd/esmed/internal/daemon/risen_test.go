package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRisen_neverFalls(t *testing.T) {
	var r risen
	for i, step := range []struct{ now, want float64 }{{3, 3}, {5, 5}, {2, 5}, {3, 6}, {0, 6}} {
		got := r.see(map[string]float64{"alpha": step.now})
		require.Equal(t, map[string]float64{"alpha": step.want}, got, "step %d", i)
	}
	require.Equal(t, map[string]float64{"alpha": 6, "beta": 1}, r.see(map[string]float64{"beta": 1}), "one that is gone stays as it was")
}
