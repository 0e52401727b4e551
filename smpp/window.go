package smpp

import "time"

// maxSequenceNumber is the largest that an ESME may use (SMPP v3.4 §5.1.4); 0x00000001 follows it.
const maxSequenceNumber = 0x7FFFFFFF

// maxExpired bounds how many requests without an answer are remembered, for a late one, in a session
// that may last for months. An answer to an older one is a stray response, which is kept too.
const maxExpired = 1 << 16

// window knows every sequence number of a session that is in use and what for, and how many submit_sm
// may still be sent. It is a value without clock or I/O.
type window struct {
	limit    int
	inUse    int    // slots reserved or outstanding
	reserved int    // of these, not used yet
	last     uint32 // the sequence number given out last
	taken    map[uint32]*pending
	queue    []*pending // outstanding, by their deadlines; may begin with answered ones
	expired  []*pending // by age; may hold answered ones
	timeouts int        // of submit_sm since the last answer to one
}

// pending is a sequence number in use.
type pending struct {
	phase    phase
	lent     bool // a caller has the slot; guarded by the mutex of the session's pool
	command  CommandID
	seq      uint32
	position int64     // of its first octet in the session's output
	sent     time.Time // when it was put there
	deadline time.Time
	done     func(Answer)
}

type phase uint8

const (
	reserved    phase = iota // a slot not used yet
	outstanding              // sent, no answer yet
	expired                  // the answer may still come
	answered
)

func newWindow(limit int) window { return window{limit: limit, taken: make(map[uint32]*pending)} }

// free is how many slots reserve may still give.
func (w *window) free() int { return w.limit - w.inUse }

// outstanding is how many submit_sm wait for their answer.
func (w *window) outstanding() int { return w.inUse - w.reserved }

// reserve takes one slot of the window.
func (w *window) reserve() *pending {
	w.inUse++
	w.reserved++
	return w.take(CommandSubmitSM)
}

// take gives the next free sequence number to a request.
func (w *window) take(command CommandID) *pending {
	for {
		w.last = w.last%maxSequenceNumber + 1
		if _, used := w.taken[w.last]; !used {
			break
		}
	}
	p := &pending{command: command, seq: w.last}
	w.taken[p.seq] = p
	return p
}

// release gives back a reserved slot. The number given out last is given out again: the SMSC never saw it.
func (w *window) release(p *pending) {
	w.inUse--
	w.reserved--
	delete(w.taken, p.seq)
	if p.seq == w.last {
		w.last--
	}
}

// send makes p outstanding. Deadlines never decrease from call to call.
func (w *window) send(p *pending, position int64, now, deadline time.Time, done func(Answer)) {
	if p.command == CommandSubmitSM {
		w.reserved--
	}
	p.phase, p.position, p.sent, p.deadline, p.done = outstanding, position, now, deadline, done
	w.queue = append(w.queue, p)
}

// answer finds the request that the response h answers, by sequence number and kind, and frees what it
// held; nil when there is none. late: the response timer had given up on it.
func (w *window) answer(h Header) (p *pending, late bool) {
	p = w.taken[h.SequenceNumber]
	if p == nil || p.phase == reserved || h.CommandID != CommandGenericNack && h.CommandID != p.command.Response() {
		return nil, false
	}
	late = p.phase == expired
	if p.command == CommandSubmitSM {
		w.timeouts = 0
		if !late {
			w.inUse--
		}
	}
	p.phase = answered
	delete(w.taken, p.seq)
	w.trim()
	return p, late
}

// expire takes the next request whose deadline has passed; nil when there is none. Its slot is free, its
// number is not.
func (w *window) expire(now time.Time) *pending {
	w.trim()
	if len(w.queue) == 0 || w.queue[0].deadline.After(now) {
		return nil
	}
	p := w.queue[0]
	w.queue = w.queue[1:]
	p.phase = expired
	if p.command == CommandSubmitSM {
		w.inUse--
		w.timeouts++
	}
	w.remember(p)
	return p
}

func (w *window) remember(p *pending) {
	w.expired = append(w.expired, p)
	if len(w.expired) <= maxExpired {
		return
	}
	if oldest := w.expired[0]; oldest.phase == expired {
		delete(w.taken, oldest.seq)
	}
	w.expired = w.expired[1:]
}

// next is the earliest deadline; zero when nothing is outstanding.
func (w *window) next() time.Time {
	w.trim()
	if len(w.queue) == 0 {
		return time.Time{}
	}
	return w.queue[0].deadline
}

// end takes all that is outstanding, in the order in which it was sent.
func (w *window) end() []*pending {
	var left []*pending
	for _, p := range w.queue {
		if p.phase == outstanding {
			left = append(left, p)
		}
	}
	*w = newWindow(w.limit)
	return left
}

// trim drops answered requests from the head of the queue.
func (w *window) trim() {
	for len(w.queue) > 0 && w.queue[0].phase != outstanding {
		w.queue[0] = nil
		w.queue = w.queue[1:]
	}
}
