package command

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how much of a total is done, how fast it goes and how long it will still take: a bar on a
// terminal, a line now and then elsewhere.
type progress struct {
	w           io.Writer
	bar         *progressbar.ProgressBar // nil without a terminal
	what, unit  string
	total, done int64
	began, last time.Time
	why         string // nothing moves just now; "" = it does
}

// Intervals of a bar's redrawing and of lines.
const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 10 * time.Second
)

// newProgress begins to show what is done to units, as "submitting" and "rows".
func newProgress(w io.Writer, what, unit string, total int64) *progress {
	now := time.Now()
	p := &progress{w: w, what: what, unit: unit, total: total, began: now, last: now}
	if terminal(w) {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
			progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit), progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(barEvery), progressbar.OptionClearOnFinish())
	}
	return p
}

// set says how many units are done.
func (p *progress) set(done int64) {
	if p.done = done; p.bar != nil {
		if p.why != "" {
			p.bar.Describe(p.what)
		}
		p.why = ""
		_ = p.bar.Set64(done) // a bar that cannot be drawn is no reason to stop
		return
	}
	p.why = ""
	if now := time.Now(); now.Sub(p.last) >= lineEvery {
		p.last = now
		fmt.Fprintf(p.w, "esmed: %s: %s\n", p.what, p.pace(now.Sub(p.began)))
	}
}

// pace is how it goes after a time.
func (p *progress) pace(elapsed time.Duration) string {
	text := fmt.Sprintf("%d of %d %s", p.done, p.total, p.unit)
	rate := float64(p.done) / elapsed.Seconds()
	if rate <= 0 {
		return text
	}
	left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second))
	return fmt.Sprintf("%s, %.0f/s, %s left", text, rate, left.Round(time.Second))
}

// waiting says why nothing moves.
func (p *progress) waiting(why string) {
	if why == p.why {
		return
	}
	if p.why = why; p.bar != nil {
		p.bar.Describe("waiting: " + clean(why))
		return
	}
	fmt.Fprintf(p.w, "esmed: %s: %d of %d %s; waiting: %s\n", p.what, p.done, p.total, p.unit, clean(why))
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
