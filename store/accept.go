package store

import (
	"context"
	"fmt"
	"time"

	"esmed/statemachine"
)

// intakeAccepts is how many accepts may be unanswered, those of the group that is being committed included: a
// reception, or the answer to a submit, waits behind two commits at most, however many messages are brought at once.
// Each commit still finds hundreds.
const intakeAccepts = 512

// maxLag is how far the applier may be behind before accepts wait for it.
const maxLag = 64 << 10

// Acceptance answers Accept.
type Acceptance struct {
	Message  statemachine.ID
	Seq      uint64 // the accepted record
	At       time.Time
	Existing bool // a repeat with an equal RequestHash: the first message's answer again
}

// Accept makes a message durable. When its Ref or its IdempotencyKey was used by the same Owner, it
// answers with the message that used it if the RequestHash is equal, else ErrRefConflict. It waits
// while the applier is far behind; ErrObstructed when that lasts since the applier cannot go on.
func (s *Store) Accept(ctx context.Context, a *statemachine.MessageAccepted) (Acceptance, error) {
	if err := s.makeRoom(ctx); err != nil {
		return Acceptance{}, fmt.Errorf("store: accept: %w", err)
	}
	return s.acceptAdmitted(ctx, a)
}

// AcceptNow is Accept that does not wait for others: where Accept would, it is ErrNoRoom, and nothing was kept.
func (s *Store) AcceptNow(ctx context.Context, a *statemachine.MessageAccepted) (Acceptance, error) {
	if !s.keepsUp() || !s.intake.admitNow() {
		return Acceptance{}, ErrNoRoom
	}
	return s.acceptAdmitted(ctx, a)
}

// acceptAdmitted waits until what was admitted is durable.
func (s *Store) acceptAdmitted(ctx context.Context, a *statemachine.MessageAccepted) (Acceptance, error) {
	w, ok := s.waiters.Get().(*waiter)
	if !ok {
		w = newWaiter()
	}
	if err := s.sendAdmitted(ctx, a, w.done); err != nil {
		return Acceptance{}, err
	}
	<-w.answered
	answer, err := w.answer, w.err
	s.waiters.Put(w)
	if err != nil {
		return Acceptance{}, fmt.Errorf("store: accept: %w", err)
	}
	return answer, nil
}

// waiter waits for one answer at a time. Between its answer and the next accept it belongs to nobody.
type waiter struct {
	answered chan struct{} // has a token when answer and err are there
	answer   Acceptance
	err      error
	done     func(Acceptance, error) // brings them
}

func newWaiter() *waiter {
	w := &waiter{answered: make(chan struct{}, 1)}
	w.done = func(a Acceptance, err error) {
		w.answer, w.err = a, err
		w.answered <- struct{}{}
	}
	return w
}

// AcceptPost is Accept for many: it returns when the message is queued, and done is called as Post says.
func (s *Store) AcceptPost(ctx context.Context, a *statemachine.MessageAccepted, done func(Acceptance, error)) error {
	if err := s.makeRoom(ctx); err != nil {
		return fmt.Errorf("store: accept: %w", err)
	}
	return s.sendAdmitted(ctx, a, done)
}

// sendAdmitted queues what was admitted.
func (s *Store) sendAdmitted(ctx context.Context, a *statemachine.MessageAccepted, done func(Acceptance, error)) error {
	err := s.send(ctx, request{fact: a, doneAccept: done})
	if err != nil {
		s.intake.dismiss(1)
	}
	return err
}

// makeRoom waits while the applier is too far behind for more work to be taken on, then until one accept more is
// admitted.
func (s *Store) makeRoom(ctx context.Context) error {
	if !s.keepsUp() {
		if err := s.await(ctx, s.keepsUp, s.stuck.Load); err != nil {
			return err
		}
	}
	return s.intake.admit(ctx)
}

// keepsUp reports whether the applier is near enough for more work to be taken on. It may have applied by now what lies
// behind the end that is read here, and what the writer has not said yet that is there.
func (s *Store) keepsUp() bool { return s.readOnly() || s.end.Load() < s.applied.Load()+maxLag }

// admit waits until one accept more may be sent. Those who wait are admitted in their order.
func (i *intake) admit(ctx context.Context) error {
	if i.admitNow() {
		return nil
	}
	select {
	case i.accepts <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (i *intake) admitNow() bool {
	select {
	case i.accepts <- struct{}{}:
		return true
	default:
		return false
	}
}

// dismiss makes room for others when accepts were answered, or were not sent after all.
func (i *intake) dismiss(accepts int) {
	for range accepts {
		<-i.accepts
	}
}
