package smpptest

import "time"

const readsASecond = 20 // with Link.ReadRate

// allowance is the part of a buffer that the next read may fill; with Link.ReadRate it waits until the
// octets of that read are due.
func (c *conn) allowance(buf []byte) []byte {
	c.s.mu.Lock()
	rate := c.s.cfg.Link.ReadRate
	c.s.mu.Unlock()
	if rate <= 0 {
		return buf
	}
	n := min(len(buf), max(1, rate/readsASecond))
	time.Sleep(time.Duration(n) * time.Second / time.Duration(rate))
	return buf[:n]
}

// mayTakeIn returns when what was read may be taken in.
func (c *conn) mayTakeIn() {
	for {
		c.s.mu.Lock()
		stopped := c.stopped
		c.s.mu.Unlock()
		if stopped == nil {
			return
		}
		<-stopped
	}
}

// resumeReading ends a stop. The caller holds the server's lock.
func (c *conn) resumeReading() {
	if c.stopped != nil {
		close(c.stopped)
		c.stopped = nil
	}
}
