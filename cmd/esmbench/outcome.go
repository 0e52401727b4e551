package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"esmed/cmd/smscsim/lives"
)

// outcome is what one case measured: a line of the results file.
type outcome struct {
	At       time.Time `json:"at"`
	Revision string    `json:"revision"` // of the daemon, as "esmed version" says
	setting

	Load  lives.Result `json:"load"`
	Raw   rawLimit     `json:"raw"`
	Start *starts      `json:"start,omitempty"`
	Reads []readTime   `json:"reads,omitempty"`
	Idle  *idleUse     `json:"idle,omitempty"`
}

// appendOutcome writes an outcome behind those of a results file.
func appendOutcome(file string, o *outcome) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(b, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// readOutcomes reads a results file.
func readOutcomes(file string) ([]outcome, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []outcome
	in := bufio.NewReader(bytes.NewReader(b))
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var o outcome
			if err := json.Unmarshal(line, &o); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", file, n, err)
			}
			all = append(all, o)
		}
		if err == io.EOF {
			return all, nil
		}
	}
}

// print writes an outcome for people.
func (o *outcome) print(w io.Writer) error {
	fmt.Fprintf(w, "== %s\n", &o.setting)
	if err := o.Load.Print(w); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "raw limit\t%.0f lives/s (%d records of %.0f octets each in groups of %d, fdatasync p50 %.2f ms): the daemon reaches %.3f of it\n",
		o.Raw.Lives, o.Raw.Records, o.Raw.Octets, o.Raw.Group, o.Raw.SyncP50/1000, o.Raw.Ratio)
	if o.Start != nil {
		fmt.Fprintf(t, "ready\t%.2f s after a clean stop, %.2f s after kill -9 in mid-load\n", o.Start.Clean, o.Start.Killed)
	}
	for _, r := range o.Reads {
		fmt.Fprintf(t, "%s\tp50 %.2f ms, max %.2f ms\n", r.What, r.P50/1000, r.Max/1000)
	}
	if o.Idle != nil {
		fmt.Fprintf(t, "idle\t%.4f%% of a core, %.1f switches a second\n", o.Idle.CPU, o.Idle.Switches)
	}
	return t.Flush()
}

// metric is one figure of an outcome, as the format of Go's benchmarks has it.
type metric struct {
	unit   string
	better string // higher or lower
	of     func(*outcome) float64
}

// metrics are those that revisions are compared by.
func metrics() []metric {
	return []metric{
		{"lives/s", "higher", func(o *outcome) float64 { return o.Load.Rate }},
		{"cpu-us/life", "lower", func(o *outcome) float64 { return o.Load.CPU }},
		{"accept-p99-us", "lower", func(o *outcome) float64 { return o.Load.Accept.P99 }},
		{"recorded-p99-us", "lower", func(o *outcome) float64 { return o.Load.Recorded.P99 }},
		{"deliver-p50-us", "lower", func(o *outcome) float64 { return o.Load.Deliver.P50 }},
		{"deliver-p99-us", "lower", func(o *outcome) float64 { return o.Load.Deliver.P99 }},
		{"anon-B", "lower", func(o *outcome) float64 { return float64(o.Load.AnonMax) }},
		{"written-B/life", "lower", func(o *outcome) float64 { return o.Load.Written }},
		{"records/commit", "higher", func(o *outcome) float64 { return o.Load.PerCommit }},
		{"of-raw", "higher", func(o *outcome) float64 { return o.Raw.Ratio }},
	}
}

// printBenchmark writes an outcome in the format of Go's benchmarks
// (https://go.dev/design/14313-benchmark-format), for benchstat.
func (o *outcome) printBenchmark(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "BenchmarkLives/case=%s %d", &o.setting, max(o.Load.Lives, 1))
	for _, m := range metrics() {
		fmt.Fprintf(&b, " %.4g %s", m.of(o), m.unit)
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// printUnits says which way the metrics are better.
func printUnits(w io.Writer) error {
	var b bytes.Buffer
	for _, m := range metrics() {
		fmt.Fprintf(&b, "Unit %s better=%s\n", m.unit, m.better)
	}
	_, err := w.Write(b.Bytes())
	return err
}
