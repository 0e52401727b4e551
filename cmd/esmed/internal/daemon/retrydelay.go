package daemon

import "time"

// retryDelay is how long a part waits after its nth temporary refusal (from 1): it doubles from min to
// max, and half of it is jitter, which is in [0,1).
func retryDelay(min, max time.Duration, n int, jitter float64) time.Duration {
	d := min
	for range n - 1 {
		if d >= max/2 {
			d = max
			break
		}
		d *= 2
	}
	return d/2 + time.Duration(jitter*float64(d/2))
}
