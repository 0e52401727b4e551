package daemon

import "esmed/statemachine"

// taken are the entries of the queue that a dispatcher has dealt with, until the applier has moved them:
// none is sent twice. A part that comes back into the queue is another entry.
type taken struct {
	entries map[entryKey]struct{}
	order   []takenEntry // by record
}

type entryKey struct {
	message statemachine.ID
	part    int
	seq     uint64
}

type takenEntry struct {
	key entryKey
	seq uint64 // the record that takes it off the queue
}

func keyOf(e statemachine.QueueEntry) entryKey { return entryKey{e.Message, e.Part, e.Seq} }

func (t *taken) has(e statemachine.QueueEntry) bool {
	_, ok := t.entries[keyOf(e)]
	return ok
}

// add takes an entry that record seq takes off the queue; 0: nothing does.
func (t *taken) add(e statemachine.QueueEntry, seq uint64) {
	if t.entries == nil {
		t.entries = make(map[entryKey]struct{})
	}
	t.entries[keyOf(e)] = struct{}{}
	if seq != 0 {
		t.order = append(t.order, takenEntry{keyOf(e), seq})
	}
}

// forget drops what the records up to applied took off the queue.
func (t *taken) forget(applied uint64) {
	n := 0
	for n < len(t.order) && t.order[n].seq <= applied {
		delete(t.entries, t.order[n].key)
		n++
	}
	t.order = t.order[n:]
}

// drop forgets an entry that nothing takes off the queue.
func (t *taken) drop(e statemachine.QueueEntry) { delete(t.entries, keyOf(e)) }
