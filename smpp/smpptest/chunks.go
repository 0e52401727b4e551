package smpptest

import "slices"

// chunkLen is how many things share an allocation: few enough that making one holds up nobody.
const chunkLen = 512

// chunks is a list that grows without its members being copied. A server keeps all that it did, and a
// slice of that, grown by copying, would have it stand still for longer and longer: an ESME that is
// measured by the server's clock would seem to send in bursts.
type chunks[T any] struct {
	full [][]T
	last []T
}

func (c *chunks[T]) add(v T) {
	if len(c.last) == cap(c.last) {
		if c.last != nil {
			c.full = append(c.full, c.last)
		}
		c.last = make([]T, 0, chunkLen)
	}
	c.last = append(c.last, v)
}

// all is a copy of the list; nil when it is empty.
func (c *chunks[T]) all() []T { return slices.Concat(append(slices.Clone(c.full), c.last)...) }
