package store

import (
	"sync"

	"esmed/statemachine"
)

// feedRecords bounds what the feed holds in memory. An applier that is further behind reads the log.
const feedRecords = 1 << 16

// feed hands committed records from the writer to the applier without reading them again. It holds the
// newest ones without a gap.
type feed struct {
	mu      sync.Mutex
	records []statemachine.Record
}

func (f *feed) push(records []statemachine.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.records)+len(records) > feedRecords {
		f.records = nil
	}
	f.records = append(f.records, records...)
}

// take gives up to n records from seq on; none when the first of them is not here (any more).
func (f *feed) take(seq uint64, n int) []statemachine.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.records) > 0 && f.records[0].Seq < seq {
		f.records = f.records[1:]
	}
	if len(f.records) == 0 || f.records[0].Seq != seq {
		return nil
	}
	n = min(n, len(f.records))
	taken := f.records[:n:n]
	f.records = f.records[n:]
	return taken
}
