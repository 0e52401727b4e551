package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// storedDir names the environment variable that says which store BenchmarkStored works on, as esmbench fill makes
// one. It is added to: a run leaves what lives it had.
const storedDir = "ESMED_BENCH_STORE"

// BenchmarkStored does with a store that holds many messages what should cost the same however many there are.
func BenchmarkStored(b *testing.B) {
	dir := os.Getenv(storedDir)
	if dir == "" {
		b.Skip(storedDir + " names no store")
	}
	cfg := testConfig(dir)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			s, err := Open(cfg)
			require.NoError(b, err)
			require.NoError(b, s.Close())
		}
	})
	s := start(b, cfg)
	defer func() { require.NoError(b, s.stop()) }()
	ctx := context.Background()
	sample := s.sample(b)
	one := func() *statemachine.Message { return sample[rand.IntN(len(sample))] }
	b.Run("filters", func(b *testing.B) {
		for b.Loop() {
			s.filters.reset()
			_, err := s.MessageByRef(ctx, "", "nobody's")
			require.NoError(b, err)
		}
	})
	for name, read := range map[string]func() error{
		"status":          func() error { _, err := s.Message(ctx, one().ID); return err },
		"events":          func() error { _, err := s.History(ctx, one().ID); return err },
		"report":          func() error { _, err := s.Report(ctx, time.Now().Add(-30*24*time.Hour), time.Time{}); return err },
		"queue":           func() error { _, err := s.QueueStats(ctx); return err },
		"newest":          func() error { _, _, err := s.Messages(ctx, Filter{}); return err },
		"number":          func() error { _, _, err := s.Messages(ctx, Filter{To: one().To}); return err },
		"nobody's number": func() error { _, _, err := s.Messages(ctx, Filter{To: "+4915112345678"}); return err },
		"until":           func() error { _, _, err := s.Messages(ctx, Filter{Until: one().AcceptedAt}); return err },
		"message_id": func() error {
			_, err := s.MessagesByExternalID(ctx, "alpha", one().Parts[0].Attempts[0].MessageID)
			return err
		},
		"nobody's message_id": func() error { _, err := s.MessagesByExternalID(ctx, "alpha", fmt.Sprint(rand.Uint64())); return err },
	} {
		b.Run(name, func(b *testing.B) { s.repeat(b, read) })
	}
	for state := statemachine.Queued; state < statemachine.State(numStates); state++ {
		b.Run("state="+state.String(), func(b *testing.B) {
			s.repeat(b, func() error { _, _, err := s.Messages(ctx, Filter{States: []statemachine.State{state}}); return err })
		})
	}
	b.Run("lives", s.livesBehind)
}

// repeat reports the slowest read too, and what processor time one takes.
func (r *running) repeat(b *testing.B, read func() error) {
	var slowest time.Duration
	before, n := cpu(), 0
	for b.Loop() {
		began := time.Now()
		require.NoError(b, read())
		slowest = max(slowest, time.Since(began))
		n++
	}
	b.ReportMetric(float64((cpu()-before).Microseconds())/float64(n), "cpu-us")
	b.ReportMetric(float64(slowest.Microseconds())/1000, "max-ms")
}

// sample are messages from all partitions.
func (r *running) sample(b *testing.B) (sample []*statemachine.Message) {
	var parts partitions
	require.NoError(b, r.view(func(tx *stateTx) (err error) {
		parts, err = readPartitions(tx)
		return err
	}))
	for _, p := range parts {
		some, _, err := r.Messages(context.Background(), Filter{After: p.lastID, Limit: 50})
		require.NoError(b, err)
		sample = append(sample, some...)
	}
	return sample
}

// livesBehind goes on with lives like those of BenchmarkLife, behind all that is stored.
func (r *running) livesBehind(b *testing.B) {
	first := r.end.Load()
	lives := make([][]statemachine.Fact, b.N)
	for i := range lives {
		text := fmt.Sprintf("Your code is %06d. It is good for ten minutes; do not give it to anybody, not even to us.", i%1000000)
		id := fmt.Sprintf("7%010d%015d", first, i) // greater than any that is made of the time
		external := fmt.Sprintf("%08x-%04x-4000-8000-%012x", rand.Uint32(), rand.Uint32N(1<<16), rand.Uint64N(1<<48))
		lives[i] = lifeTo(fmt.Sprintf("39333%07d", i*7919%10000000), id, external, text)
		lives[i][0].(*statemachine.MessageAccepted).Ref = fmt.Sprintf("order-%d-%d", first, i)
	}
	b.ResetTimer()
	before := cpu()
	r.live(b, lives, 128)
	require.NoError(b, r.Sync(context.Background()))
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lives/s")
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/1000, "cpu-us/life")
}
