package lives

import (
	"sync"
	"time"

	"esmed/smpp/smpptest"
)

// tally is what the API answered.
type tally struct {
	mu       sync.Mutex
	accepted uint64
	sum      smpptest.Sum // of what was accepted
	accept   smpptest.Histogram
	refused  map[int]uint64 // by status
	retries  time.Duration  // that Retry-After asked for, added up
	last     time.Time      // of an answer
}

// take counts the answer to a submission of this sum, which was sent at.
func (t *tally) take(a answer, sum smpptest.Sum, sent, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = now
	if a.status >= 300 {
		t.refused[a.status]++
		t.retries += a.retryAfter
		return
	}
	t.accepted++
	t.sum += sum
	t.accept.Add(now.Sub(sent))
}

// counts are how many were accepted, and how many answers there were.
func (t *tally) counts() (accepted, answered uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answered = t.accepted
	for _, n := range t.refused {
		answered += n
	}
	return t.accepted, answered
}
