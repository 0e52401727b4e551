package command

import (
	"fmt"
	"io"
	"time"
)

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
