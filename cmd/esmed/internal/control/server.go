package control

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// ServerConfig says where a Server listens.
type ServerConfig struct {
	Socket string          // path of the Unix socket
	Addr   string          // TCP address; "" = none
	Tokens *Tokens         // needed for Addr
	Stop   time.Duration   // what requests in flight are given at the end; 0 = DefaultStop
	Errors func(err error) // told of connections that went wrong; nil = nobody is
}

// DefaultStop is how long requests in flight may take at the end.
const DefaultStop = 5 * time.Second

// Server serves an API on its listeners.
type Server struct {
	cfg    ServerConfig
	api    *API
	socket *unixSocket
	tcp    net.Listener // nil = none
}

// Listen opens the socket, and the TCP address if one is configured. It replaces the socket of a process
// that is gone and returns ErrInUse when another one listens there. The caller runs or closes the Server.
func Listen(cfg ServerConfig, api *API) (*Server, error) {
	if cfg.Addr != "" && cfg.Tokens == nil {
		return nil, errors.New("control: a TCP address without tokens")
	}
	socket, err := listenUnix(cfg.Socket)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	s := &Server{cfg: cfg, api: api, socket: socket}
	if cfg.Addr == "" {
		return s, nil
	}
	if s.tcp, err = net.Listen("tcp", cfg.Addr); err != nil {
		return nil, errors.Join(fmt.Errorf("control: %w", err), s.socket.Close())
	}
	return s, nil
}

// Addr is the TCP address that is listened on; nil when there is none.
func (s *Server) Addr() net.Addr {
	if s.tcp == nil {
		return nil
	}
	return s.tcp.Addr()
}

// Close closes the listeners of a Server that was not run.
func (s *Server) Close() error {
	err := s.socket.Close()
	if s.tcp != nil {
		err = errors.Join(err, s.tcp.Close())
	}
	return err
}

// Run serves until ctx is done or a listener fails. Then it ends the streams, gives requests in flight
// their time, and removes the socket.
func (s *Server) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	s.serve(ctx, g, s.socket, s.unixServer())
	if s.tcp != nil {
		s.serve(ctx, g, s.tcp, s.tcpServer())
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("control: %w", err)
	}
	return nil
}

// serve runs one listener, and what ends it, in a group. Callers of one do not take the connections of the
// other.
func (s *Server) serve(ctx context.Context, g *errgroup.Group, l net.Listener, srv *http.Server) {
	few := limit(l, connLimit(), srv)
	g.Go(func() error {
		if err := srv.Serve(few); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		s.api.EndStreams()
		stop := s.cfg.Stop
		if stop == 0 {
			stop = DefaultStop
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stop)
		defer cancel()
		if srv.Shutdown(last) != nil { // a request outlived its time
			return srv.Close()
		}
		return nil
	})
}

// unixServer knows its callers by the credentials of the process at the other end.
func (s *Server) unixServer() *http.Server {
	srv := s.server(withProfiles(s.api))
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		uid, err := peerUID(c)
		if err != nil {
			return ctx
		}
		return withCaller(ctx, Caller{Owner: owner(uid), Scopes: AllScopes})
	}
	return srv
}

// tcpServer knows its callers by their tokens.
func (s *Server) tcpServer() *http.Server { return s.server(s.cfg.Tokens.require(s.api)) }

// Time limits of a connection. A request may wait for maxWait before it is answered; streams have limits
// of their own.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = maxWait + 30*time.Second
	writeTimeout  = maxWait + 30*time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

func (s *Server) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(errorWriter(s.report), "", 0),
	}
}

func (s *Server) report(err error) {
	if s.cfg.Errors != nil {
		s.cfg.Errors(err)
	}
}

// errorWriter hands what net/http logs on as errors.
type errorWriter func(error)

func (w errorWriter) Write(p []byte) (int, error) {
	w(errors.New(string(p)))
	return len(p), nil
}
