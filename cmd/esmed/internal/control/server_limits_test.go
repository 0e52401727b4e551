package control

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

// pipeListener accepts connections of its own dial, so that they live in a bubble.
type pipeListener struct {
	conns  chan net.Conn
	dialed *int
}

func (l pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close leaves it to the test to close conns: a dial may be under way.
func (l pipeListener) Close() error   { return nil }
func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{} }

func (l pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	*l.dialed++
	client, server := net.Pipe()
	l.conns <- server
	return client, nil
}

// tickingLog has a record more every ten minutes.
type tickingLog struct{ begin time.Time }

func (tickingLog) History(context.Context, statemachine.ID) ([]LogEntry, error) {
	return nil, ErrNotFound
}

func (l tickingLog) Events(_ context.Context, after uint64, _ int) ([]LogEntry, error) {
	if after >= uint64(time.Since(l.begin)/(10*time.Minute)) {
		return nil, nil
	}
	return []LogEntry{{Record: statemachine.Record{Seq: after + 1, At: time.Now(), Fact: &statemachine.Other{Name: "tick"}}}}, nil
}

func (l tickingLog) Changed() <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(10*time.Minute, func() { close(c) })
	return c
}

func TestServer_aFollowerMayBeIdleForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &API{cfg: Config{Backend: Backend{Log: tickingLog{time.Now()}}}, ended: make(chan struct{})}
		srv := (&Server{api: api}).server(http.HandlerFunc(api.getEvents))
		l := pipeListener{make(chan net.Conn), new(int)}
		var g errgroup.Group
		g.Go(func() error { return srv.Serve(l) })

		rt := &http.Transport{DialContext: l.dial}
		c := NewClient(rt, &url.URL{Scheme: "http", Host: "esmed"})
		var seen []uint64
		for e, err := range c.Events(t.Context(), EventsQuery{Follow: true}) {
			require.NoError(t, err)
			if seen = append(seen, e.Seq); len(seen) == 5 {
				break
			}
		}
		require.Equal(t, []uint64{1, 2, 3, 4, 5}, seen)
		require.Equal(t, 1, *l.dialed)
		close(l.conns)
		c.Close()
		require.NoError(t, srv.Close())
		require.Error(t, g.Wait()) // the server's, or the listener's that ended first
	})
}

func TestServer_moreConnectionsThanItHasWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &Server{api: &API{ended: make(chan struct{})}}
		l := pipeListener{make(chan net.Conn), new(int)}
		var g errgroup.Group
		s.serve(ctx, &g, l, s.server(http.NotFoundHandler()))
		dial := func() net.Conn {
			c, err := l.dial(ctx, "", "")
			require.NoError(t, err)
			return c
		}
		var conns []net.Conn
		for range connLimit() {
			conns = append(conns, dial())
		}
		more := make(chan net.Conn, 1)
		g.Go(func() error {
			more <- dial()
			return nil
		})
		synctest.Wait()
		require.Empty(t, more)
		require.NoError(t, conns[0].Close())
		synctest.Wait()
		require.Len(t, more, 1)

		for _, c := range append(conns, <-more) {
			_ = c.Close()
		}
		cancel()
		synctest.Wait() // the server knows that it is to end before its listener does
		close(l.conns)
		require.NoError(t, g.Wait())
	})
}
