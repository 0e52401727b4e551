package store

import (
	"cmp"
	"slices"
	"sync"

	"esmed/statemachine"
)

// Bounds of what recent holds: a second or two of accepts at full speed. A fact takes about as much as its
// record and acceptedSize together.
const (
	recentBytes  = 8 << 20
	acceptedSize = 768
)

// recent holds the newest accepted messages as the writer had them, so that who sends them while they are new
// does not read the log again. Nobody modifies them.
type recent struct {
	mu    sync.Mutex
	facts fifo[recentAccepted] // by seq
	bytes int
}

type recentAccepted struct {
	seq  uint64
	size int
	fact *statemachine.MessageAccepted
}

// add takes the accepted messages of a durable group: ends says where the encoding of each record ends.
func (r *recent) add(group []statemachine.Record, ends []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	start := 0
	for i := range group {
		if a, ok := group[i].Fact.(*statemachine.MessageAccepted); ok {
			size := acceptedSize + ends[i] - start
			r.facts.push(recentAccepted{group[i].Seq, size, a})
			r.bytes += size
		}
		start = ends[i]
	}
	n := 0
	for held := r.facts.items(); r.bytes > recentBytes; n++ {
		r.bytes -= held[n].size
	}
	r.facts.drop(n)
}

// fill gives the facts that are here of the records with those seqs.
func (r *recent) fill(to []acceptedRecord, seqs []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.facts.items()
	for i, seq := range seqs {
		at, found := slices.BinarySearchFunc(held, seq, func(a recentAccepted, seq uint64) int { return cmp.Compare(a.seq, seq) })
		if found {
			to[i].fact = held[at].fact
		}
	}
}

// forget drops all: keys of texts are destroyed, and with them the texts wherever they are.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts, r.bytes = fifo[recentAccepted]{}, 0
}
