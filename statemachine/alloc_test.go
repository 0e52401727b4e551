//go:build !race

package statemachine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestStep_allocations: a record costs its message, in one piece, an attempt or an event that is new, and the strings
// that were read.
func TestStep_allocations(t *testing.T) {
	most := map[string]float64{"accepted": 1, "sent": 2, "submit_resp": 3, "reception": 4}
	var eff statemachine.Effects
	for _, tr := range lifeByRecord(t) {
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
			require.NoError(t, tr.mem.Fold.Step(tr.mem, tr.rec, &eff))
		}), most[tr.name], tr.name)
		require.Empty(t, eff.NoEffect)
	}
}
