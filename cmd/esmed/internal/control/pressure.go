package control

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"esmed/statemachine"
)

// Submissions come faster than they can be made durable, or than what follows from them can be worked out: a batch is
// read no faster, and a single one waits for room, or is refused. One that was refused was not accepted.
const (
	// roomPatience is how long a submission waits for room: longer than a store that is kept from going on takes to say
	// why, which is the better answer, and shorter than clients wait for any.
	roomPatience = 3 * time.Second
	// maxForRoom is how many wait for room at a time, so that half of the connections of a listener are left to
	// whoever asks meanwhile.
	maxForRoom = maxConns / 2
	// retryForRoom is after how long to try again. A store that works makes room in less.
	retryForRoom = time.Second
)

// pressure counts those who wait for room.
type pressure struct{ waiting atomic.Int64 }

// accept has one message accepted. It is ErrNoRoom when there is none for it for too long, or when many wait for some
// already.
func (p *pressure) accept(ctx context.Context, to Submitter, m *statemachine.MessageAccepted) (Accepted, error) {
	accepted, err := to.AcceptNow(ctx, m)
	if !errors.Is(err, ErrNoRoom) {
		return accepted, err
	}
	defer p.waiting.Add(-1)
	if p.waiting.Add(1) > maxForRoom {
		return Accepted{}, err
	}
	patient, cancel := context.WithTimeout(ctx, roomPatience)
	defer cancel()
	accepted, err = to.Accept(patient, m)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = ErrNoRoom
	}
	return accepted, err
}

// noRoom is the answer to a submission that there was no room for.
func noRoom() *Problem {
	p := newProblem(http.StatusTooManyRequests, "more messages come than can be taken", "submit it again later, or many in one batch, which is read as fast as they can be taken")
	p.retryAfter = retryForRoom
	return p
}
