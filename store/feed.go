package store

import (
	"cmp"
	"slices"
	"sync"

	"esmed/statemachine"
)

// feedRecords bounds what the feed holds in memory. An applier that is further behind reads the log.
const feedRecords = 1 << 16

// feed hands committed records from the writer to the applier without reading them again. It holds the
// newest ones without a gap.
type feed struct {
	mu      sync.Mutex
	records fifo[statemachine.Record]
}

func (f *feed) push(group []statemachine.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.records.items()); n+len(group) > feedRecords {
		f.records.drop(n)
	}
	f.records.push(group...)
}

// take moves records from seq on to the room that to has; none when the first of them is not here (any more).
func (f *feed) take(seq uint64, to []statemachine.Record) []statemachine.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, found := slices.BinarySearchFunc(f.records.items(), seq, func(r statemachine.Record, seq uint64) int {
		return cmp.Compare(r.Seq, seq)
	})
	f.records.drop(before)
	if !found {
		return to[:0]
	}
	n := copy(to[:cap(to)], f.records.items())
	f.records.drop(n)
	return to[:n]
}
