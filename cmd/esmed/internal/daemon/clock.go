package daemon

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

const (
	// clockSlack is how far clocks may part, and how long they must agree to be believed again.
	clockSlack = time.Minute
	// clockEvery is how often the clocks are looked at, besides before anything expires.
	clockEvery = 30 * time.Second
)

// clock says from readings whether the wall clock can be believed (DESIGN §1, rule 8).
type clock struct {
	wall  time.Time     // at the last look; zero: none yet
	mono  time.Duration // on the monotonic clock, at the last look
	wrong time.Duration // on the monotonic clock, when last something was wrong
	doubt bool
}

// look takes a reading of both clocks and the time of the log's last record, zero when there is none. It
// reports whether the wall clock is in doubt: since the last look it went another way than the monotonic
// one, or it is behind the log, by more than clockSlack; and until neither was so for clockSlack.
func (c *clock) look(wall time.Time, mono time.Duration, last time.Time) bool {
	parted := !c.wall.IsZero() && (wall.Sub(c.wall)-(mono-c.mono)).Abs() > clockSlack
	behind := last.Sub(wall) > clockSlack
	switch {
	case parted || behind:
		c.doubt, c.wrong = true, mono
	case mono-c.wrong >= clockSlack:
		c.doubt = false
	}
	c.wall, c.mono = wall, mono
	return c.doubt
}

// timekeeper holds the process's clock to its word. It is safe for concurrent use.
type timekeeper struct {
	log    *zap.Logger
	active prometheus.Gauge // 1 while the clock is in doubt
	began  time.Time

	mu    sync.Mutex
	clock clock
	last  time.Time // of the log's last record
	doubt bool      // as it was told
}

func newTimekeeper(log *zap.Logger, active prometheus.Gauge) *timekeeper {
	return &timekeeper{log: log, active: active, began: time.Now()}
}

// begin looks for the first time, at the clock and at the end of the log.
func (k *timekeeper) begin(last time.Time) {
	k.saw(last)
	k.doubted()
}

// saw takes the time of a record.
func (k *timekeeper) saw(at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if at.After(k.last) {
		k.last = at
	}
}

// doubted looks, and reports whether the wall clock is in doubt: then nothing may expire.
func (k *timekeeper) doubted() bool {
	now := time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	doubt := k.clock.look(now.Round(0), now.Sub(k.began), k.last)
	if doubt == k.doubt {
		return doubt
	}
	k.doubt = doubt
	k.active.Set(truth(doubt))
	if doubt {
		k.log.Warn("the clock is in doubt: nothing expires until it agrees for a minute with itself and the log",
			zap.Time("wall", now), zap.Time("last_record", k.last))
	} else {
		k.log.Info("the clock is believed again")
	}
	return doubt
}
