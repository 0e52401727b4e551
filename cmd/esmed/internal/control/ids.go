package control

import (
	"bufio"
	"crypto/rand"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"esmed/statemachine"
)

// ids makes ids of messages: ULIDs, each greater than the one before and than all that the store had,
// wherever the clock has gone meanwhile; and the references of texts in several parts. It is safe for
// concurrent use.
type ids struct {
	references atomic.Uint32

	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    ulid.ULID
}

// newIDs makes ids greater than newest, "" for none. References begin anywhere, so that the first ones
// after a start are hardly the last ones before it.
func newIDs(newest statemachine.ID) *ids {
	s := &ids{entropy: ulid.Monotonic(bufio.NewReader(rand.Reader), 0)} // each id takes a few octets
	s.references.Store(mathrand.Uint32())
	if id, err := ulid.ParseStrict(string(newest)); err == nil {
		s.setTime(id.Time() + 1)
	}
	return s
}

// next makes one of the time now, or of the last one's time if that was later.
func (s *ids) next(now time.Time) statemachine.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	ms := max(s.last.Time(), ulid.Timestamp(now))
	s.setTime(ms)
	if s.entropy.MonotonicRead(ms, s.last[entropyAt:]) != nil { // it has grown to its end within a millisecond
		ms++
		s.setTime(ms)
		_ = s.entropy.MonotonicRead(ms, s.last[entropyAt:]) // crypto/rand, which ends the process rather than fail
	}
	return statemachine.ID(s.last.String())
}

// entropyAt is where an id's random part begins.
const entropyAt = 6

func (s *ids) setTime(ms uint64) {
	if err := s.last.SetTime(ms); err != nil {
		panic(err) // the year 10889
	}
}

// reference makes the reference of a text in several parts. One comes again only after all the others:
// a handset that still waits for a part must not put it together with another text's.
func (s *ids) reference() uint16 { return uint16(s.references.Add(1)) }
