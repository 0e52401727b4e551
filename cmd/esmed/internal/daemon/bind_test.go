package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRates_areAveragesSinceTheLastLook(t *testing.T) {
	var r rates
	look := func(after time.Duration, submits, receptions uint64) [2]float64 {
		s, d := r.look(paceStart.Add(after), submits, receptions)
		return [2]float64{s, d}
	}
	require.Equal(t, [2]float64{0, 0}, look(0, 0, 0))
	require.Equal(t, [2]float64{0, 0}, look(time.Second, 100, 10), "too soon to say")
	require.Equal(t, [2]float64{50, 5}, look(10*time.Second, 500, 50))
	require.Equal(t, [2]float64{50, 5}, look(11*time.Second, 900, 90), "the same until there is enough to say more")
	require.Equal(t, [2]float64{0, 0}, look(30*time.Second, 500, 50))
}
