package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

func TestTaken_isForgottenWhenTheApplierHasMovedIt(t *testing.T) {
	var tk taken
	first := statemachine.QueueEntry{Message: "m", Part: 1, Seq: 5}
	second := statemachine.QueueEntry{Message: "m", Part: 1, Seq: 9} // the same part, back in the queue
	require.False(t, tk.has(first))
	tk.add(first, 7)
	require.True(t, tk.has(first))
	require.False(t, tk.has(second))
	tk.forget(6)
	require.True(t, tk.has(first))
	tk.add(second, 11)
	tk.forget(7)
	require.False(t, tk.has(first))
	require.True(t, tk.has(second))
}
