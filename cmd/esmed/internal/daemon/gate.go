package daemon

import (
	"context"
	"sync"
	"sync/atomic"

	"esmed/statemachine"
)

// gate keeps an SMSC's queue from being read and taken from at once. A dispatcher's round is inside from
// reading the queue until what leaves is recorded; an order that takes parts off the queue, or holds it, is
// inside until its record is applied. So a part is either sent or cancelled, and what a hold did not see
// leaving does not leave. There is one for each name, whether an SMSC of that name runs or not: one may start
// at any time.
type gate struct {
	smsc  string
	store applier
	// turned has a token when the queue may not be held any more. Only the dispatcher takes it.
	turned chan struct{}

	inside chan struct{} // has a token while somebody is
	// unsure says that the log may have orders which are not applied yet, or hold does not show. Who is inside owns
	// it.
	unsure bool
	hold   atomic.Bool // the queue is held
}

// applier is what a gate needs of a store.
type applier interface {
	// Sync waits until all that is in the log is applied.
	Sync(context.Context) error
	// Hold is the hold of an SMSC's queue as far as it is applied; the zero Hold is none.
	Hold(ctx context.Context, smsc string) (statemachine.Hold, error)
}

// enter waits until nobody else is inside and all orders before are applied. An error is the context's, or
// the store's, and then nobody is inside.
func (g *gate) enter(ctx context.Context) error {
	if err := g.lock(ctx); err != nil {
		return err
	}
	if !g.unsure {
		return nil
	}
	if err := g.refresh(ctx); err != nil {
		g.leave()
		return err
	}
	return nil
}

// refresh waits for the applier and learns how it left the queue.
func (g *gate) refresh(ctx context.Context) error {
	if err := g.store.Sync(ctx); err != nil {
		return err
	}
	hold, err := g.store.Hold(ctx, g.smsc)
	if err != nil {
		return err
	}
	g.unsure = false
	g.turn(hold)
	return nil
}

func (g *gate) lock(ctx context.Context) error {
	select {
	case g.inside <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) leave() { <-g.inside }

// order has give record an order, and waits until that is applied. Once it has begun ctx does not end it: what may be
// in the log is to be seen by the next round. When it fails that is not known, and the next to enter waits for it.
func (g *gate) order(ctx context.Context, give func(context.Context) error) error {
	if err := g.lock(ctx); err != nil {
		return err
	}
	defer g.leave()
	g.unsure = true
	ctx = context.WithoutCancel(ctx)
	if err := give(ctx); err != nil {
		return err
	}
	return g.refresh(ctx)
}

// held reports whether the queue is held.
func (g *gate) held() bool { return g.hold.Load() }

// turn puts a hold that is applied, the zero Hold for none. Who calls it is inside.
func (g *gate) turn(h statemachine.Hold) {
	g.hold.Store(h != statemachine.Hold{})
	if g.held() {
		return
	}
	select {
	case g.turned <- struct{}{}:
	default:
	}
}

// gates are those of all SMSCs, by name.
type gates struct {
	store applier

	mu     sync.Mutex
	byName map[string]*gate
}

func newGates(s applier) *gates { return &gates{store: s, byName: map[string]*gate{}} }

// of gives an SMSC's gate.
func (g *gates) of(smsc string) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.byName[smsc]
	if one == nil {
		one = &gate{smsc: smsc, store: g.store, turned: make(chan struct{}, 1), inside: make(chan struct{}, 1), unsure: true}
		g.byName[smsc] = one
	}
	return one
}
