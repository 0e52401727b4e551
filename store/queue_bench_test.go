package store

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// BenchmarkNextQueued reads queues of several sizes, 512 parts at a time as a dispatcher does, and from the head.
// What a part costs, and what the heap holds, must not follow from what waits.
func BenchmarkNextQueued(b *testing.B) {
	const page = 512
	ctx := context.Background()
	s := start(b, testConfig(b.TempDir()))
	n := 0
	for _, size := range []int{1_000, 100_000, 1_000_000} {
		for n < size {
			facts := make([]statemachine.Fact, min(4096, size-n))
			for i := range facts {
				a := messageTo(fmt.Sprintf("39333%07d", n), fmt.Sprintf("01JDX%021d", n), "", "Your code is 4711")
				a.Priority = byte(n % priorities)
				facts[i] = a
				n++
			}
			s.append(facts...)
		}
		require.NoError(b, s.Sync(ctx))
		read := func(b *testing.B, cur *QueueCursor) int {
			parts, err := s.NextQueued(ctx, "alpha", began, cur, nil, page)
			require.NoError(b, err)
			return len(parts)
		}
		report := func(b *testing.B, parts int) {
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(parts), "us/part")
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MB")
		}
		b.Run(fmt.Sprintf("waiting=%d/cursor", size), func(b *testing.B) {
			var cur QueueCursor
			parts := 0
			for b.Loop() {
				got := read(b, &cur)
				if parts += got; got < page {
					cur = QueueCursor{}
				}
			}
			report(b, parts)
		})
		b.Run(fmt.Sprintf("waiting=%d/head", size), func(b *testing.B) {
			parts := 0
			for b.Loop() {
				parts += read(b, nil)
			}
			report(b, parts)
		})
		b.Run(fmt.Sprintf("waiting=%d/stats", size), func(b *testing.B) {
			for b.Loop() {
				_, err := s.QueueStats(ctx)
				require.NoError(b, err)
			}
		})
	}
	require.NoError(b, s.stop())
}
