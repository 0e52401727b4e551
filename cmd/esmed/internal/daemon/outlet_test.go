package daemon

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"esmed/smpp"
)

// wire notes what an outlet does, by the clock of the bubble. Its owner reads it when the outlet has ended.
type wire struct {
	writes   []time.Time
	numbers  []uint32
	released int
}

func (w *wire) Send(submits []smpp.Submit) error {
	for i := range submits {
		w.writes = append(w.writes, time.Now())
		w.numbers = append(w.numbers, submits[i].Slot.SequenceNumber)
	}
	return nil
}

func (w *wire) Release(slots ...smpp.Slot) { w.released += len(slots) }

// submits are n of them, numbered from from.
func submits(from, n int, done func(smpp.Answer)) []smpp.Submit {
	all := make([]smpp.Submit, n)
	for i := range all {
		all[i] = smpp.Submit{Slot: smpp.Slot{Session: "alpha/1", SequenceNumber: uint32(from + i)}, Done: done}
	}
	return all
}

func TestOutlet_aSlowStoreHoldsNothingUp(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]float64{0.5, 10, 100, 1000, 5000}).Draw(t, "limit")
		commit := rapid.IntRange(1, 49).Draw(t, "a commit takes up to ms")
		slots := max(1, int(limit/4))
		took := rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(1, commit).Draw(t, "commit ms")) * time.Millisecond
		})
		commits := rapid.SliceOfN(took, 50, 50).Draw(t, "commits")
		seconds := max(2, int(50/limit))
		w := new(wire)
		synctest.Test(outer, func(*testing.T) {
			o := newOutlet(w, limit)
			ctx, stop := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
			defer stop()
			var g errgroup.Group
			g.Go(func() error { return o.run(ctx) })
			for made := 0; ctx.Err() == nil; {
				n, wait := o.room(time.Now(), slots)
				if n > 0 {
					wait = commits[made%len(commits)]
				}
				<-time.After(wait)
				require.NoError(t, o.put(submits(made+1, n, func(smpp.Answer) {})))
				made += n
			}
			require.NoError(t, g.Wait())
		})
		require.LessOrEqual(t, float64(mostIn(w.writes)), math.Max(math.Ceil(limit), limit*(1+paceExcess)))
		last := w.writes[len(w.writes)-1]
		require.GreaterOrEqual(t, float64(len(w.writes)-1)/last.Sub(w.writes[0]).Seconds(), 0.98*limit)
		for i, number := range w.numbers {
			require.EqualValues(t, i+1, number, "in order")
		}
	})
}

func TestOutlet_withoutLimitWritesAtOnce(t *testing.T) {
	w := new(wire)
	o := newOutlet(w, 0)
	n, _ := o.room(time.Now(), 500)
	require.Equal(t, 500, n)
	require.NoError(t, o.put(submits(1, 500, nil)))
	require.Len(t, w.writes, 500)
}

func TestOutlet_theEndHandsBackWhatIsNotDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(wire)
		o := newOutlet(w, 25)
		ctx, stop := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { return o.run(ctx) })
		var back []uint32
		done := func(a smpp.Answer) {
			require.Equal(t, smpp.NotWritten, a.Outcome)
			require.Equal(t, "alpha/1", a.Session)
			back = append(back, a.SequenceNumber)
		}
		require.NoError(t, o.put(submits(1, 6, done)))
		synctest.Wait()
		require.Len(t, w.writes, 1)
		stop()
		require.NoError(t, g.Wait())
		require.Equal(t, []uint32{1, 2, 3}, w.numbers, "what is due soon still leaves")
		require.NoError(t, o.put(submits(7, 1, done)))
		require.Equal(t, []uint32{4, 5, 6, 7}, back)
		require.Equal(t, 4, w.released)
	})
}

func TestOutlet_aRefusalSlowsWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(wire)
		o := newOutlet(w, 0)
		require.NoError(t, o.put(submits(1, 100, nil)))
		ctx, stop := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { return o.run(ctx) })
		began := time.Now()
		o.throttled(began, began)
		require.NoError(t, o.put(submits(101, 10, nil)))
		<-time.After(paceRecovery)
		stop()
		require.NoError(t, g.Wait())
		require.Len(t, w.writes, 110)
		require.Equal(t, 20*time.Millisecond, w.writes[100].Sub(began), "50 a second are half of what it was sent")
	})
}

func TestOutlet_whatIsRecalledWaitsAgainAndTheRestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(wire)
		o := newOutlet(w, 10)
		ctx, stop := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { return o.run(ctx) })
		var back []uint32
		done := func(a smpp.Answer) {
			require.Equal(t, smpp.NotWritten, a.Outcome)
			back = append(back, a.SequenceNumber)
		}
		require.NoError(t, o.put(submits(1, 3, done)))
		synctest.Wait()
		o.recall()
		require.Equal(t, []uint32{2, 3}, back, "the first was due at once")
		require.Equal(t, 2, w.released)
		require.NoError(t, o.put(submits(4, 1, done)))
		<-time.After(time.Second)
		stop()
		require.NoError(t, g.Wait())
		require.Equal(t, []uint32{1, 4}, w.numbers)
	})
}
