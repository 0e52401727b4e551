package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

func TestBenchmarks_are_in_the_format_that_benchstat_reads(t *testing.T) {
	var text bytes.Buffer
	require.NoError(t, printUnits(&text))
	o := someOutcome()
	require.NoError(t, o.printBenchmark(&text))
	o.Stored = 0
	require.NoError(t, o.printBenchmark(&text))

	r := benchfmt.NewReader(&text, "text")
	var names []string
	better := map[string]string{}
	for r.Scan() {
		switch record := r.Result().(type) {
		case *benchfmt.Result:
			names = append(names, record.Name.String())
			rate, ok := record.Value("lives/s")
			require.True(t, ok)
			require.InDelta(t, 20000, rate, 0)
			require.Len(t, record.Values, len(metrics()))
		case *benchfmt.UnitMetadata:
			better[record.Unit] = record.Value
		case *benchfmt.SyntaxError:
			require.NoError(t, record)
		}
	}
	require.NoError(t, r.Err())
	require.Equal(t, []string{"Lives/case=full/stored=100000/ids=uuid/window=1000/sessions=1", "Lives/case=full/stored=0/ids=uuid/window=1000/sessions=1"}, names)
	require.Equal(t, "higher", better["lives/s"])
	require.Equal(t, "lower", better["cpu-us/life"])
}

func TestCompare_wants_a_revision(t *testing.T) {
	var out, stderr strings.Builder
	require.Equal(t, 2, run([]string{"compare"}, &out, &stderr))
	require.Contains(t, stderr.String(), "--base is needed")
	require.Equal(t, 1, run([]string{"compare", "--base", "no-such-revision", "--dir", t.TempDir()}, &out, &stderr))
	require.Contains(t, stderr.String(), "git worktree add")
}
