package lives

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes the Result for people.
func (r *Result) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	row("lives", "%d in %.2f s: %.0f/s (offered %.0f/s, answered %.0f/s), refused %s", r.Lives, r.Seconds, r.Rate, r.Offered, r.Answered, r.refusals())
	row("CPU a life", "daemon %.1f us (%.2f s per 10,000), simulator %.1f us, loader %.1f us", r.CPU, r.CPU10k, r.SMSCCPU, r.LoaderCPU)
	row("accept", "%s", r.Accept)
	row("submit_sm to its answer recorded", "%s", r.Recorded)
	row("deliver_sm to deliver_sm_resp", "%s", r.Deliver)
	if r.Visible.Max > 0 {
		row("receipt to final state visible", "%s", r.Visible)
	}
	row("commits", "%d, %.1f records each, %s", r.Commits, r.PerCommit, r.Commit)
	row("applier lag", "mean %.0f, at most %.0f records; at most %.0f parts queued", r.LagMean, r.LagMax, r.QueueMax)
	row("memory", "anonymous at most %.0f MB, resident at most %.0f MB", mega(r.AnonMax), mega(r.RSSMax))
	row("octets a life", "written %.0f, stored %.0f", r.Written, r.Stored)
	for _, wrong := range r.Wrong {
		row("WRONG", "%s", wrong)
	}
	return t.Flush()
}

func mega(octets int64) float64 { return float64(octets) / 1e6 }

// String gives milliseconds.
func (l Latency) String() string {
	text := fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", l.P50/1000, l.P99/1000)
	if l.Max > 0 {
		text += fmt.Sprintf(", max %.2f ms", l.Max/1000)
	}
	return text
}
