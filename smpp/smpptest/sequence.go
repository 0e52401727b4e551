package smpptest

import "slices"

const maxSequence = 0x7FFFFFFF // SMPP v3.4 §3.2.2

// hasRoom says whether another request fits the connection's window.
func (c *conn) hasRoom(t *Traffic) bool {
	if t.Sequence == Zero {
		return len(c.outstanding) == 0
	}
	return len(c.outstanding) < t.Window
}

// takeSequence is the sequence_number of the next request of ours.
func (c *conn) takeSequence(mode SequenceMode) uint32 {
	switch mode {
	case Zero:
		return 0
	case Collide:
		for _, seq := range c.unanswered {
			if c.outstanding[seq] == nil {
				return seq
			}
		}
		return c.free(c.lastSubmit)
	default:
		c.sequence = c.free(c.sequence)
		return c.sequence
	}
}

// free is the first number after seq that none of our outstanding requests has.
func (c *conn) free(seq uint32) uint32 {
	for {
		if seq++; seq > maxSequence {
			seq = 1
		}
		if c.outstanding[seq] == nil {
			return seq
		}
	}
}

// asked and answered keep the numbers that Collide takes.
func (c *conn) asked(seq uint32) {
	c.lastSubmit = seq
	if c.s.cfg.Traffic.Sequence == Collide {
		c.unanswered = append(c.unanswered, seq)
	}
}

func (c *conn) answered(seq uint32) {
	if i := slices.Index(c.unanswered, seq); i >= 0 {
		c.unanswered = slices.Delete(c.unanswered, i, i+1)
	}
}
