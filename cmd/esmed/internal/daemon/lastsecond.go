package daemon

import (
	"slices"
	"time"
)

// lastSecond counts what was written within the last second, exactly. It holds one entry a write.
type lastSecond struct {
	writes []written // in order
	n      int       // in all of them
}

type written struct {
	at time.Time
	n  int
}

func (l *lastSecond) add(now time.Time, n int) {
	l.count(now)
	l.writes = append(l.writes, written{now, n})
	l.n += n
}

// count is how many were written less than a second before now.
func (l *lastSecond) count(now time.Time) int {
	gone := 0
	for gone < len(l.writes) && now.Sub(l.writes[gone].at) >= time.Second {
		l.n -= l.writes[gone].n
		gone++
	}
	if gone > 0 {
		l.writes = slices.Delete(l.writes, 0, gone)
	}
	return l.n
}

// room is how many may be written now for there to be no more than most in a second; when 0, wait is when
// to ask again.
func (l *lastSecond) room(now time.Time, most int) (n int, wait time.Duration) {
	if n = most - l.count(now); n > 0 {
		return n, 0
	}
	return 0, l.writes[0].at.Add(time.Second).Sub(now)
}
