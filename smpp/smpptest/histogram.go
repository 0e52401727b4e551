package smpptest

import (
	"math/bits"
	"time"
)

const subBuckets = 32 // of each power of two, so 3% wide

// Histogram counts durations in microseconds, in buckets that grow with their value. The zero Histogram
// is empty. It has no lock.
type Histogram struct {
	counts [64 * subBuckets]uint64
	total  uint64
	max    time.Duration
}

// Add counts a duration; a negative one as 0.
func (h *Histogram) Add(d time.Duration) { h.AddN(d, 1) }

// AddN counts a duration n times.
func (h *Histogram) AddN(d time.Duration, n uint64) {
	h.counts[bucket(uint64(max(d.Microseconds(), 0)))] += n
	h.total += n
	h.max = max(h.max, d)
}

// Total is how many durations were counted.
func (h *Histogram) Total() uint64 { return h.total }

// Max is the longest duration; 0 if there is none.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile is the upper end of the bucket in which the share q of all durations is reached, within 3%; 0
// if there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	want, seen := uint64(q*float64(h.total)+0.5), uint64(0)
	for i, n := range h.counts {
		if seen += n; n > 0 && seen >= want {
			return min(upperEnd(i), h.max)
		}
	}
	return h.max
}

func bucket(us uint64) int {
	if us < subBuckets {
		return int(us)
	}
	shift := bits.Len64(us) - bits.Len(subBuckets)
	return (shift+1)*subBuckets + int(us>>shift) - subBuckets
}

func upperEnd(i int) time.Duration {
	if i < 2*subBuckets {
		return time.Duration(i+1) * time.Microsecond
	}
	shift := i/subBuckets - 1
	return time.Duration(uint64(i%subBuckets+subBuckets+1)<<shift) * time.Microsecond
}
