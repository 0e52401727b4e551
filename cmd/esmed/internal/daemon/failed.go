package daemon

import (
	"sync"

	"esmed/statemachine"
)

// failed are messages of several parts of which one was refused for good, until the applier has seen that:
// none of their parts that wait is sent meanwhile.
type failed struct {
	mu       sync.Mutex
	messages map[statemachine.ID]uint64 // by the record of the refusal; 0: it is on its way to the store
}

// add takes a message whose refusal is about to be recorded.
func (f *failed) add(id statemachine.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.messages == nil {
		f.messages = make(map[statemachine.ID]uint64)
	}
	f.messages[id] = 0
}

// recorded says which record the refusal of a message is, if it is one of these.
func (f *failed) recorded(id statemachine.ID, seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.messages[id]; ok {
		f.messages[id] = seq
	}
}

// any reports whether there is one.
func (f *failed) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.messages) > 0
}

func (f *failed) has(id statemachine.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.messages[id]
	return ok
}

// forget drops those whose refusals are among the records up to applied, and reports whether there were any.
func (f *failed) forget(applied uint64) (some bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, seq := range f.messages {
		if seq != 0 && seq <= applied {
			delete(f.messages, id)
			some = true
		}
	}
	return some
}
