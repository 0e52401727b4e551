package store

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// verifyLives is how many messages the benchmarks of Verify have, four records each.
const verifyLives = 100_000

// benchVerify measures one part of Verify over a closed store, as the command does it without a daemon.
func benchVerify(b *testing.B, part func(*verifier) error) {
	s := filled(b, verifyLives)
	require.NoError(b, s.stop())
	r, err := OpenReadOnly(s.cfg)
	require.NoError(b, err)
	records := r.end.Load()
	before := cpu()
	for b.Loop() {
		v := verifier{s: r, progress: func(VerifyProgress) {}, end: records}
		require.NoError(b, part(&v))
	}
	rate := float64(records) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "records/s")
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/float64(records), "cpu-ns/record")
	b.ReportMetric(peakMB(b), "peak-MB")
	require.NoError(b, r.Close())
}

// peakMB is the most memory of its own, files that are mapped left out, that this process had.
func peakMB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(b, err)
	for line := range strings.Lines(string(status)) {
		if name, value, _ := strings.Cut(line, ":"); name == "RssAnon" {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			require.NoError(b, err)
			return float64(kb) / 1024
		}
	}
	return 0
}

// BenchmarkVerifyChain hashes the log.
func BenchmarkVerifyChain(b *testing.B) {
	benchVerify(b, func(v *verifier) error { return v.chain(context.Background()) })
}

// BenchmarkVerifyFold folds the log anew and compares.
func BenchmarkVerifyFold(b *testing.B) {
	benchVerify(b, func(v *verifier) error { return v.projection(context.Background()) })
}
