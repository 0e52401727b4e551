package smpp

import (
	"context"
	"slices"
	"sync"
)

// pool is where the sessions of a client put the slots that they have free, and where callers take them,
// give them back and leave what is to be sent. Neither side waits there for the other: a session that is
// slow or stuck holds up no caller, and so no other session.
type pool struct {
	mu    sync.Mutex
	desks []*desk       // of the sessions that take submits now
	turn  int           // which of them is looked at first
	fresh chan struct{} // closed when slots come on offer; nil while nobody waits for that
}

// desk is one session's place in a pool. All but bell belongs to the pool's mutex.
type desk struct {
	pool    *pool
	session string // Config.Name

	free   queue  // slots on offer
	slow   bool   // what is on offer is lent to nobody now
	closed bool   // the session is over
	in     intake // left by callers for the session
	spare  []Submit

	bell chan struct{} // room for one: something was left
}

// intake is what callers left for a session.
type intake struct {
	submits  []Submit
	released []*pending // while nothing is on offer; else slots go back to those that are
}

func newDesk(p *pool, session string) *desk {
	return &desk{pool: p, session: session, bell: make(chan struct{}, 1)}
}

// reserve waits until slots are on offer and lends at most n. Its errors are ctx's, and ErrClosed once
// closed is.
func (p *pool) reserve(ctx context.Context, n int, closed <-chan struct{}) ([]Slot, error) {
	for {
		slots, fresh := p.lend(max(n, 1))
		if len(slots) > 0 {
			return slots, nil
		}
		select {
		case <-fresh:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-closed:
			return nil, ErrClosed
		}
	}
}

// lend gives up to n slots, each from the session that then has most on offer. If there are none, fresh
// is closed when it is worth asking again.
func (p *pool) lend(n int) (slots []Slot, fresh <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	free := 0
	for _, d := range p.desks {
		free += d.lendable()
	}
	if free == 0 {
		if p.fresh == nil {
			p.fresh = make(chan struct{})
		}
		return nil, p.fresh
	}
	slots = make([]Slot, min(n, free))
	for i := range slots {
		d := p.emptiest()
		lent := d.free.pop()
		lent.lent = true
		slots[i] = Slot{Session: d.session, SequenceNumber: lent.seq, desk: d, pending: lent}
	}
	return slots, nil
}

// emptiest is the desk with most to lend. Of equal ones it is each one's turn.
func (p *pool) emptiest() *desk {
	best := p.turn % len(p.desks)
	for i := range p.desks {
		if i = (p.turn + i) % len(p.desks); p.desks[i].lendable() > p.desks[best].lendable() {
			best = i
		}
	}
	p.turn = best + 1
	return p.desks[best]
}

func (d *desk) lendable() int {
	if d.slow {
		return 0
	}
	return d.free.len()
}

// send leaves each of the batch with the session of its slot, and gives back those that cannot be: the
// session is over, or the slot is not the caller's any more.
func (p *pool) send(batch []Submit) (refused []*Submit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range batch {
		s := &batch[i]
		d, slot := s.Slot.desk, s.Slot.pending
		if d.closed || !slot.lent {
			refused = append(refused, s)
			continue
		}
		slot.lent = false
		d.in.submits = append(d.in.submits, *s)
		d.ring()
	}
	return refused
}

// release takes back slots, the newest first, so that their numbers are used next and in order.
func (p *pool) release(slots []Slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range slices.Backward(slots) {
		switch {
		case s.desk == nil || !s.pending.lent:
			continue
		case slices.Contains(p.desks, s.desk):
			s.desk.free.unpop(s.pending)
			p.announce()
		case !s.desk.closed:
			s.desk.in.released = append(s.desk.in.released, s.pending)
			s.desk.ring()
		}
		s.pending.lent = false
	}
}

func (p *pool) announce() {
	if p.fresh != nil {
		close(p.fresh)
		p.fresh = nil
	}
}

func (d *desk) ring() {
	select {
	case d.bell <- struct{}{}:
	default:
	}
}

// What follows is the session's side.

// offer puts slots on offer beside those that are.
func (d *desk) offer(slots []*pending) {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	if !slices.Contains(d.pool.desks, d) {
		d.pool.desks = append(d.pool.desks, d)
	}
	for _, s := range slots {
		d.free.push(s)
	}
	d.pool.announce()
}

// hold keeps what is on offer from being lent, or no longer.
func (d *desk) hold(slow bool) {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	d.slow = slow
	if !slow {
		d.pool.announce()
	}
}

// withdraw ends the offer and gives back what was on it.
func (d *desk) withdraw() []*pending {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	if i := slices.Index(d.pool.desks, d); i >= 0 {
		d.pool.desks = slices.Delete(d.pool.desks, i, i+1)
	}
	return d.free.take()
}

// take gives what callers left. Its submits are the session's until it asks again.
func (d *desk) take() intake {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	in := d.in
	clear(d.spare)
	d.in, d.spare = intake{submits: d.spare[:0]}, in.submits
	return in
}

// close ends the desk: nothing is left there any more. It gives what still was.
func (d *desk) close() intake {
	d.withdraw()
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	in := d.in
	d.closed, d.in, d.spare = true, intake{}, nil
	return in
}

// queue holds slots first in, first out; its front takes back what was taken from there. The zero value
// is empty.
type queue struct {
	items []*pending
	head  int // of items; those before it are nil
}

func (q *queue) len() int { return len(q.items) - q.head }

func (q *queue) push(p *pending) {
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, p)
}

func (q *queue) pop() *pending {
	p := q.items[q.head]
	q.items[q.head] = nil
	q.head++
	return p
}

// unpop undoes a pop.
func (q *queue) unpop(p *pending) {
	if q.head == 0 {
		q.items = slices.Insert(q.items, 0, p)
		return
	}
	q.head--
	q.items[q.head] = p
}

// take empties the queue.
func (q *queue) take() []*pending {
	all := q.items[q.head:]
	*q = queue{}
	return all
}
