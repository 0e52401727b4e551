package smpptest

import "time"

// dice is a stream of random numbers (splitmix64). Every submit has its own, made from the seed and
// the submit's number, so that what happens to it does not depend on what happened between.
type dice uint64

func newDice(seed, n uint64) dice {
	d := dice(seed ^ n*0x9E3779B97F4A7C15)
	d.next()
	return d
}

func (d *dice) next() uint64 {
	*d += 0x9E3779B97F4A7C15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// share is a number from 0 up to but not including 1.
func (d *dice) share() float64 { return float64(d.next()>>11) / (1 << 53) }

// hit says yes in that share of cases.
func (d *dice) hit(share float64) bool { return d.share() < share }

// upTo is a duration from 0 up to and with limit.
func (d *dice) upTo(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return time.Duration(d.next() % uint64(limit+1))
}
