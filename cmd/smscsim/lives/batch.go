package lives

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"esmed/smpp/smpptest"
)

// stream is one POST /v1/messages/batch on a connection of its own: one goroutine sends lines while the
// other reads their results. It is spoken by hand, since both share the cores with what they measure: a
// burst of lines is one chunk and one write.
type stream struct {
	l  *loader
	nc net.Conn
	in *bufio.Reader

	sent     []unanswered  // a ring, by number of the line
	written  atomic.Uint64 // lines
	answered atomic.Uint64 // results
	buf      []byte
}

// unanswered is a line that waits for its result.
type unanswered struct {
	at  time.Time
	sum smpptest.Sum
}

const (
	burst    = 256 // lines in a chunk
	lineRoom = 192 // octets, about that of a line
)

func (l *loader) batch(ctx context.Context) error {
	nc, err := l.api.dial(ctx)
	if err != nil {
		return err
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	s := &stream{l: l, nc: nc, in: bufio.NewReaderSize(nc, 1<<16), sent: make([]unanswered, l.Unanswered), buf: make([]byte, 0, burst*lineRoom)}
	var g errgroup.Group
	g.Go(func() error {
		err := s.send(ctx)
		if err != nil {
			nc.Close() // nothing more is to be read
		}
		return err
	})
	g.Go(func() error {
		err := s.receive()
		if err != nil {
			nc.Close()
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("batch: %w", err))
	}
	return nil
}

// chunkHead is the room for a chunk's length: as many hex digits as any has, and a line feed.
const chunkHead = 10

// send writes lines as they fall due and there is room, then the end.
func (s *stream) send(ctx context.Context) error {
	head := s.l.api.head("POST", "/v1/messages/batch", "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n")
	if _, err := s.nc.Write(head); err != nil {
		return err
	}
	for n := 0; ; {
		now := time.Now()
		if s.l.pace.over(n, now) {
			_, err := s.nc.Write([]byte("0\r\n\r\n"))
			return err
		}
		lines := min(s.l.pace.due(n, now), s.room(n), burst)
		if lines == 0 {
			if err := s.l.pace.wait(ctx); err != nil {
				return err
			}
			continue
		}
		if err := s.chunk(n, lines, now); err != nil {
			return err
		}
		n += lines
	}
}

// room is how many lines may be written; none until there is room for a good many.
func (s *stream) room(n int) int {
	waiting := n - int(s.answered.Load())
	room := len(s.sent) - waiting
	if waiting > 0 && room < len(s.sent)/4 {
		return 0
	}
	if s.l.Ahead > 0 {
		room = min(room, s.l.Ahead+int(s.l.done.Load())-n)
	}
	return max(room, 0)
}

// chunk writes lines of the numbers from n on.
func (s *stream) chunk(n, lines int, now time.Time) error {
	b := append(s.buf[:0], "0000000000"...)
	for i := range lines {
		var sum smpptest.Sum
		b, sum = s.l.maker.append(b, n+i)
		b = append(b, '\n')
		s.sent[(n+i)%len(s.sent)] = unanswered{now, sum}
	}
	size := strconv.AppendUint(nil, uint64(len(b)-chunkHead), 16)
	start := chunkHead - len(size) - 2
	copy(b[start:], size)
	b[chunkHead-2], b[chunkHead-1] = '\r', '\n'
	s.buf = append(b, '\r', '\n')
	s.written.Store(uint64(n + lines))
	_, err := s.nc.Write(s.buf[start:])
	return err
}

// receive takes the results until all lines have theirs and the answer ends.
func (s *stream) receive() error {
	resp, err := http.ReadResponse(s.in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return problem(resp)
	}
	body := bufio.NewReaderSize(resp.Body, 1<<16)
	var now time.Time
	for n := uint64(0); ; n++ {
		fresh := body.Buffered() == 0
		line, err := body.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 && n == s.written.Load() {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after %d results: %w", n, err)
		}
		if fresh {
			now = time.Now()
		}
		if err := s.take(n, line, now); err != nil {
			return err
		}
		if body.Buffered() == 0 {
			s.l.pace.wake()
		}
	}
}

func (s *stream) take(n uint64, line []byte, now time.Time) error {
	a, err := readResult(line)
	if err != nil {
		return err
	}
	of := s.sent[n%uint64(len(s.sent))]
	s.answered.Store(n + 1)
	s.l.tally.take(a, of.sum, of.at, now)
	if a.status == accepted {
		s.l.probes.offer(a.id, now)
	}
	return nil
}
