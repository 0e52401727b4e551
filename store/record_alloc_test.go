//go:build !race

package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEncoder_allocations: a record is encoded, and its texts are sealed, in the room that there is.
func TestEncoder_allocations(t *testing.T) {
	var e encoder
	for _, r := range lifeRecords(t, 1) {
		buf := r.append(&e, nil)
		require.Zero(t, testing.AllocsPerRun(100, func() { buf = r.append(&e, buf[:0]) }), r.name())
	}
}

// TestIntake_allocations: requests go to the writer in room that is used again.
func TestIntake_allocations(t *testing.T) {
	i := newIntake()
	r := requestOf(1)
	var taken []request
	round := func() {
		for range 100 {
			if _, err := i.put(r); err != nil {
				panic(err)
			}
		}
		taken = i.take(taken[:0])
	}
	require.Zero(t, testing.AllocsPerRun(10, round))
	require.Len(t, taken, 100)
}

// TestUniqueness_allocations: a claim costs a look-up, and the ref under which it is found until it is applied.
func TestUniqueness_allocations(t *testing.T) {
	const most = 2
	s := startIn(t, testConfig(t.TempDir()))
	u := uniqueness{s: s.Store, pending: make(map[string]pendingRef)}
	defer u.end()
	a := message("M1", "order-1", "a text")
	claim := func() {
		if _, repeat, err := u.claim(a, 7, began); err != nil || repeat {
			panic("it is new")
		}
		u.forget(7)
	}
	claim()
	require.LessOrEqual(t, testing.AllocsPerRun(100, claim), float64(most))
}

// TestHashRecord_allocations: nor does the chain take any for a record.
func TestHashRecord_allocations(t *testing.T) {
	var c chain
	value := make([]byte, 300)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		c.add(hashRecord(1, value))
		c.abandon()
	}))
}
