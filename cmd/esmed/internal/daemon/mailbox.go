package daemon

import "sync"

// mailbox hands values from goroutines that must not block to the one that takes them, in order. It has
// no bound of its own: what feeds one is bounded by a session's window.
type mailbox[T any] struct {
	// ready has a token while there may be something to take.
	ready chan struct{}

	mu     sync.Mutex
	values []T
	taken  []T // room of what was taken last
}

func newMailbox[T any]() *mailbox[T] { return &mailbox[T]{ready: make(chan struct{}, 1)} }

// put adds a value. It never blocks.
func (m *mailbox[T]) put(v T) {
	m.mu.Lock()
	m.values = append(m.values, v)
	m.mu.Unlock()
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// take takes all values. They are the caller's until the next take, which uses their room again: who takes is
// one goroutine, or holds a lock.
func (m *mailbox[T]) take() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.taken)
	m.values, m.taken = m.taken[:0], m.values
	return m.taken
}
