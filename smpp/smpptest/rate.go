package smpptest

import (
	"slices"
	"time"
)

// Rate is how fast submit_sm came by the simulator's own clock, refused ones included.
type Rate struct {
	Submits int
	Most    int           // in any second, wherever it begins; a second does not hold its own end
	MostAt  time.Time     // beginning of the first such second
	Elapsed time.Duration // from the first to the last
	Average float64       // a second, from the first to the last; 0 for fewer than two
}

// RateOf is the Rate of the submits of a truth, in any order.
func RateOf(truth []Line) Rate {
	var at []time.Time
	for _, l := range truth {
		if l.Type == LineSubmit {
			at = append(at, l.At)
		}
	}
	return rateOf(at)
}

func rateOf(at []time.Time) Rate {
	if len(at) == 0 {
		return Rate{}
	}
	slices.SortFunc(at, time.Time.Compare)
	r := Rate{Submits: len(at), Elapsed: at[len(at)-1].Sub(at[0])}
	if r.Elapsed > 0 {
		r.Average = float64(len(at)-1) / r.Elapsed.Seconds()
	}
	// A fullest second can be moved until it begins with a submit.
	end := 0
	for begin, first := range at {
		for end < len(at) && at[end].Before(first.Add(time.Second)) {
			end++
		}
		if end-begin > r.Most {
			r.Most, r.MostAt = end-begin, first
		}
	}
	return r
}
