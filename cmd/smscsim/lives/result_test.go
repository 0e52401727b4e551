package lives

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/smpp/smpptest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestResult_reads_as_people_and_programs_expect(t *testing.T) {
	r := Result{
		Lives: 100000, Seconds: 5, Rate: 20000, Offered: 25000, Answered: 20500,
		Accept: Latency{900, 4000, 9000}, Recorded: Latency{1500, 6000, 0}, Deliver: Latency{800, 2500, 7000}, Visible: Latency{9000, 40000, 60000},
		Commit: Latency{400, 1200, 0}, Commits: 3100, PerCommit: 129.03,
		LagMean: 9000, LagMax: 16000, QueueMax: 1200,
		CPU: 55.5, CPU10k: 0.555, SMSCCPU: 6.5, LoaderCPU: 4.2, AnonMax: 120e6, RSSMax: 300e6, RSSPeak: 310e6, Written: 4100, Stored: 2700, StoredTotal: 270e6,
		Refused: map[int]uint64{429: 12, 503: 1}, Report: Tally{Accepted: 100000, Final: 99999, Open: 1}, Wrong: []string{"open by the report: 1, not 0"},
	}
	var table bytes.Buffer
	require.NoError(t, r.Print(&table))
	golden(t, "result.txt", table.Bytes())
	b, err := json.MarshalIndent(&r, "", "  ")
	require.NoError(t, err)
	golden(t, "result.json", append(b, '\n'))
}

func TestMaker_makes_JSON_whose_sum_is_that_of_destination_and_text(t *testing.T) {
	for _, n := range []int{0, 7, 1234567, 10000000} {
		line, sum := maker{run: "r1"}.append(nil, n)
		var s struct{ To, From, Text, Ref string }
		require.NoError(t, json.Unmarshal(line, &s))
		require.Regexp(t, `^\+39333\d{7}$`, s.To)
		require.Equal(t, smpptest.Fingerprint(s.To[1:], s.Text), sum)
		require.Equal(t, "ACME", s.From)
		require.Regexp(t, `^life-r1-\d+$`, s.Ref)
	}
}

func TestExposition_adds_up_labels_and_finds_quantiles(t *testing.T) {
	before, err := readExposition(strings.NewReader("commits_sum 10\n"))
	require.NoError(t, err)
	e, err := readExposition(strings.NewReader(`# HELP x y
commits_sum 25
size{smsc="alpha"} 2
size{smsc="beta"} 3
t_bucket{smsc="alpha",le="0.001"} 10
t_bucket{smsc="beta",le="0.001"} 40
t_bucket{smsc="alpha",le="0.002"} 10
t_bucket{smsc="beta",le="0.002"} 80
t_bucket{smsc="alpha",le="+Inf"} 20
t_bucket{smsc="beta",le="+Inf"} 80
`))
	require.NoError(t, err)
	require.InDelta(t, 15, e.since(before, "commits_sum"), 0)
	require.InDelta(t, 5, e.values["size"], 0)
	require.Equal(t, time.Millisecond, e.quantile(before, "t", 0.5))
	require.Equal(t, 1500*time.Microsecond, e.quantile(before, "t", 0.7))
	require.Equal(t, 2*time.Millisecond, e.quantile(before, "t", 0.99), "beyond the last end")
	require.Zero(t, e.quantile(e, "t", 0.5), "nothing was counted since")
	require.Zero(t, e.quantile(before, "nothing", 0.5))
	for _, bad := range []string{"alone\n", "x NaNsense\n", "t_bucket{le=\"x\"} 1\n"} {
		_, err := readExposition(strings.NewReader(bad))
		require.Error(t, err)
	}
}
