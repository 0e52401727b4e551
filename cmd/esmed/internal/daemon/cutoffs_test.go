package daemon

import (
	"cmp"
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
	"esmed/store"
)

// fakeWindows are windows that end when a cutoff says so, as the fold has it.
type fakeWindows struct {
	changed chan struct{}
	open    []store.Due // by their end
	passes  int
	appends []int // facts of each
	at      []time.Time
}

func (f *fakeWindows) Changed() <-chan struct{} { return f.changed }

func (f *fakeWindows) change() {
	was := f.changed
	f.changed = make(chan struct{})
	close(was)
}

func (f *fakeWindows) add(smsc string, at time.Time, id statemachine.ID) {
	f.open = append(f.open, store.Due{At: at, SMSC: smsc, Message: id, Part: 1})
}

func (f *fakeWindows) Due(_ context.Context, now time.Time, after store.Due, limit int) (due []store.Due, _ error) {
	if after == (store.Due{}) {
		f.passes++
	}
	for _, d := range f.open {
		if behind := cmp.Or(d.At.Compare(after.At), cmp.Compare(d.Message, after.Message)) > 0; behind && !d.At.After(now) && len(due) < limit {
			due = append(due, d)
		}
	}
	return due, nil
}

func (f *fakeWindows) NextWindow(_ context.Context, now time.Time) (time.Time, bool, error) {
	for _, d := range f.open {
		if d.At.After(now) {
			return d.At, true, nil
		}
	}
	return time.Time{}, false, nil
}

func (f *fakeWindows) Append(_ context.Context, facts ...statemachine.Fact) ([]statemachine.Record, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	f.appends = append(f.appends, len(facts))
	f.at = append(f.at, time.Now())
	ended := map[statemachine.ID]bool{}
	for _, fact := range facts {
		ended[fact.(*statemachine.Cutoff).Message] = true
	}
	var left []store.Due
	for _, d := range f.open {
		if !ended[d.Message] {
			left = append(left, d)
		}
	}
	f.open = left
	return nil, nil
}

// running runs cutoffs over fake windows for a test in a bubble.
func running(t *testing.T, f *fakeWindows, c *cutoffs) {
	c.store, c.log = f, zap.NewNop()
	if c.doubted == nil {
		c.doubted = func() bool { return false }
	}
	if c.hold == nil {
		c.hold = func(store.Due) bool { return false }
	}
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { return c.run(ctx) })
	t.Cleanup(func() {
		cancel()
		require.NoError(t, g.Wait())
	})
	synctest.Wait()
}

func TestCutoffs_endWindowsAtTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeWindows{changed: make(chan struct{})}
		began := time.Now()
		for i, in := range []time.Duration{time.Hour, 2 * time.Hour} {
			f.add("alpha", began.Add(in), statemachine.ID(rune('a'+i)))
		}
		running(t, f, &cutoffs{})
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		require.Equal(t, []int{1, 1}, f.appends)
		for i, in := range []time.Duration{time.Hour, 2 * time.Hour} {
			require.WithinDuration(t, began.Add(in), f.at[i], 2*cutoffEvery)
		}
		require.Less(t, f.passes, 200, "nothing is looked at without need")
		passes := f.passes
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		require.Equal(t, passes, f.passes, "without windows it sleeps")
	})
}

func TestCutoffs_catchUpInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeWindows{changed: make(chan struct{})}
		for i := range 2*cutoffBatch + 1 {
			f.add("alpha", time.Now().Add(-time.Hour), statemachine.ID(rune(i)))
		}
		running(t, f, &cutoffs{})
		require.Equal(t, []int{cutoffBatch, cutoffBatch, 1}, f.appends)
	})
}

func TestCutoffs_seeAWindowThatComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeWindows{changed: make(chan struct{})}
		f.add("alpha", time.Now().Add(72*time.Hour), "a")
		running(t, f, &cutoffs{})
		time.Sleep(5 * time.Second)
		synctest.Wait()
		f.open = nil
		f.add("alpha", time.Now().Add(5*time.Second), "b")
		f.change()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, []int{1}, f.appends)
	})
}

func TestCutoffs_waitWhileTheClockIsInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeWindows{changed: make(chan struct{})}
		f.add("alpha", time.Now().Add(-time.Hour), "a")
		var doubted atomic.Bool
		doubted.Store(true)
		running(t, f, &cutoffs{doubted: doubted.Load})
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Empty(t, f.appends)
		doubted.Store(false)
		time.Sleep(clockEvery + 2*cutoffEvery)
		synctest.Wait()
		require.Equal(t, []int{1}, f.appends)
	})
}

func TestCutoffs_leaveToOthersWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeWindows{changed: make(chan struct{})}
		f.add("alpha", time.Now().Add(-time.Hour), "asked about")
		f.add("beta", time.Now().Add(-time.Hour), "not asked about")
		running(t, f, &cutoffs{hold: func(d store.Due) bool { return d.SMSC == "alpha" }})
		require.Equal(t, []int{1}, f.appends)
		require.Len(t, f.open, 1)
		require.Equal(t, "alpha", f.open[0].SMSC)
	})
}
