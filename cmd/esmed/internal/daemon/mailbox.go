package daemon

import "sync"

// mailbox hands values from goroutines that must not block to the one that takes them, in order. It has
// no bound of its own: what feeds one is bounded by a session's window.
type mailbox[T any] struct {
	// ready has a token while there may be something to take.
	ready chan struct{}

	mu     sync.Mutex
	values []T
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

// take takes all values, nil when there are none.
func (m *mailbox[T]) take() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	values := m.values
	m.values = nil
	return values
}
