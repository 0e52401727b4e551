package store

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

// BenchmarkReception_amongAccepts is b.N accepts from somebody who never waits for an answer, and how long
// receptions, one after the other, wait for theirs meanwhile.
func BenchmarkReception_amongAccepts(b *testing.B) {
	ctx := context.Background()
	s := start(b, testConfig(b.TempDir()))
	accepts := make([]statemachine.Fact, b.N)
	for i := range accepts {
		accepts[i] = lifeN(i)[0]
	}
	var waits []time.Duration
	flooded := make(chan struct{})
	answered := make(chan error, b.N)
	b.ResetTimer()
	var g errgroup.Group
	g.Go(func() error {
		for i := 0; ; i++ {
			select {
			case <-flooded:
				return nil
			default:
			}
			began := time.Now()
			_, err := s.Append(ctx, &statemachine.Reception{
				SMSC: "alpha", Account: "alpha", PDU: receiptPDU(fmt.Sprint(i), "DELIVRD", someDest, "x", 4),
			})
			if err != nil {
				return err
			}
			waits = append(waits, time.Since(began))
		}
	})
	for _, a := range accepts {
		require.NoError(b, s.AcceptPost(ctx, a.(*statemachine.MessageAccepted), func(_ Acceptance, err error) { answered <- err }))
	}
	for range accepts {
		require.NoError(b, <-answered)
	}
	b.StopTimer()
	close(flooded)
	require.NoError(b, g.Wait())
	slices.Sort(waits)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "accepts/s")
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-us")
	require.NoError(b, s.stop())
}
