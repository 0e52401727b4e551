package control

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"esmed/statemachine"
)

// ids makes ids of messages: ULIDs, each greater than the one before and than all that the store had,
// wherever the clock has gone meanwhile. It is safe for concurrent use.
type ids struct {
	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    uint64 // the time of the last one, in ms
}

// newIDs makes ids greater than newest, "" for none.
func newIDs(newest statemachine.ID) *ids {
	s := &ids{entropy: ulid.Monotonic(rand.Reader, 0)}
	if id, err := ulid.ParseStrict(string(newest)); err == nil {
		s.last = id.Time() + 1
	}
	return s
}

// next makes one of the time now, or of the last one's time if that was later.
func (s *ids) next(now time.Time) statemachine.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, ulid.Timestamp(now))
	id, err := ulid.New(s.last, s.entropy)
	if err != nil { // the random part has grown to its end within a millisecond
		s.last++
		id = ulid.MustNew(s.last, s.entropy)
	}
	return statemachine.ID(id.String())
}
