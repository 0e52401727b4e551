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

// connect tries each address once, beginning with number from, and returns the number of the one that
// answered, or of the last. Stop ends it.
func (k *keeper) connect(ctx context.Context, from int, stops uint64) (conn net.Conn, addr int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	dialled := make(chan struct{})
	g.Go(func() error {
		defer close(dialled)
		conn, addr, err = k.dialAny(ctx, from)
		return nil
	})
	for {
		select {
		case <-dialled:
			return conn, addr, err
		case <-k.wake:
			if k.stops.Load() != stops {
				cancel()
			}
		}
	}
}

func (k *keeper) dialAny(ctx context.Context, from int) (conn net.Conn, addr int, err error) {
	for i := range len(k.cfg.Addrs) {
		addr = (from + i) % len(k.cfg.Addrs)
		if conn, err = k.dial(ctx, k.cfg.Addrs[addr]); err == nil || ctx.Err() != nil {
			break
		}
	}
	return conn, addr, err
}

func (k *keeper) dial(ctx context.Context, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, k.cfg.ConnectTimeout)
	defer cancel()
	dial := k.cfg.Dial
	if dial == nil {
		dial = k.dialTCP
	}
	conn, err := dial(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("smpp: dial %s: %w", addr, err)
	}
	return conn, nil
}

// dialTCP opens a connection without Nagle's delay: against delayed acknowledgements it costs 40 ms an
// exchange.
func (k *keeper) dialTCP(ctx context.Context, addr string) (net.Conn, error) {
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
	if k.cfg.TLS == nil {
		return conn, nil
	}
	return k.secure(ctx, conn, addr)
}

func (k *keeper) secure(ctx context.Context, conn net.Conn, addr string) (net.Conn, error) {
	cfg := k.cfg.TLS
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
