package smpptest

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Stats is a snapshot of what a server has done.
type Stats struct {
	Connections int `json:"connections"` // open
	Bound       int `json:"bound"`       // of these
	Binds       int `json:"binds"`       // bind requests seen

	Submits  uint64 `json:"submits"`  // submit_sm seen
	Accepted uint64 `json:"accepted"` // taken on
	Refused  uint64 `json:"refused"`  // answered with another status than ESME_ROK
	Answered uint64 `json:"answered"` // submit_sm_resp written

	Deliveries        uint64 `json:"deliveries"`         // receipts and other requests made
	Sent              uint64 `json:"sent"`               // written, each time counted
	Acked             uint64 `json:"acked"`              // acknowledged
	RefusedDeliveries uint64 `json:"refused_deliveries"` // answers with another status
	StrayAcks         uint64 `json:"stray_acks"`         // answers to nothing outstanding
	Pending           int    `json:"pending"`            // deliveries not acknowledged, and answers on their way

	// TextSum is the sum of the Fingerprints of all accepted submits. Who knows what was to be submitted, and
	// finds its sum here and its number in Accepted, knows that each came once.
	TextSum Sum       `json:"text_sum"`
	Finals  uint64    `json:"finals"`   // first final receipts, one a message, acknowledged
	LastAck time.Time `json:"last_ack"` // of an acknowledgement; zero: there was none

	Queries uint64 `json:"queries"` // query_sm seen
	Cancels uint64 `json:"cancels"` // cancel_sm seen

	EnquireLinks   uint64 `json:"enquire_links"`   // of the ESME
	EnquireAnswers uint64 `json:"enquire_answers"` // of the ESME, to ours

	AckP50 time.Duration `json:"ack_p50_ns"` // from writing a request to reading its answer, within 3%
	AckP90 time.Duration `json:"ack_p90_ns"`
	AckP99 time.Duration `json:"ack_p99_ns"`
	AckMax time.Duration `json:"ack_max_ns"`
}

type counters struct {
	submits, accepted, refused, answered       uint64
	deliveries, sent, acked, refusedDeliveries uint64
	strayAcks, enquireLinks, enquireAnswers    uint64
	queries, cancels, finals                   uint64
	pending                                    int
	textSum                                    Sum
	lastAck                                    time.Time
	latency                                    Histogram
}

// Stats is the state of things now.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.snapshot()
	h := &s.stats.latency
	st.AckP50, st.AckP90, st.AckP99, st.AckMax = h.Quantile(0.5), h.Quantile(0.9), h.Quantile(0.99), h.Max()
	return st
}

func (s *Server) snapshot() Stats {
	c := &s.stats
	st := Stats{Connections: len(s.links), Binds: s.binds, Submits: c.submits, Accepted: c.accepted, Refused: c.refused, Answered: c.answered,
		Deliveries: c.deliveries, Sent: c.sent, Acked: c.acked, RefusedDeliveries: c.refusedDeliveries, StrayAcks: c.strayAcks,
		Pending: c.pending, TextSum: c.textSum, Finals: c.finals, LastAck: c.lastAck, Queries: c.queries, Cancels: c.cancels,
		EnquireLinks: c.enquireLinks, EnquireAnswers: c.enquireAnswers}
	for _, l := range s.links {
		if l.bound {
			st.Bound++
		}
	}
	return st
}

// waiter is told, by closing of its channel, when the state is as it should be.
type waiter struct {
	until func(Stats) bool
	done  chan struct{}
}

// Await returns as soon as the Stats (without the latencies) are as until wants them, or with an error
// that quotes them when ctx ends first. until runs under the server's lock.
func (s *Server) Await(ctx context.Context, until func(Stats) bool) error {
	w := waiter{until, make(chan struct{})}
	s.turn(func(time.Time) { s.waiters = append(s.waiters, w) })
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		s.mu.Lock()
		s.waiters = slices.DeleteFunc(s.waiters, func(v waiter) bool { return v.done == w.done })
		s.mu.Unlock()
		return fmt.Errorf("smpptest: await: %w: %+v", ctx.Err(), s.Stats())
	}
}

// Drained returns when all that was due has been sent and acknowledged. Answers that an Action holds
// are not due.
func (s *Server) Drained(ctx context.Context) error {
	return s.Await(ctx, func(st Stats) bool { return st.Pending == 0 })
}

func (s *Server) tell() {
	if len(s.waiters) == 0 {
		return
	}
	st, left := s.snapshot(), s.waiters[:0]
	for _, w := range s.waiters {
		if w.until(st) {
			close(w.done)
		} else {
			left = append(left, w)
		}
	}
	s.waiters = left
}
