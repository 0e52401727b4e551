package store

import (
	"sync"

	"esmed/statemachine"
)

// feedRecords bounds what the feed holds in memory. An applier that is further behind reads the log.
const feedRecords = 1 << 16

// feed hands committed records from the writer to the applier without reading them again. It holds the
// newest ones without a gap, a group after the other.
type feed struct {
	mu     sync.Mutex
	groups [][]statemachine.Record
	count  int
}

func (f *feed) push(group []statemachine.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count+len(group) > feedRecords {
		f.groups, f.count = nil, 0
	}
	f.groups = append(f.groups, group)
	f.count += len(group)
}

// take gives up to n records from seq on; none when the first of them is not here (any more).
func (f *feed) take(seq uint64, n int) []statemachine.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.groups) > 0 && f.groups[0][0].Seq < seq {
		f.drop(1)
	}
	if len(f.groups) == 0 || f.groups[0][0].Seq != seq {
		return nil
	}
	n = min(n, len(f.groups[0]))
	taken := f.groups[0][:n:n]
	f.drop(n)
	return taken
}

// drop takes n records off the first group.
func (f *feed) drop(n int) {
	f.groups[0] = f.groups[0][n:]
	f.count -= n
	if len(f.groups[0]) == 0 {
		f.groups[0] = nil
		f.groups = f.groups[1:]
	}
}
