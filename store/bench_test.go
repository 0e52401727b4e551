package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// cpu is the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func lifeN(n int) []statemachine.Fact {
	text := fmt.Sprintf("Your code is %06d. It is good for ten minutes; do not give it to anybody, not even to us.", n%1000000)
	facts := lifeTo(fmt.Sprintf("39333%07d", n*7919%10000000), fmt.Sprintf("01JDX%021d", n), fmt.Sprintf("%08x-0000-4000-8000-%012x", n*2654435761%(1<<32), n), text)
	facts[0].(*statemachine.MessageAccepted).Ref = fmt.Sprintf("order-%d", n)
	return facts
}

// BenchmarkLife is accept, sent, submit_resp and reception of a message, in groups of about so many records.
func BenchmarkLife(b *testing.B) {
	for _, group := range []int{1, 16, 128, 1024} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			cfg, commits := testConfig(b.TempDir()), 0
			cfg.OnCommit = func(int, time.Duration) { commits++ }
			s := start(b, cfg)
			_, err := s.SetRules(context.Background(), rulesOf("1"))
			require.NoError(b, err)
			lives := make([][]statemachine.Fact, b.N)
			for i := range lives {
				lives[i] = lifeN(i)
			}
			b.ResetTimer()
			before := cpu()
			s.live(b, lives, group)
			require.NoError(b, s.Sync(context.Background()))
			b.StopTimer()
			perLife := float64(cpu()-before) / float64(b.N)
			rate := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "lives/s")
			b.ReportMetric(perLife/1000, "cpu-us/life")
			stat, err := s.Stat(context.Background())
			require.NoError(b, err)
			b.ReportMetric(float64(stat.LogBytes)/float64(b.N), "log-B/life")
			b.ReportMetric(rate*4/rawLimit(b, s.newest(rawRecords), group), "of-raw")
			require.NoError(b, s.stop())
			b.ReportMetric(float64(4*b.N)/float64(commits), "records/commit")
		})
	}
}

// live lets lives overlap, a step of each beside steps of others, with so many records outstanding.
func (r *running) live(b tb, lives [][]statemachine.Fact, outstanding int) {
	const apart = 64 // how many messages lie between two steps of one
	slots := make(chan struct{}, outstanding)
	var failed error
	var mu sync.Mutex
	done := func(err error) {
		if err != nil {
			mu.Lock()
			failed = err
			mu.Unlock()
		}
		<-slots
	}
	ctx := context.Background()
	for i := range len(lives) + 4*apart {
		for step := range 4 {
			n := i - step*apart
			if n < 0 || n >= len(lives) {
				continue
			}
			slots <- struct{}{}
			var err error
			if a, ok := lives[n][step].(*statemachine.MessageAccepted); ok {
				err = r.AcceptPost(ctx, a, func(_ Acceptance, err error) { done(err) })
			} else {
				err = r.Post(ctx, lives[n][step], func(_ statemachine.Record, err error) { done(err) })
			}
			require.NoError(b, err)
		}
	}
	for range outstanding {
		slots <- struct{}{}
	}
	require.NoError(b, failed)
}

// BenchmarkApply folds lives that are in the log already.
func BenchmarkApply(b *testing.B) {
	s := filled(b, b.N)
	ctx := context.Background()
	require.NoError(b, s.stop())
	require.NoError(b, os.Remove(filepath.Join(s.cfg.Dir, stateFile)))
	b.ResetTimer()
	before := cpu()
	s = start(b, s.cfg)
	require.NoError(b, s.Sync(ctx))
	b.StopTimer()
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/1000, "cpu-us/life")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lives/s")
	require.NoError(b, s.stop())
}

// filled is a store with n lives.
func filled(b *testing.B, n int) *running { return fillWith(b, testConfig(b.TempDir()), n) }

func fillWith(t tb, cfg Config, n int) *running {
	s := start(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	s.live(t, livesFrom(0, n), 1024)
	require.NoError(t, s.Sync(context.Background()))
	return s
}

func livesFrom(first, behind int) [][]statemachine.Fact {
	lives := make([][]statemachine.Fact, 0, behind-first)
	for i := first; i < behind; i++ {
		lives = append(lives, lifeN(i))
	}
	return lives
}

// BenchmarkQueueEnds looks at a part that waits, of b.N.
func BenchmarkQueueEnds(b *testing.B) {
	s := start(b, testConfig(b.TempDir()))
	waiting := make([]statemachine.Fact, b.N)
	for i := range waiting {
		waiting[i] = lifeN(i)[0]
	}
	for facts := range slices.Chunk(waiting, 1024) {
		s.append(facts...)
	}
	ctx := context.Background()
	require.NoError(b, s.Sync(ctx))
	b.ResetTimer()
	var cur EndsCursor
	for n, more := 0, true; more; {
		ends, again, err := s.QueueEnds(ctx, "alpha", began, &cur, 512)
		require.NoError(b, err)
		if n, more = n+len(ends), again; !more {
			require.Equal(b, b.N, n)
		}
	}
	b.StopTimer()
	require.NoError(b, s.stop())
}

// BenchmarkMessage looks up stored messages by id.
func BenchmarkMessage(b *testing.B) {
	const n = 120_000 // three partitions
	s := filled(b, n)
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	b.Run("by id", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Message(ctx, statemachine.ID(fmt.Sprintf("01JDX%021d", r.IntN(n))))
			require.NoError(b, err)
		}
	})
	b.Run("by message_id", func(b *testing.B) {
		for b.Loop() {
			i := r.IntN(n)
			found, err := s.MessagesByExternalID(ctx, "alpha", fmt.Sprintf("%08x-0000-4000-8000-%012x", i*2654435761%(1<<32), i))
			require.NoError(b, err)
			require.Len(b, found, 1)
		}
	})
	b.Run("open", func(b *testing.B) {
		require.NoError(b, s.stop())
		for b.Loop() {
			again, err := Open(s.cfg)
			require.NoError(b, err)
			require.NoError(b, again.Close())
		}
	})
}
