package lives

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// poster is a client that sends single POST /v1/messages on a connection that it keeps.
type poster struct {
	l    *loader
	nc   net.Conn
	in   *bufio.Reader
	buf  []byte
	body []byte
}

// postAll has all clients submit until nothing more is due.
func (l *loader) postAll(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64 // number of the next submission
	for range l.Clients {
		g.Go(func() error {
			nc, err := l.api.dial(ctx)
			if err != nil {
				return err
			}
			defer nc.Close()
			stop := context.AfterFunc(ctx, func() { nc.Close() })
			defer stop()
			p := &poster{l: l, nc: nc, in: bufio.NewReader(nc)}
			if err := p.run(ctx, &next); err != nil {
				return errors.Join(ctx.Err(), fmt.Errorf("post: %w", err))
			}
			return nil
		})
	}
	return g.Wait()
}

// run takes numbers and submits them when they are due.
func (p *poster) run(ctx context.Context, next *atomic.Int64) error {
	for {
		n := int(next.Add(1)) - 1
		for p.l.pace.due(n, time.Now()) == 0 || p.l.Ahead > 0 && n >= p.l.Ahead+int(p.l.done.Load()) {
			if p.l.pace.over(n, time.Now()) {
				return nil
			}
			if err := p.l.pace.wait(ctx); err != nil {
				return err
			}
		}
		if p.l.pace.over(n, time.Now()) {
			return nil
		}
		if err := p.post(ctx, n); err != nil {
			return err
		}
	}
}

// post submits one and waits for the answer, and then for as long as that asks for.
func (p *poster) post(ctx context.Context, n int) error {
	body, sum := p.l.maker.append(p.body[:0], n)
	p.body = body
	b := p.l.api.appendHead(p.buf[:0], "POST", "/v1/messages", "Content-Type: application/json\r\nContent-Length: ")
	b = append(strconv.AppendInt(b, int64(len(body)), 10), "\r\n\r\n"...)
	p.buf = append(b, body...)
	sent := time.Now()
	if _, err := p.nc.Write(p.buf); err != nil {
		return err
	}
	a, err := readAnswer(p.in, &p.body)
	if err != nil {
		return err
	}
	now := time.Now()
	p.l.tally.take(a, sum, sent, now)
	if a.status == accepted {
		p.l.probes.offer(a.id, now)
		return nil
	}
	return sleep(ctx, a.retryAfter)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

var (
	contentLength = []byte("content-length:")
	retryAfter    = []byte("retry-after:")
)

// readAnswer reads an answer with a Content-Length into scratch. Statuses that are neither success nor "later" are errors.
func readAnswer(in *bufio.Reader, scratch *[]byte) (answer, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return answer{}, err
	}
	_, code, _ := bytes.Cut(line, []byte{' '})
	code, _, _ = bytes.Cut(code, []byte{' '})
	status, err := strconv.Atoi(string(code))
	if err != nil {
		return answer{}, fmt.Errorf("no status line: %q", line)
	}
	a, length := answer{status: status}, -1
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return a, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			break
		}
		if v, ok := headerValue(line, contentLength); ok {
			length = v
		} else if v, ok := headerValue(line, retryAfter); ok {
			a.retryAfter = time.Duration(v) * time.Second
		}
	}
	if length < 0 {
		return a, fmt.Errorf("an answer %d without Content-Length", status)
	}
	*scratch = append((*scratch)[:0], make([]byte, length)...)
	if _, err := io.ReadFull(in, *scratch); err != nil {
		return a, err
	}
	var ok bool
	a.id, ok = findID(*scratch)
	if status == accepted && !ok || status != accepted && status < 500 && status != tooMany {
		return a, fmt.Errorf("an answer %d: %s", status, *scratch)
	}
	return a, nil
}

// headerValue is the number of a header whose name, in lower case and with its colon, is given.
func headerValue(line, name []byte) (int, bool) {
	if len(line) < len(name) || !bytes.EqualFold(line[:len(name)], name) {
		return 0, false
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(line[len(name):])))
	return n, err == nil
}
