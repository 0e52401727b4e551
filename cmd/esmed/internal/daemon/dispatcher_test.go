package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/statemachine"
)

// A hold that comes while a round's records are made durable finds nothing at the outlet to recall.
func TestDispatcher_writesNothingOnceItsQueueIsHeld(t *testing.T) {
	for name, limit := range map[string]float64{"no limit": 0, "a limit": 1000} {
		t.Run(name, func(t *testing.T) {
			w := new(wire)
			g := newGates(nil).of("alpha")
			d := &dispatcher{gate: g, outlet: newOutlet(w, limit)}
			var came []smpp.Outcome
			b := &batch{submits: submits(1, 3, func(a smpp.Answer) { came = append(came, a.Outcome) })}
			g.turn(statemachine.Hold{Seq: 7})
			require.NoError(t, d.write(b))
			require.Empty(t, w.writes)
			require.Empty(t, d.outlet.held)
			require.Equal(t, 3, w.released)
			require.Equal(t, []smpp.Outcome{smpp.NotWritten, smpp.NotWritten, smpp.NotWritten}, came)
		})
	}
}
