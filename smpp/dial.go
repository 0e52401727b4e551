package smpp

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// minDial is what an address behind a name gets of Config.ConnectTimeout at least, however many there are.
const minDial = 2 * time.Second

// route says where a connection went, or where to begin with the next.
type route struct {
	addr  int    // number of Config.Addrs
	ip    string // of the addresses behind its name; "": the first
	after bool   // begin with the one after it
}

// connect tries each place once, and returns the one that answered, or the last. Stop ends it.
func (k *keeper) connect(ctx context.Context, from route, stops uint64) (conn net.Conn, to route, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	dialled := make(chan struct{})
	g.Go(func() error {
		defer close(dialled)
		conn, to, err = k.dialAny(ctx, from)
		return nil
	})
	for {
		select {
		case <-dialled:
			return conn, to, err
		case <-k.wake:
			if k.stops.Load() != stops {
				cancel()
			}
		}
	}
}

// dialAny tries the addresses of all names, each once, beginning with from.
func (k *keeper) dialAny(ctx context.Context, from route) (conn net.Conn, to route, err error) {
	var failed dialErrors
	var rest []string // behind the name that is begun with, but before from
	for i := range len(k.cfg.Addrs) + 1 {
		addr, ips := (from.addr+i)%len(k.cfg.Addrs), rest
		err = nil
		if i < len(k.cfg.Addrs) {
			ips, err = k.resolve(ctx, k.cfg.Addrs[addr])
		}
		if i == 0 {
			rest, ips = from.split(ips)
		}
		if err == nil && len(ips) == 0 {
			continue
		}
		to = route{addr: addr}
		if err == nil {
			conn, to.ip, err = k.dialEach(ctx, k.cfg.Addrs[addr], ips)
		}
		if err == nil || ctx.Err() != nil {
			return conn, to, err
		}
		failed = append(failed, err)
	}
	return nil, to, failed
}

// split parts the addresses behind a name into those that come last, and those that are tried first.
func (r route) split(ips []string) (last, first []string) {
	for i, ip := range ips {
		if ip == r.ip {
			if r.after {
				i++
			}
			return ips[:i], ips[i:]
		}
	}
	return nil, ips
}

// resolve is the addresses to dial for one of Config.Addrs: ip:port, or the address itself where Config.Dial
// knows its way.
func (k *keeper) resolve(ctx context.Context, addr string) ([]string, error) {
	if k.cfg.Resolve == nil {
		return []string{addr}, nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("smpp: dial %s: %w", addr, err)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{addr}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, k.cfg.ConnectTimeout)
	defer cancel()
	ips, err := k.cfg.Resolve(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("smpp: resolve %s: %w", addr, err)
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("smpp: resolve %s: the name has no address", addr)
	}
	all := make([]string, len(ips))
	for i, ip := range ips {
		all[i] = net.JoinHostPort(ip.Unmap().String(), port)
	}
	return all, nil
}

func resolveBySystem(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// dialEach tries the addresses behind addr one after the other, within one ConnectTimeout for all of them.
// It returns the one that answered, or the last that was tried.
func (k *keeper) dialEach(ctx context.Context, addr string, ips []string) (conn net.Conn, ip string, err error) {
	ctx, cancel := context.WithTimeout(ctx, k.cfg.ConnectTimeout)
	defer cancel()
	var failed dialErrors
	end, _ := ctx.Deadline()
	for i := 0; i < len(ips) && time.Until(end) > 0 && ctx.Err() == nil; i++ {
		share := max(time.Until(end)/time.Duration(len(ips)-i), minDial)
		ip = ips[i]
		conn, err = k.dial(ctx, addr, ip, share)
		if err == nil {
			return conn, ip, nil
		}
		failed = append(failed, fmt.Errorf("smpp: dial %s: %w", addr, err))
	}
	return nil, ip, failed
}

// dial opens one connection, with TLS on top where that is wanted.
func (k *keeper) dial(ctx context.Context, addr, ip string, within time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn, err := k.cfg.Dial(ctx, ip)
	if err != nil || k.cfg.TLS == nil {
		return conn, err
	}
	secured := tls.Client(conn, k.security(addr))
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("TLS handshake with %s: %w", ip, err)
	}
	return secured, nil
}

// security is the TLS configuration for an address of Config.Addrs. A certificate must be for its host.
func (k *keeper) security(addr string) *tls.Config {
	if k.cfg.TLS.ServerName != "" {
		return k.cfg.TLS
	}
	cfg := k.cfg.TLS.Clone()
	cfg.ServerName, _, _ = strings.Cut(hostOf(addr), "%") // a zone is of no certificate
	return cfg
}

func hostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil { // then it was not dialled
		return addr
	}
	return host
}

// dialTCP opens a connection without Nagle's delay, as Go does by itself: against delayed acknowledgements
// it would cost 40 ms an exchange.
func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", addr)
}

// dialErrors is why each place could not be connected to.
type dialErrors []error

func (e dialErrors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (e dialErrors) Unwrap() []error { return e }

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
