package smpptest

import (
	"context"
	"time"
)

// due is something that happens at a time; exactly one of delivery, answer and tick is set.
type due struct {
	at    time.Time
	order uint64 // among those of one time

	delivery *delivery
	answer   *answer
	tick     func(now time.Time)
}

func (d *due) before(e *due) bool {
	if d.at.Equal(e.at) {
		return d.order < e.order
	}
	return d.at.Before(e.at)
}

// schedule is a binary heap with the earliest at the front.
type schedule struct {
	heap  []due
	count uint64
}

func (q *schedule) push(d due) {
	q.count++
	d.order = q.count
	q.insert(d)
}

func (q *schedule) insert(d due) {
	q.heap = append(q.heap, d)
	for i := len(q.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.heap[i].before(&q.heap[parent]) {
			break
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

// keep makes the schedule of some of its members, in any order.
func (q *schedule) keep(some []due) {
	q.heap = nil
	for _, d := range some {
		q.insert(d)
	}
}

func (q *schedule) pop() due {
	top, last := q.heap[0], len(q.heap)-1
	q.heap[0] = q.heap[last]
	q.heap[last] = due{}
	q.heap = q.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if q.heap[child].before(&q.heap[least]) {
				least = child
			}
		}
		if least == i {
			return top
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}

// after puts something on the schedule and wakes waitDue if it is now the first.
func (s *Server) after(delay time.Duration, now time.Time, d due) {
	d.at = now.Add(delay)
	s.due.push(d)
	if s.due.heap[0].order == s.due.count {
		select {
		case s.kick <- struct{}{}:
		default:
		}
	}
}

const (
	idle      = time.Hour        // how long to wait when nothing is due
	leastWait = time.Millisecond // what falls due within it is done together
)

// waitDue does what falls due until ctx ends.
func (s *Server) waitDue(ctx context.Context) error {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.kick:
		case <-timer.C:
		}
		wait := idle
		s.turn(func(now time.Time) {
			for len(s.due.heap) > 0 && !s.due.heap[0].at.After(now) {
				s.fallDue(s.due.pop(), now)
			}
			if len(s.due.heap) > 0 {
				wait = max(s.due.heap[0].at.Sub(now), leastWait)
			}
		})
		timer.Reset(wait)
	}
}

func (s *Server) fallDue(d due, now time.Time) {
	switch {
	case d.delivery != nil:
		s.box.ready.pushBack(d.delivery)
	case d.answer != nil:
		s.stats.pending--
		s.respond(d.answer, now)
	default:
		d.tick(now)
	}
}
