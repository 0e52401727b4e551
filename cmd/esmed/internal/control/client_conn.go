package control

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// dialedConn tells the request that it carries when it is closed, as the transport does when reading from it
// fails.
type dialedConn struct {
	net.Conn
	mu      sync.Mutex
	closed  bool
	onClose func()
}

// dialed lets conns that dial makes be watched.
func dialed(dial func(context.Context) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := dial(ctx)
			if err != nil {
				return nil, err
			}
			return &dialedConn{Conn: conn}, nil
		},
		DisableCompression:  true,
		MaxIdleConnsPerHost: 16,
	}
}

// Close closes the connection. It may be called again.
func (c *dialedConn) Close() error {
	err := c.Conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed = true; c.onClose != nil {
		c.onClose()
	}
	return err
}

// watch has f called when the connection closes, in place of what was to be called before. f may be called
// more than once and must not block.
func (c *dialedConn) watch(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.onClose = f; c.closed {
		f()
	}
}

// whenLost has f called when the connection of a request with the context that it returns closes, if Dial
// made it.
func whenLost(ctx context.Context, f func()) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		if c, ok := got.Conn.(*dialedConn); ok {
			c.watch(f)
		}
	}})
}
