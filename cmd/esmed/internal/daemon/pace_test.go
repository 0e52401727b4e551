package daemon

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var paceStart = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// wakes writes as pace says, by someone who is woken late, for a while of its clock, and gives when each
// submit was written.
func (p *pace) wakes(clock time.Duration, max func() int, late func() time.Duration) (writes []time.Time) {
	now := paceStart
	p.lapse(now)
	for now.Before(paceStart.Add(clock)) {
		n, wait := p.allow(now, max())
		if n == 0 {
			now = now.Add(wait + late())
			continue
		}
		p.wrote(now, n)
		for range n {
			writes = append(writes, now)
		}
		now = now.Add(late() / 10)
	}
	return writes
}

// mostIn is how many of the times, which are in order, are within a second that does not hold its end.
func mostIn(times []time.Time) (most int) {
	from := 0
	for i := range times {
		for times[i].Sub(times[from]) >= time.Second {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

func TestPace_keepsToTheLimitHoweverLateItIsAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.OneOf(rapid.Float64Range(0.5, 20), rapid.Float64Range(20, 5000)).Draw(t, "limit")
		slots, lateness := rapid.IntRange(1, 200), rapid.SampledFrom([]int{0, 100, 1000, 20_000, 300_000}).Draw(t, "late by up to µs")
		p := &pace{limit: limit}
		writes := p.wakes(3*time.Second, func() int { return slots.Draw(t, "slots") }, func() time.Duration {
			return time.Duration(rapid.IntRange(0, lateness).Draw(t, "late µs")) * time.Microsecond
		})
		require.LessOrEqual(t, float64(mostIn(writes)), math.Max(math.Ceil(limit), limit*(1+paceExcess)))
	})
}

func TestPace_usesTheLimit(t *testing.T) {
	for _, limit := range []float64{0.5, 1, 1.5, 10, 33.3, 100, 1000, 5000} {
		for _, late := range []time.Duration{0, time.Millisecond, 4 * time.Millisecond} {
			p, stalls := &pace{limit: limit}, 0
			writes := p.wakes(100*time.Second, func() int { return 50 }, func() time.Duration {
				if stalls++; stalls%500 == 0 {
					return 10 * late
				}
				return late
			})
			require.InDelta(t, 1, float64(len(writes))/(100*limit), 0.02, "limit %v, woken %v late", limit, late)
			most := math.Max(math.Ceil(limit), limit*(1+paceExcess))
			require.LessOrEqual(t, float64(mostIn(writes)), most, "limit %v, woken %v late", limit, late)
		}
	}
}

func TestPace_aStallIsCaughtUpWithoutABurst(t *testing.T) {
	p := &pace{limit: 1000, next: paceStart}
	p.wrote(paceStart, 1)
	late := paceStart.Add(201 * time.Millisecond)
	n, _ := p.allow(late, maxSubmits)
	require.Equal(t, 11, n, "a hundredth of a second's")
	p.wrote(late, n)
	now, sent := late, 0
	for now.Before(late.Add(10 * time.Second)) {
		n, wait := p.allow(now, maxSubmits)
		if n == 0 {
			now = now.Add(wait)
			continue
		}
		p.wrote(now, n)
		sent += n
	}
	require.InDelta(t, 10_050, sent, 5, "half of a percent more")
}

func TestPace_whatWasNotAskedForIsNotCaughtUp(t *testing.T) {
	p := &pace{limit: 1000}
	p.wrote(paceStart, 1)
	later := paceStart.Add(time.Minute)
	p.lapse(later)
	n, _ := p.allow(later, 100)
	require.Equal(t, 1, n)
}

func TestPace_makesReadyWhatIsDueSoon(t *testing.T) {
	p := &pace{limit: 1000, next: paceStart}
	n, _ := p.ready(paceStart, 0, maxSubmits)
	require.Equal(t, 101, n, "what is due within paceAhead, and the one that is due now")
	n, wait := p.ready(paceStart, n, maxSubmits)
	require.Zero(t, n)
	require.Equal(t, 51*time.Millisecond, wait, "half of it at a time")
	p.next = paceStart.Add(52 * time.Millisecond) // since 52 were written when they were due
	n, _ = p.ready(paceStart.Add(wait), 49, maxSubmits)
	require.Equal(t, 51, n)
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
