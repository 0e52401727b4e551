package lives

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"esmed/smpp/smpptest"
)

// probes ask for some lives until they are final, and measure from the time of the record that made one
// final, by the daemon's clock, to the answer that shows it. Both clocks are this machine's.
type probes struct {
	api   *api
	every time.Duration
	next  time.Time // used by who offers, one at a time
	ids   chan string

	mu      sync.Mutex
	visible smpptest.Histogram
}

// probesAtOnce bounds how many lives are waited for: each one's request looks at the store whenever that
// has changed.
const probesAtOnce = 4

func newProbes(a *api, perSecond int) *probes {
	p := &probes{api: a, ids: make(chan string)}
	if perSecond > 0 {
		p.every = time.Second / time.Duration(perSecond)
	}
	return p
}

// offer takes a life that was accepted just now, if it is time for another and somebody is free. With
// several offering, see post.go, each may take one.
func (p *probes) offer(id []byte, now time.Time) {
	if p.every == 0 {
		return
	}
	p.mu.Lock()
	due := !now.Before(p.next)
	if due {
		p.next = now.Add(p.every)
	}
	p.mu.Unlock()
	if !due {
		return
	}
	select {
	case p.ids <- string(id):
	default:
	}
}

func (p *probes) run(ctx context.Context) error {
	if p.every == 0 {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	for range probesAtOnce {
		g.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case id := <-p.ids:
					if err := p.ask(ctx, id); err != nil && ctx.Err() == nil {
						return err
					}
				}
			}
		})
	}
	return g.Wait()
}

func (p *probes) ask(ctx context.Context, id string) error {
	var m struct {
		Final       bool      `json:"final"`
		FinalisedAt time.Time `json:"finalised_at"`
	}
	if err := p.api.getJSON(ctx, "/v1/messages/"+id+"?wait=final&timeout=30s", &m); err != nil {
		return err
	}
	now := time.Now()
	if m.Final {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.visible.Add(now.Sub(m.FinalisedAt))
	}
	return nil
}
