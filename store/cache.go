package store

import "esmed/statemachine"

// cachedOctets bounds each of the two generations of a messageCache. It is for the answer to a submit and the receipts
// that come at once: a message that nothing is heard of for some thousand others is read again when there is.
const cachedOctets = 4 << 20

// messageCache keeps messages that the last batches changed, since the next record about them is
// rarely far. It belongs to one applier.
type messageCache struct {
	young, old map[statemachine.ID]*statemachine.Message
	octets     int // of young
}

func (c *messageCache) get(id statemachine.ID) *statemachine.Message {
	if m, ok := c.young[id]; ok {
		return m
	}
	return c.old[id]
}

// add takes the messages of a batch, which together take so many octets.
func (c *messageCache) add(all map[statemachine.ID]*statemachine.Message, octets int) {
	if c.young == nil || c.octets+octets > cachedOctets {
		clear(c.old)
		if c.young, c.old = c.old, c.young; c.young == nil {
			c.young = make(map[statemachine.ID]*statemachine.Message)
		}
		c.octets = 0
	}
	for id, m := range all {
		c.young[id] = m
	}
	c.octets += octets
}

// What a message takes in memory, about: by itself with its strings, and for each part with an attempt.
const (
	messageOctets = 900
	partOctets    = 1000
)

func octetsOf(m *statemachine.Message) int { return messageOctets + len(m.Parts)*partOctets }
