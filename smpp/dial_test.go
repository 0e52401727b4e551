package smpp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// names is a resolver and a dialler that tells where it went. Only the addresses in up answer; those in
// refusing refuse, and the others hang.
type names struct {
	mu sync.Mutex // guards the rest

	known        map[string][]string
	up, refusing []string
	dialled      []string
	asked        []string
}

// use makes c resolve and dial by n; those that answer do as c would have.
func (n *names) use(c *Config) {
	answer := c.Dial
	c.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.asked = append(n.asked, host)
		ips, known := n.known[host]
		if !known {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		var all []netip.Addr
		for _, ip := range ips {
			all = append(all, netip.MustParseAddr(ip))
		}
		return all, nil
	}
	c.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
		n.mu.Lock()
		n.dialled = append(n.dialled, addr)
		up, refusing := slices.Contains(n.up, addr), slices.Contains(n.refusing, addr)
		n.mu.Unlock()
		switch {
		case up:
			return answer(ctx, addr)
		case refusing:
			return nil, errors.New(addr + " refused")
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

// went is where it was dialled since this was asked before.
func (n *names) went() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.dialled
	n.dialled = nil
	return d
}

// change changes what is known, and what answers.
func (n *names) change(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

func TestClient_triesEveryAddressOfAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &names{
			known:    map[string][]string{"smsc": {"192.0.2.1", "192.0.2.2", "2001:db8::3"}},
			refusing: []string{"192.0.2.2:2775"}, up: []string{"[2001:db8::3]:2775"},
		}
		began := time.Now()
		r := newRig(t, n.use)
		p := r.accept()
		require.Equal(t, 10*time.Second/3, time.Since(began), "the first one's share of the ten seconds")
		require.Equal(t, []string{"192.0.2.1:2775", "192.0.2.2:2775", "[2001:db8::3]:2775"}, n.went())
		p.bind()
		e := r.handler.event(t, EventBound)
		require.Equal(t, "smsc:2775", e.Addr)
		require.Equal(t, "[2001:db8::3]:2775", e.IP)
		require.Equal(t, e.IP, r.status().IP)

		n.change(func() { n.up = append(n.up, "192.0.2.2:2775") })
		require.NoError(t, p.conn.Close())
		r.handler.event(t, EventUnbound)
		p = r.accept()
		require.Equal(t, []string{"[2001:db8::3]:2775"}, n.went(), "one that was bound is tried first")
		require.NoError(t, p.conn.Close()) // the bind is not answered
		r.handler.event(t, EventFailed)
		p = r.accept()
		require.Equal(t, []string{"192.0.2.1:2775", "192.0.2.2:2775"}, n.went(), "one that was not is tried last")
		p.bind()
		r.handler.event(t, EventBound)
		require.NoError(t, p.conn.Close())
		r.handler.event(t, EventUnbound)

		n.change(func() { n.known["smsc"], n.up = []string{"192.0.2.4"}, []string{"192.0.2.4:2775"} })
		r.stopBound(r.bound())
		require.Equal(t, []string{"192.0.2.4:2775"}, n.went(), "the name has moved")
	})
}

func TestClient_namesAndAddressesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &names{
			known:    map[string][]string{"b": {"192.0.2.1", "192.0.2.2"}, "empty": {}},
			refusing: []string{"[::1]:2775", "192.0.2.1:2775", "192.0.2.2:2775", "127.0.0.1:2775"},
		}
		r := newRig(t, func(c *Config) {
			c.Addrs = []string{"[::1]:2775", "a:2775", "empty:2775", "b:2775", "127.0.0.1:2775"}
			n.use(c)
		})
		e := r.handler.event(t, EventFailed)
		require.Equal(t, "127.0.0.1:2775", e.Addr)
		require.Empty(t, e.IP)
		require.Equal(t, []string{"[::1]:2775", "192.0.2.1:2775", "192.0.2.2:2775", "127.0.0.1:2775"}, n.went())
		require.Equal(t, []string{"a", "empty", "b"}, n.asked, "an address is no name")
		require.EqualError(t, e.Err, "smpp: dial [::1]:2775: [::1]:2775 refused; smpp: resolve a:2775: lookup a: no such host; "+
			"smpp: resolve empty:2775: the name has no address; smpp: dial b:2775: 192.0.2.1:2775 refused; smpp: dial b:2775: 192.0.2.2:2775 refused; "+
			"smpp: dial 127.0.0.1:2775: 127.0.0.1:2775 refused")

		n.change(func() { n.up = []string{"192.0.2.2:2775"} })
		p := r.bound()
		require.NoError(t, p.conn.Close())
		r.handler.event(t, EventUnbound)
		n.went()
		n.change(func() { n.up = nil })
		r.handler.event(t, EventFailed)
		require.Equal(t, []string{"192.0.2.2:2775", "127.0.0.1:2775", "[::1]:2775", "192.0.2.1:2775"}, n.went(), "each once")
		r.stop()
	})
}

func TestClient_aNameOfManyAddressesGivesEachTimeEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ips, all []string
		for i := range 8 {
			ip := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}).String()
			ips, all = append(ips, ip), append(all, ip+":2775")
		}
		n := &names{known: map[string][]string{"smsc": ips}}
		r := newRig(t, n.use)
		began := time.Now()
		require.ErrorIs(t, r.handler.event(t, EventFailed).Err, context.DeadlineExceeded)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Equal(t, all[:5], n.went(), "two seconds each")
		elapse(2 * time.Second)
		require.Equal(t, all[5], n.went()[0], "the rest have their turn in the next attempt")
		r.stop()
	})
}

func TestWire_addressesOfBothKinds(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		t.Run(host, func(t *testing.T) {
			ln, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
			if err != nil {
				t.Skip("not on this machine:", err)
			}
			t.Cleanup(func() { _ = ln.Close() })
			gone, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
			require.NoError(t, err)
			require.NoError(t, gone.Close())
			r := newRig(t, func(c *Config) { c.Addrs, c.Dial = []string{gone.Addr().String(), ln.Addr().String()}, nil })
			conn, err := ln.Accept()
			require.NoError(t, err)
			p := newPeer(t, conn)
			p.bind()
			require.Equal(t, ln.Addr().String(), r.handler.event(t, EventBound).Addr)
			r.stopBound(p)
		})
	}
}
