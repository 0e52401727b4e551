package control_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
)

// quick takes messages in groups and keeps none, so that a benchmark measures the API alone.
type quick struct {
	*fake
	mu    sync.Mutex
	seq   uint64
	group chan func(control.Accepted, error)
}

func (q *quick) next(m *statemachine.MessageAccepted) control.Accepted {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seq++
	return control.Accepted{Message: m.Message, Seq: q.seq, At: began}
}

func (q *quick) Accept(_ context.Context, m *statemachine.MessageAccepted) (control.Accepted, error) {
	return q.next(m), nil
}

func (q *quick) AcceptNow(ctx context.Context, m *statemachine.MessageAccepted) (control.Accepted, error) {
	return q.Accept(ctx, m)
}

func (q *quick) AcceptPost(_ context.Context, m *statemachine.MessageAccepted, done func(control.Accepted, error)) error {
	q.group <- func(control.Accepted, error) { done(q.next(m), nil) }
	return nil
}

// commit answers what has come together every half millisecond, as a disk would.
func (q *quick) commit(b *testing.B) {
	stop := make(chan struct{})
	var g errgroup.Group
	g.Go(func() error {
		for {
			select {
			case done := <-q.group:
				time.Sleep(500 * time.Microsecond) // an fsync
				done(control.Accepted{}, nil)
				for len(q.group) > 0 {
					(<-q.group)(control.Accepted{}, nil)
				}
			case <-stop:
				return nil
			}
		}
	})
	b.Cleanup(func() { close(stop); _ = g.Wait() })
}

func benchAPI(b *testing.B) *control.API {
	q := &quick{fake: newFake(b), group: make(chan func(control.Accepted, error), 4096)}
	q.commit(b)
	cfg := q.config()
	cfg.Submit = q
	return newAPI(b, cfg)
}

var benchLine = []byte(`{"to":"+393331234567","from":"ACME","text":"Your code is 4711","smsc":"alpha","ref":"order-42","validity":"24h"}`)

func BenchmarkSubmit(b *testing.B) {
	c := overSocket(b, benchAPI(b))
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := c.Submit(b.Context(), code, ""); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// discard is a http.ResponseWriter that keeps nothing but the status.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkPost is the handler of a single message alone.
func BenchmarkPost(b *testing.B) {
	h := control.AsCaller(benchAPI(b), control.Caller{Owner: "uid:0", Scopes: control.AllScopes})
	body := bytes.NewReader(nil)
	r := httptest.NewRequest(http.MethodPost, "/v1/messages", nil)
	r.Header.Set("Content-Type", "application/json")
	r.Body, r.ContentLength = io.NopCloser(body), int64(len(benchLine))
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		body.Reset(benchLine)
		clear(w.header)
		if h.ServeHTTP(w, r); w.status != http.StatusAccepted {
			b.Fatal(w.status)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	c := overSocket(b, benchAPI(b))
	b.ReportAllocs()
	batch, err := c.Batch(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	var g errgroup.Group
	g.Go(func() error {
		for range b.N {
			if err := batch.SendLine(benchLine); err != nil {
				return err
			}
		}
		return batch.CloseSend()
	})
	for n := 0; ; n++ {
		if _, err := batch.Recv(); errors.Is(err, io.EOF) {
			if n != b.N {
				b.Fatalf("%d results of %d lines", n, b.N)
			}
			break
		} else if err != nil {
			b.Fatal(err)
		}
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
	if err := batch.Close(); err != nil {
		b.Fatal(err)
	}
}
