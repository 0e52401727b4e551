package daemon

import (
	"maps"
	"sync"
)

// risen makes counters of counts that an operator's decision can lower again: a counter that falls counts, for who
// reads it, as one that began anew. It is safe for concurrent use.
type risen struct {
	mu   sync.Mutex
	last map[string]float64
	sums map[string]float64
}

// see takes counts as they are now, and gives by how much each has risen in all.
func (r *risen) see(now map[string]float64) map[string]float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sums == nil {
		r.sums = map[string]float64{}
	}
	for of, n := range now {
		r.sums[of] += max(0, n-r.last[of])
	}
	r.last = now
	return maps.Clone(r.sums)
}
