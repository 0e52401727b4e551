package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/smscsim/lives"
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

func someOutcome() *outcome {
	return &outcome{
		At: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Revision: "esmed test",
		setting: setting{Name: "full", Stored: 100000, IDs: idsUUID, Window: 1000, Sessions: 1, Ahead: 20000, Duration: time.Second},
		Load: lives.Result{Lives: 100000, Seconds: 5, Rate: 20000, CPU: 55, PerCommit: 128, Commits: 3125, AnonMax: 120e6, Written: 4000,
			Accept: lives.Latency{P99: 4000}, Recorded: lives.Latency{P99: 5000}, Deliver: lives.Latency{P50: 700, P99: 2500, Max: 3000}},
		Raw:   rawLimit{Records: 400000, Octets: 250, Group: 128, Lives: 80000, SyncP50: 200, SyncP99: 900, Ratio: 0.25},
		Start: &starts{0.5, 1.5}, Reads: []readTime{{"status by id", 300, 900}}, Idle: &idleUse{0.02, 4},
	}
}

func TestOutcome_reads_as_people_and_programs_expect(t *testing.T) {
	o := someOutcome()
	var text bytes.Buffer
	require.NoError(t, o.print(&text))
	require.NoError(t, printUnits(&text))
	require.NoError(t, o.printBenchmark(&text))
	golden(t, "outcome.txt", text.Bytes())

	file := filepath.Join(t.TempDir(), "results.json")
	require.NoError(t, appendOutcome(file, o))
	require.NoError(t, appendOutcome(file, o))
	line, err := os.ReadFile(file)
	require.NoError(t, err)
	first, _, _ := bytes.Cut(line, []byte("\n"))
	golden(t, "outcome.json", append(first, '\n'))
	back, err := readOutcomes(file)
	require.NoError(t, err)
	require.Len(t, back, 2)
	o.Duration = 0 // is not kept
	require.Equal(t, *o, back[1])
	_, err = readOutcomes("outcome_test.go")
	require.ErrorContains(t, err, "line 1")
}

func TestMatrix_cases_are_valid_and_have_names_of_their_own(t *testing.T) {
	names := map[string]bool{}
	for _, s := range matrix([]int{0, 1000}, time.Second) {
		require.NoError(t, s.check())
		require.False(t, names[s.String()], "%s", &s)
		names[s.String()] = true
	}
	for name, s := range map[string]setting{
		"an id form that there is not": {IDs: "x", Window: 1, Sessions: 1, Lives: 1},
		"no end":                       {IDs: idsHex, Window: 1, Sessions: 1},
		"no window":                    {IDs: idsHex, Sessions: 1, Lives: 1},
		"no time for a profile":        {IDs: idsHex, Window: 1, Sessions: 1, Lives: 1, Profile: "cpu"},
	} {
		require.Error(t, s.check(), name)
	}
}

func TestThreadUse_sees_this_process(t *testing.T) {
	u, err := threadUse(os.Getpid())
	require.NoError(t, err)
	require.Positive(t, u.onCPU)
	_, err = threadUse(-1)
	require.Error(t, err)
}
