package store

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// verifyLives is how many messages the benchmarks of Verify have, four records each, in three segments.
const verifyLives = 100_000

func verifyConfig(dir string) Config {
	cfg := testConfig(dir)
	cfg.SegmentRecords = 4 * verifyLives / 3
	return cfg
}

func fillToVerify(dir string) {
	s := fillWith(failing{}, verifyConfig(dir), verifyLives)
	require.NoError(s.t, s.stop())
}

// benchVerify measures one part of Verify over a closed store, as the command does it without a daemon.
// Another process filled it, so that no memory is counted but what verifying takes.
func benchVerify(b *testing.B, part func(*verifier) error) {
	cfg := verifyConfig(b.TempDir())
	require.NoError(b, childCommand(b, cfg.Dir, "lives to verify").Run())
	r, err := OpenReadOnly(cfg)
	require.NoError(b, err)
	records := r.end.Load()
	before, peak := cpu(), watchMemory(b)
	for b.Loop() {
		v := verifier{s: r, progress: func(VerifyProgress) {}, end: records}
		require.NoError(b, part(&v))
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/float64(records)/1000, "cpu-us/record")
	b.ReportMetric(peak(), "peak-MB")
	require.NoError(b, r.Close())
}

// watchMemory looks at this process's memory until peak is called, which gives the most that it had.
func watchMemory(b *testing.B) (peak func() float64) {
	done, most := make(chan struct{}), make(chan float64)
	go func() {
		every := time.NewTicker(2 * time.Millisecond)
		defer every.Stop()
		mb := anonymousMB(b)
		for {
			select {
			case <-every.C:
				mb = max(mb, anonymousMB(b))
			case <-done:
				most <- mb
				return
			}
		}
	}()
	return func() float64 {
		close(done)
		return <-most
	}
}

// anonymousMB is how much memory of its own, files that are mapped left out, this process has.
func anonymousMB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Error(err)
	}
	for line := range strings.Lines(string(status)) {
		if name, value, _ := strings.Cut(line, ":"); name == "RssAnon" {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			if err != nil {
				b.Error(err)
			}
			return float64(kb) / 1024
		}
	}
	b.Error("no RssAnon")
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
