package store

import "esmed/statemachine"

// cachedMessages bounds each of the two generations of a messageCache.
const cachedMessages = 16384

// messageCache keeps messages that the last batches changed, since the next record about them is
// rarely far. It belongs to one applier.
type messageCache struct {
	young, old map[statemachine.ID]*statemachine.Message
}

func (c *messageCache) get(id statemachine.ID) *statemachine.Message {
	if m, ok := c.young[id]; ok {
		return m
	}
	return c.old[id]
}

func (c *messageCache) add(all map[statemachine.ID]*statemachine.Message) {
	if c.young == nil || len(c.young)+len(all) > cachedMessages {
		c.young, c.old = make(map[statemachine.ID]*statemachine.Message, cachedMessages), c.young
	}
	for id, m := range all {
		c.young[id] = m
	}
}
