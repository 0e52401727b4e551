package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
	"esmed/store"
)

// waitingQueue is a store with one queue, of alpha. Its owner changes it while expiries wait.
type waitingQueue struct {
	ends  []store.QueueEnd
	read  map[*store.EndsCursor]int // how far
	reads int                       // entries read
	ended map[statemachine.ID]time.Time
	full  bool
}

func (q *waitingQueue) QueueStats(context.Context) ([]store.QueueStat, error) {
	return []store.QueueStat{{SMSC: "alpha", Waiting: int64(len(q.ends))}, {SMSC: "beta"}}, nil
}

func (q *waitingQueue) QueueEnds(_ context.Context, _ string, _ time.Time, cur *store.EndsCursor, limit int) ([]store.QueueEnd, bool, error) {
	from := q.read[cur]
	to := min(from+limit, len(q.ends))
	q.read[cur] = to
	q.reads += to - from
	page := slices.DeleteFunc(slices.Clone(q.ends[from:to]), func(e store.QueueEnd) bool {
		_, ended := q.ended[e.Message]
		return ended
	})
	return page, to-from == limit, nil
}

func (q *waitingQueue) Append(_ context.Context, facts ...statemachine.Fact) ([]statemachine.Record, error) {
	if q.full {
		return nil, store.ErrDiskFull
	}
	for _, f := range facts {
		id := f.(*statemachine.QueueExpired).Message
		if _, again := q.ended[id]; again {
			return nil, errors.New("ended twice")
		}
		q.ended[id] = time.Now()
	}
	return nil, nil
}

func (q *waitingQueue) Sync(context.Context) error { return nil }

func TestExpiries(t *testing.T) {
	// expiring runs expiries over n messages; the validity of the kth ends as ends says.
	expiring := func(t *testing.T, n int, ends func(k int) time.Duration, test func(q *waitingQueue, doubt *bool)) {
		synctest.Test(t, func(t *testing.T) {
			q := &waitingQueue{read: map[*store.EndsCursor]int{}, ended: map[statemachine.ID]time.Time{}}
			began := time.Now()
			for k := range n {
				end := store.QueueEnd{Message: statemachine.ID(fmt.Sprintf("M%d", k))}
				if d := ends(k); d > 0 {
					end.ValidUntil = began.Add(d)
				}
				q.ends = append(q.ends, end)
			}
			doubt := false
			e := newExpiries(q, newGates(&applied{}), func() bool { return doubt }, zap.NewNop())
			ctx, stop := context.WithCancel(t.Context())
			var g errgroup.Group
			g.Go(func() error { return e.run(ctx) })
			test(q, &doubt)
			stop()
			require.NoError(t, g.Wait())
		})
	}
	pass := func() {
		<-time.After(expiryEvery)
		synctest.Wait()
	}
	t.Run("of many that wait long each that is over is ended within a second or two", func(t *testing.T) {
		every := func(k int) time.Duration {
			if k%100 == 0 {
				return time.Duration(k/100) * time.Minute
			}
			return 72 * time.Hour
		}
		expiring(t, 3000, every, func(q *waitingQueue, _ *bool) {
			began := time.Now()
			<-time.After(time.Hour)
			require.Len(t, q.ended, 29, "the first has no end")
			for id, at := range q.ended {
				var k int
				_, err := fmt.Sscanf(string(id), "M%d", &k)
				require.NoError(t, err)
				require.InDelta(t, every(k).Seconds()+1, at.Sub(began).Seconds(), 1)
			}
		})
	})
	t.Run("what was read is not read again while nothing of it ends", func(t *testing.T) {
		expiring(t, 3000, func(int) time.Duration { return time.Hour }, func(q *waitingQueue, _ *bool) {
			<-time.After(30 * time.Minute)
			require.Equal(t, 3000, q.reads)
			q.ends = append(q.ends, store.QueueEnd{Message: "new", ValidUntil: time.Now()})
			pass()
			require.Equal(t, 3001, q.reads)
			require.Len(t, q.ended, 1)
		})
	})
	t.Run("while the clock is in doubt nothing ends, and then all that has", func(t *testing.T) {
		expiring(t, 3, func(k int) time.Duration { return time.Second * time.Duration(k+5) }, func(q *waitingQueue, doubt *bool) {
			pass()
			*doubt = true
			<-time.After(time.Minute)
			require.Empty(t, q.ended)
			*doubt = false
			pass()
			require.Len(t, q.ended, 3)
		})
	})
	t.Run("what there was no room to record is found again", func(t *testing.T) {
		expiring(t, 3, func(int) time.Duration { return time.Millisecond }, func(q *waitingQueue, _ *bool) {
			q.full = true
			pass()
			require.Empty(t, q.ended)
			q.full = false
			pass()
			require.Len(t, q.ended, 3)
		})
	})
}
