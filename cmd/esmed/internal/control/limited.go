package control

import (
	"net"
	"net/http"
	"sync"
	"syscall"
)

// maxConns is how many connections a listener has at once: more than any set of applications needs. The
// files of the store and the sessions need descriptors too, so that it is no more than a share of what the
// process may have.
const (
	maxConns   = 256
	connsShare = 4
)

// connLimit is how many connections a listener of this process has at once.
func connLimit() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return maxConns
	}
	return int(min(maxConns, max(1, files.Cur/connsShare)))
}

// limited accepts no more connections than it has slots: others wait until one closes.
type limited struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

// limit limits a listener, and has the server that serves it give the slots back.
func limit(l net.Listener, conns int, srv *http.Server) *limited {
	lim := &limited{Listener: l, slots: make(chan struct{}, conns), closed: make(chan struct{})}
	srv.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			<-lim.slots
		}
	}
	return lim
}

// Accept waits for a slot, then for a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
	}
	return c, err
}

// Close ends Accept. It may be called again.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
