package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var paceStart = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestPace_neverExceedsTheLimitInAnySecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 2000).Draw(t, "limit")
		p := &pace{limit: float64(limit)}
		now := paceStart
		var written []time.Time
		for len(written) < 3*limit && len(written) < 3000 {
			n, wait := p.allow(now, rapid.IntRange(1, 200).Draw(t, "slots"))
			if n == 0 {
				now = now.Add(wait)
				continue
			}
			// The commit between asking and writing takes its time, now and then much of it.
			now = now.Add(time.Duration(rapid.IntRange(0, 80_000).Draw(t, "commit µs")) * time.Microsecond)
			p.wrote(now, n)
			for range n {
				written = append(written, now)
			}
		}
		most := int(float64(limit) * (1 + paceSlack))
		for i := most; i < len(written); i++ {
			require.GreaterOrEqual(t, written[i].Sub(written[i-most]), time.Second-time.Microsecond,
				"submits %d to %d of a limit of %d", i-most, i, limit)
		}
	})
}

func TestPace_usesTheLimit(t *testing.T) {
	for _, limit := range []int{1, 10, 100, 1000} {
		p, now, sent := &pace{limit: float64(limit)}, paceStart, 0
		for now.Before(paceStart.Add(10 * time.Second)) {
			n, wait := p.allow(now, 50)
			if n == 0 {
				now = now.Add(wait)
				continue
			}
			now = now.Add(500 * time.Microsecond) // a commit
			p.wrote(now, n)
			sent += n
		}
		require.InEpsilon(t, 10*limit, sent, 0.03, "limit %d", limit)
	}
}

func TestPace_throttling(t *testing.T) {
	t.Run("an SMSC without limit is sent half of what it was sent, and all of it again within seconds", func(t *testing.T) {
		p := &pace{}
		p.wrote(paceStart, 100)
		p.throttled(paceStart, paceStart)
		require.InDelta(t, 50, p.rate(paceStart), 1)
		require.InDelta(t, 100, p.rate(paceStart.Add(time.Second)), 2)
		n, wait := p.allow(paceStart, 100)
		require.Zero(t, n)
		require.Positive(t, wait)
		require.Zero(t, p.rate(paceStart.Add(paceRecovery)))
	})
	t.Run("refusals of what was already under way count once", func(t *testing.T) {
		p := &pace{limit: 100}
		p.wrote(paceStart, 100)
		p.throttled(paceStart.Add(time.Millisecond), paceStart)
		once := p.rate(paceStart.Add(time.Millisecond))
		p.throttled(paceStart.Add(2*time.Millisecond), paceStart)
		require.InDelta(t, once, p.rate(paceStart.Add(time.Millisecond)), 0.1)
	})
	t.Run("the rate never falls under one a second and returns to the limit", func(t *testing.T) {
		p := &pace{limit: 20}
		for i := range 20 {
			at := paceStart.Add(time.Duration(i) * time.Millisecond)
			p.throttled(at, at)
		}
		require.InDelta(t, 1, p.rate(paceStart.Add(19*time.Millisecond)), 0.1)
		require.EqualValues(t, 20, p.rate(paceStart.Add(6*time.Second)))
	})
}
