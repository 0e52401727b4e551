package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
	"esmed/store"
)

// waitingQueue is a store with one queue, of alpha, and a clock that may be in doubt.
type waitingQueue struct {
	mu    sync.Mutex // guards the rest
	doubt bool
	ends  []store.QueueEnd
	read  map[*store.EndsCursor]int // how far
	reads int                       // entries read
	ended map[statemachine.ID]time.Time
	full  bool
}

func (q *waitingQueue) QueueStats(context.Context) ([]store.QueueStat, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return []store.QueueStat{{SMSC: "alpha", Waiting: int64(len(q.ends))}, {SMSC: "beta"}}, nil
}

func (q *waitingQueue) QueueEnds(_ context.Context, _ string, _ time.Time, cur *store.EndsCursor, limit int) ([]store.QueueEnd, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
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
	q.mu.Lock()
	defer q.mu.Unlock()
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

func (q *waitingQueue) doubted() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.doubt
}

// after looks at it, or changes it, when some time has passed.
func (q *waitingQueue) after(d time.Duration, look func()) {
	<-time.After(d)
	synctest.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	look()
}

func TestExpiries(t *testing.T) {
	// expiring runs expiries over n messages; the validity of the kth ends as ends says.
	expiring := func(t *testing.T, n int, ends func(k int) time.Duration, test func(q *waitingQueue)) {
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
			e := newExpiries(q, newGates(&applied{}), q.doubted, zap.NewNop())
			ctx, stop := context.WithCancel(t.Context())
			var g errgroup.Group
			g.Go(func() error { return e.run(ctx) })
			test(q)
			stop()
			require.NoError(t, g.Wait())
		})
	}
	t.Run("of many that wait long each that is over is ended within a pass or two", func(t *testing.T) {
		every := func(k int) time.Duration {
			if k%100 == 0 {
				return time.Duration(k/100) * time.Minute
			}
			return 72 * time.Hour
		}
		expiring(t, 3000, every, func(q *waitingQueue) {
			began := time.Now()
			q.after(time.Hour, func() {
				require.Len(t, q.ended, 29, "the first has no end")
				for id, at := range q.ended {
					var k int
					_, err := fmt.Sscanf(string(id), "M%d", &k)
					require.NoError(t, err)
					require.WithinRange(t, at, began.Add(every(k)), began.Add(every(k)+2*expiryEvery))
				}
			})
		})
	})
	t.Run("what was read is not read again while nothing of it ends", func(t *testing.T) {
		expiring(t, 3000, func(int) time.Duration { return time.Hour }, func(q *waitingQueue) {
			q.after(30*time.Minute, func() {
				require.Equal(t, 3000, q.reads)
				q.ends = append(q.ends, store.QueueEnd{Message: "new", ValidUntil: time.Now()})
			})
			q.after(expiryEvery, func() {
				require.Equal(t, 3001, q.reads)
				require.Len(t, q.ended, 1)
			})
		})
	})
	t.Run("while the clock is in doubt nothing ends, and then all that has", func(t *testing.T) {
		expiring(t, 3, func(k int) time.Duration { return expiryEvery + time.Duration(k+1)*time.Second }, func(q *waitingQueue) {
			q.after(expiryEvery, func() { q.doubt = true })
			q.after(time.Minute, func() {
				require.Empty(t, q.ended)
				q.doubt = false
			})
			q.after(expiryEvery, func() { require.Len(t, q.ended, 3) })
		})
	})
	t.Run("what there was no room to record is found again", func(t *testing.T) {
		expiring(t, 3, func(int) time.Duration { return time.Millisecond }, func(q *waitingQueue) {
			q.after(0, func() { q.full = true })
			q.after(expiryEvery, func() {
				require.Empty(t, q.ended)
				q.full = false
			})
			q.after(expiryEvery, func() { require.Len(t, q.ended, 3) })
		})
	})
}
