package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

func TestIDs_growWhateverTheClockDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var newest statemachine.ID
		for range rapid.IntRange(1, 3).Draw(t, "processes") {
			s := newIDs(newest)
			for _, offset := range rapid.SliceOfN(rapid.Int64Range(-5000, 5000), 1, 20).Draw(t, "clock, ms") {
				id := s.next(noon.Add(time.Duration(offset) * time.Millisecond))
				require.Len(t, id, 26)
				require.Greater(t, id, newest)
				newest = id
			}
		}
	})
}

func TestIDs_tellTheTimeOfAClockThatGoesForward(t *testing.T) {
	s := newIDs("")
	require.Equal(t, "01M8P570G0", string(s.next(noon)[:10]))
	require.Equal(t, "01M8P570G1", string(s.next(noon.Add(time.Millisecond))[:10]))
}
