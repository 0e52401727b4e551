package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

func TestStrays(t *testing.T) {
	began := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	event := func(detail string) *statemachine.SessionEvent {
		return &statemachine.SessionEvent{Detail: detail, PDU: []byte(detail)}
	}
	var s strays
	require.Nil(t, s.rest(began))
	require.True(t, s.take(event("a"), began), "the first is recorded by itself")
	require.Nil(t, s.rest(began))
	for _, detail := range []string{"b", "c", "d"} {
		require.False(t, s.take(event(detail), began.Add(time.Second)))
	}
	e := s.rest(began.Add(10 * time.Second))
	require.Equal(t, "b, the first of 3 responses to nothing outstanding", e.Detail)
	require.Equal(t, []byte("b"), e.PDU)
	require.False(t, s.take(event("e"), began.Add(11*time.Second)), "a record was made a second ago")
	require.Equal(t, "e", s.rest(began.Add(20*time.Second)).Detail)
	require.True(t, s.take(event("f"), began.Add(30*time.Second)), "that was long ago")
}

// However they come, all are counted, and a record is made every ten seconds at most.
func TestStrays_countAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s strays
		now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		began, due := now, time.Time{}
		taken, told, records := 0, 0, 0
		tell := func() {
			waits := s.count
			if e := s.rest(now); e != nil {
				told, records = told+waits, records+1
			}
			due = time.Time{}
		}
		for _, after := range rapid.SliceOfN(rapid.IntRange(0, 15), 0, 50).Draw(t, "seconds between") {
			next := now.Add(time.Duration(after) * time.Second)
			if !due.IsZero() && !next.Before(due) {
				now = due
				tell()
			}
			now = next
			taken++
			if s.take(&statemachine.SessionEvent{}, now) {
				told, records = told+1, records+1
			} else if due.IsZero() {
				due = now.Add(strayEvery)
			}
		}
		tell()
		require.Equal(t, taken, told)
		require.LessOrEqual(t, records, int(now.Sub(began)/strayEvery)+2, "one more at the session's end")
	})
}
