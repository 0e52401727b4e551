package command

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how many of a number of rows are done: a bar on a terminal, a line now and then
// elsewhere.
type progress struct {
	w     io.Writer
	bar   *progressbar.ProgressBar // nil without a terminal
	total int
	done  int
	last  time.Time
}

// Intervals of a bar's redrawing and of lines.
const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 5 * time.Second
)

func newProgress(w io.Writer, total int, what string) *progress {
	p := &progress{w: w, total: total, last: time.Now()}
	if terminal(w) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
			progressbar.OptionThrottle(barEvery), progressbar.OptionClearOnFinish())
	}
	return p
}

// add says that one more is done.
func (p *progress) add() {
	p.done++
	if p.bar != nil {
		_ = p.bar.Add(1) // a bar that cannot be drawn is no reason to stop
		return
	}
	if now := time.Now(); now.Sub(p.last) >= lineEvery || p.done == p.total {
		p.last = now
		fmt.Fprintf(p.w, "esmed: %d of %d rows answered\n", p.done, p.total)
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// counter shows on a terminal how many are done of a number that is not known; elsewhere nothing.
type counter struct {
	w    io.Writer
	what string
	live bool
	last time.Time
}

func newCounter(w io.Writer, what string) *counter {
	return &counter{w: w, what: what, live: terminal(w)}
}

func (c *counter) show(done int) {
	if now := time.Now(); c.live && now.Sub(c.last) >= barEvery {
		c.last = now
		fmt.Fprintf(c.w, "\r\x1b[K%d %s", done, c.what)
	}
}

// end takes the line away. It may be called again.
func (c *counter) end() {
	if c.live && !c.last.IsZero() {
		fmt.Fprint(c.w, "\r\x1b[K")
		c.last = time.Time{}
	}
}
