package smpp

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"golang.org/x/sync/errgroup"
)

// connect tries each address once, from *addr on, and leaves the one that answered in *addr. Stop ends it.
func (c *Client) connect(ctx context.Context, addr *int) (conn net.Conn, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	dialled := make(chan struct{})
	g.Go(func() error {
		defer close(dialled)
		conn, err = c.dialAny(ctx, addr)
		return nil
	})
	for {
		select {
		case <-dialled:
			return conn, err
		case <-c.wake:
			if c.stopped.Load() {
				cancel()
			}
		}
	}
}

func (c *Client) dialAny(ctx context.Context, addr *int) (conn net.Conn, err error) {
	if len(c.cfg.Addrs) == 0 {
		return nil, fmt.Errorf("smpp: dial: no address")
	}
	for i := range len(c.cfg.Addrs) {
		next := (*addr + i) % len(c.cfg.Addrs)
		if conn, err = c.dial(ctx, c.cfg.Addrs[next]); err == nil || ctx.Err() != nil {
			*addr = next
			return conn, err
		}
	}
	return nil, err
}

func (c *Client) dial(ctx context.Context, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.ConnectTimeout)
	defer cancel()
	dial := c.cfg.Dial
	if dial == nil {
		dial = c.dialTCP
	}
	conn, err := dial(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("smpp: dial %s: %w", addr, err)
	}
	return conn, nil
}

// dialTCP opens a connection without Nagle's delay: against delayed acknowledgements it costs 40 ms an
// exchange.
func (c *Client) dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if err := tcp.SetNoDelay(true); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	if c.cfg.TLS == nil {
		return conn, nil
	}
	return c.secure(ctx, conn, addr)
}

func (c *Client) secure(ctx context.Context, conn net.Conn, addr string) (net.Conn, error) {
	cfg := c.cfg.TLS
	if cfg.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		cfg = cfg.Clone()
		cfg.ServerName = host
	}
	secured := tls.Client(conn, cfg)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}

// backoff gives growing pauses. They are jittered, so that a hundred sessions that were cut at once do
// not come back at once.
type backoff struct {
	min, max time.Duration
	base     time.Duration // of the pause before; 0: none
}

// next is the next pause: between half of the base and all of it, the base doubling from min up to max.
func (b *backoff) next() time.Duration {
	b.base = min(max(2*b.base, b.min), b.max)
	return b.base/2 + rand.N(b.base/2+1)
}

func (b *backoff) reset() { b.base = 0 }
