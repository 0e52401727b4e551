package store

import (
	"context"
	"fmt"
	"sync"

	"esmed/statemachine"
)

// intakeRequests is how many requests may wait for the writer before senders do: some groups, so that a
// commit always finds what came during the last one.
const intakeRequests = 8192

// request is what somebody wants appended. Exactly one of the done functions is set.
type request struct {
	fact  statemachine.Fact // one, or
	facts []statemachine.Fact

	doneAll    func([]statemachine.Record, error)
	doneOne    func(statemachine.Record, error)
	doneAccept func(Acceptance, error)
}

func (r *request) fail(err error) {
	switch {
	case r.doneAll != nil:
		r.doneAll(nil, err)
	case r.doneOne != nil:
		r.doneOne(statemachine.Record{}, err)
	default:
		r.doneAccept(Acceptance{}, err)
	}
}

// intake takes requests until it is closed. Whatever it took is answered. The writer takes all that wait at
// once, and is woken by the first of them only.
type intake struct {
	mu      sync.Mutex
	waiting []request // in the order in which they came
	closed  bool
	room    chan struct{} // closed when there is room again; nil: nobody waits for that
	filled  chan struct{} // has a token when waiting got its first, or intake was closed
	accepts chan struct{} // has a token for each accept that was admitted and is not answered
}

func newIntake() *intake {
	return &intake{filled: make(chan struct{}, 1), accepts: make(chan struct{}, intakeAccepts)}
}

func (i *intake) send(ctx context.Context, r request) error {
	for {
		room, err := i.put(r)
		if room == nil || err != nil {
			return err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// put queues a request, unless there is no room: then it gives what tells that there may be some.
func (i *intake) put(r request) (room <-chan struct{}, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.closed:
		return nil, ErrClosed
	case len(i.waiting) == intakeRequests:
		if i.room == nil {
			i.room = make(chan struct{})
		}
		return i.room, nil
	}
	i.waiting = append(i.waiting, r)
	if len(i.waiting) == 1 {
		i.wake()
	}
	return nil, nil
}

func (i *intake) wake() {
	select {
	case i.filled <- struct{}{}:
	default:
	}
}

// take appends all that waits, which may be nothing.
func (i *intake) take(to []request) []request {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.takeLocked(to)
}

// wait is take that waits until there is something. Nothing: the intake is closed.
func (i *intake) wait(to []request) []request {
	for {
		i.mu.Lock()
		if len(i.waiting) > 0 || i.closed {
			defer i.mu.Unlock()
			return i.takeLocked(to)
		}
		i.mu.Unlock()
		<-i.filled
	}
}

func (i *intake) takeLocked(to []request) []request {
	to = append(to, i.waiting...)
	clear(i.waiting)
	i.waiting = i.waiting[:0]
	i.makeRoom()
	return to
}

func (i *intake) makeRoom() {
	if i.room != nil {
		close(i.room)
		i.room = nil
	}
}

// refuse answers requests with an error.
func (i *intake) refuse(requests []request, err error) {
	accepts := 0
	for n := range requests {
		requests[n].fail(err)
		if requests[n].doneAccept != nil {
			accepts++
		}
	}
	i.dismiss(accepts)
}

// asked reports whether requests wait.
func (i *intake) asked() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.waiting) > 0
}

func (i *intake) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	i.makeRoom()
	i.wake()
}

// Post queues one fact. It waits only while the writer's queue is full; an error means that the fact was
// not taken and done is not called. done is called once, by the writer, when the record is durable or
// could not be made so (ErrDiskFull: the store goes on; any other: it ends); it must not block.
//
// The fact and all that it points to belong to the store from now on and are not modified by anybody.
func (s *Store) Post(ctx context.Context, fact statemachine.Fact, done func(statemachine.Record, error)) error {
	return s.send(ctx, request{fact: fact, doneOne: done})
}

// Append makes facts durable: in order, next to each other, all or none. They belong to the store from
// now on, as with Post.
func (s *Store) Append(ctx context.Context, facts ...statemachine.Fact) ([]statemachine.Record, error) {
	appended, err := s.BeginAppend(ctx, facts...)
	if err != nil {
		return nil, err
	}
	return appended()
}

// BeginAppend is Append that returns when the facts are queued behind all that was queued before; appended,
// which is called once, waits until they are durable.
func (s *Store) BeginAppend(ctx context.Context, facts ...statemachine.Fact) (appended func() ([]statemachine.Record, error), err error) {
	if len(facts) == 0 {
		return func() ([]statemachine.Record, error) { return nil, nil }, nil
	}
	type result struct {
		records []statemachine.Record
		err     error
	}
	done := make(chan result, 1)
	err = s.send(ctx, request{facts: facts, doneAll: func(r []statemachine.Record, err error) { done <- result{r, err} }})
	if err != nil {
		return nil, err
	}
	return func() ([]statemachine.Record, error) {
		r := <-done
		if r.err != nil {
			return nil, fmt.Errorf("store: append: %w", r.err)
		}
		return r.records, nil
	}, nil
}

func (s *Store) send(ctx context.Context, r request) error {
	if s.readOnly() {
		return fmt.Errorf("store: append: %w", ErrReadOnly)
	}
	if err := s.intake.send(ctx, r); err != nil {
		return fmt.Errorf("store: append: %w", err)
	}
	return nil
}
