package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// obstaclePatience is how long an applier may have been kept from going on before those who wait for it are
// told.
const obstaclePatience = 2 * time.Second

// obstacle is what keeps the applier from going on.
type obstacle struct {
	err   error
	since time.Time
}

// Changed is closed the next time that the applier has applied something, or finds that it cannot.
func (s *Store) Changed() <-chan struct{} { return s.changed.next() }

// Applied is the seq of the last record in the projection. Entries of the queue that a record up to it
// took off the queue are not there any more.
func (s *Store) Applied() uint64 { return s.applied.Load() }

// Sync waits until all that was durable when it was called is applied. Reading methods call it. While
// the applier cannot go on, for want of room or of a key, and that for two seconds, it is ErrObstructed with
// the reason.
func (s *Store) Sync(ctx context.Context) error {
	if s.readOnly() {
		return nil
	}
	target := s.end.Load()
	if s.applied.Load() >= target {
		return nil
	}
	raise(&s.wanted, target)
	s.wake()
	if err := s.await(ctx, func() bool { return s.applied.Load() >= target }, s.stuck.Load); err != nil {
		return fmt.Errorf("store: sync: %w", err)
	}
	return nil
}

// settle waits until state.db has all that was applied when it was called. Errors are those of Sync.
func (s *Store) settle(ctx context.Context) error {
	target := s.applied.Load()
	if s.readOnly() || s.settled.Load() >= target {
		return nil
	}
	raise(&s.settling, target)
	s.wake()
	return s.await(ctx, func() bool { return s.settled.Load() >= target }, func() bool { return true })
}

// raise makes a number at least so great.
func raise(n *atomic.Uint64, least uint64) {
	for now := n.Load(); now < least && !n.CompareAndSwap(now, least); now = n.Load() {
	}
}

// await waits for what the applier's batches bring about. An obstacle counts while stuck is true.
func (s *Store) await(ctx context.Context, reached, stuck func() bool) error {
	for {
		next := s.changed.next()
		if reached() {
			return nil
		}
		var over <-chan time.Time
		if o := s.blocked.Load(); o != nil && stuck() {
			left := obstaclePatience - time.Since(o.since)
			if left <= 0 {
				return fmt.Errorf("%w: %d records behind: %w", ErrObstructed, s.end.Load()-s.settled.Load(), o.err)
			}
			over = time.After(left)
		}
		select {
		case <-next:
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ended:
			if reached() {
				return nil
			}
			return ErrClosed
		}
	}
}

// passing reports whether an error of the applier's may be over the next time.
func passing(err error) bool { return errors.Is(err, ErrDiskFull) || errors.Is(err, ErrKey) }

// obstruct notes what keeps the applier from going on; nil: nothing any more. Only the applier calls it.
func (s *Store) obstruct(err error) {
	before := s.blocked.Load()
	switch {
	case err == nil && before == nil:
		return
	case err == nil:
		s.blocked.Store(nil)
	case before != nil:
		s.blocked.Store(&obstacle{err, before.since})
		return
	default:
		s.blocked.Store(&obstacle{err, time.Now()})
		s.changed.send() // for those who wait already
	}
	if s.cfg.OnObstacle != nil {
		s.cfg.OnObstacle(err)
	}
}

// wake tells the applier that there is something for it.
func (s *Store) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// broadcast wakes all who wait for the next time that something happens.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) send() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
