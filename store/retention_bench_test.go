package store

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
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

// BenchmarkRetention drops all that a copy of a store holds, as esmbench fill made it, while lives go on at
// retentionRate a second; and before that lets them go on for a while alone. It tells how long the log's commits took.
func BenchmarkRetention(b *testing.B) {
	from := os.Getenv(storedDir)
	if from == "" {
		b.Skip(storedDir + " names no store")
	}
	const alone = 10 * time.Second
	var c commits
	cfg := testConfig(b.TempDir())
	require.NoError(b, os.CopyFS(cfg.Dir, os.DirFS(from)))
	cfg.OnCommit = c.add
	var mu sync.Mutex
	var ahead time.Duration
	cfg.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(ahead)
	}
	s := start(b, cfg)
	ctx, stop := context.WithCancel(context.Background())
	var lives sync.WaitGroup
	lives.Go(func() { s.paced(ctx, b) })
	time.Sleep(alone)
	c.tell(b, "alone")

	mu.Lock()
	ahead = 100 * 24 * time.Hour
	mu.Unlock()
	keep := func() Retention {
		old := cfg.Now().Add(-24 * time.Hour)
		return Retention{Messages: old, Inbox: old, Exceptions: old, Log: old}
	}
	began, before := time.Now(), cpu()
	var all RetentionStep
	var slowest time.Duration
	for {
		at := time.Now()
		step, err := s.Retire(ctx, keep())
		require.NoError(b, err)
		slowest = max(slowest, time.Since(at))
		if all = all.Add(step); !step.More {
			break
		}
		time.Sleep(20 * time.Millisecond) // as the daemon does
	}
	b.Logf("%+v in %v, %v of CPU with the lives, slowest step %v", all, time.Since(began), cpu()-before, slowest)
	c.tell(b, "retiring")
	stop()
	lives.Wait()
	require.NoError(b, s.stop())
}

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
