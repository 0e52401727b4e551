package control

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// NewInProcess makes a client of a handler in this process, without a socket. Requests come from this
// process's user and may do everything. Bodies stream both ways, as over a socket.
func NewInProcess(h http.Handler) *Client {
	caller := Caller{Owner: owner(uint32(os.Getuid())), Scopes: AllScopes}
	return NewClient(&inProcess{handler: h, caller: caller}, &url.URL{Scheme: "http", Host: "esmed"})
}

// inProcess runs a handler as a transport.
type inProcess struct {
	handler http.Handler
	caller  Caller
}

// RoundTrip returns when the handler has written its header, or has returned.
func (t *inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(withCaller(req.Context(), t.caller))
	served := req.Clone(ctx)
	served.RequestURI = req.URL.RequestURI()
	served.RemoteAddr = "in-process"
	if served.Body == nil {
		served.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, pipe: pw, started: make(chan struct{})}
	body := &handlerBody{PipeReader: pr, cancel: cancel}
	context.AfterFunc(ctx, func() { // as a connection that is cut: nothing blocks on it any more
		_ = pr.CloseWithError(context.Cause(ctx))
		_ = served.Body.Close()
	})
	body.group.Go(func() error {
		defer served.Body.Close()
		defer pw.Close()
		defer w.WriteHeader(http.StatusOK)
		t.handler.ServeHTTP(w, served)
		return nil
	})
	select {
	case <-w.started:
	case <-ctx.Done():
		_ = body.Close()
		return nil, fmt.Errorf("control: in process: %w", req.Context().Err())
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body, ContentLength: -1, Request: req,
	}, nil
}

// handlerBody is an answer's body. Closing it ends the handler's context and waits for the handler.
type handlerBody struct {
	*io.PipeReader
	cancel context.CancelFunc
	group  errgroup.Group
}

func (b *handlerBody) Close() error {
	err := b.PipeReader.Close()
	b.cancel()
	_ = b.group.Wait()
	return err
}

// pipeWriter is the http.ResponseWriter of an in-process request. What http.ResponseController asks of a
// connection is granted: a pipe has no deadlines, holds nothing back and is always full duplex.
type pipeWriter struct {
	header  http.Header
	pipe    *io.PipeWriter
	once    sync.Once
	started chan struct{}
	status  int         // written before started is closed
	sent    http.Header // likewise
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.started)
	})
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(p)
}

func (w *pipeWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	return nil
}

func (w *pipeWriter) EnableFullDuplex() error          { return nil }
func (w *pipeWriter) SetReadDeadline(time.Time) error  { return nil }
func (w *pipeWriter) SetWriteDeadline(time.Time) error { return nil }
