package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// commits are how long the writer's took.
type commits struct {
	mu   sync.Mutex
	took []time.Duration
}

func (c *commits) add(_ int, elapsed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, elapsed)
}

func (c *commits) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = nil
}

// tell reports what came since it was last called.
func (c *commits) tell(b *testing.B, of string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.took)
	n := len(c.took)
	slow := 0
	for _, took := range c.took {
		if took > 50*time.Millisecond {
			slow++
		}
	}
	b.Logf("%s: %d commits, p50 %v, p99 %v, p99.9 %v, max %v, %d over 50ms", of, n, c.took[n/2], c.took[n*99/100], c.took[n*999/1000], c.took[n-1], slow)
	b.ReportMetric(float64(c.took[n-1].Microseconds())/1000, of+"-max-ms")
	b.ReportMetric(float64(c.took[n*99/100].Microseconds())/1000, of+"-p99-ms")
	c.took = nil
}

// BenchmarkRetention drops the oldest third of what a store holds while lives go on at retentionRate a second, and
// before that lets them go on for a while alone. It tells how long the log's commits took. One round is enough:
// -benchtime 1x.
func BenchmarkRetention(b *testing.B) {
	const (
		lives = 300_000
		alone = 5 * time.Second
	)
	var c commits
	cfg := testConfig(b.TempDir())
	cfg.SegmentRecords, cfg.OnCommit = 200_000, c.add
	var ahead atomic.Int64 // of the clock
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	s := fillWith(b, cfg, lives/3)
	old := cfg.Now()
	ahead.Store(int64(24 * time.Hour))
	s.live(b, livesFrom(lives/3, lives), 1024)
	ctx, stop := context.WithCancel(context.Background())
	require.NoError(b, s.Sync(ctx))
	c.forget()
	var load sync.WaitGroup
	load.Go(func() { s.paced(ctx, b) })
	pause(alone)
	c.tell(b, "alone")

	began, before := time.Now(), cpu()
	var all RetentionStep
	var slowest time.Duration
	for {
		at := time.Now()
		step, err := s.Retire(ctx, Retention{Messages: old, Inbox: old, Exceptions: old, Log: old})
		require.NoError(b, err)
		took := time.Since(at)
		slowest = max(slowest, took)
		if all = all.Add(step); !step.More {
			break
		}
		pause(3 * took) // as the daemon does
	}
	b.Logf("%+v in %v, %v of CPU with the lives, slowest step %v", all, time.Since(began), cpu()-before, slowest)
	c.tell(b, "retiring")
	stop()
	load.Wait()
	require.NoError(b, s.stop())
}

func pause(d time.Duration) { <-time.After(d) }

// retentionRate is how many lives a second go on beside retention.
const retentionRate = 2000

// paced lets lives go on until ctx is done, a few milliseconds' at a time.
func (r *running) paced(ctx context.Context, b *testing.B) {
	const tick = 5 * time.Millisecond
	first := r.end.Load()
	pace := time.NewTicker(tick)
	defer pace.Stop()
	var under [][]statemachine.Fact // lives of the ticks before, that have a step to go
	for n := 0; ctx.Err() == nil; <-pace.C {
		for range int(retentionRate * tick / time.Second) {
			id := fmt.Sprintf("7%010d%015d", first, n)
			under = append(under, lifeTo(fmt.Sprintf("39333%07d", n%10000000), id, "x"+id, "Your code is 4711. It is good for ten minutes."))
			n++
		}
		for i, left := range under {
			if err := r.Post(ctx, left[0], func(statemachine.Record, error) {}); err != nil {
				return
			}
			under[i] = left[1:]
		}
		under = slices.DeleteFunc(under, func(left []statemachine.Fact) bool { return len(left) == 0 })
	}
}
