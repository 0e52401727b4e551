package control

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

// batchAhead is how many lines may have been read whose results are not written yet. It lets a few group
// commits fill up, and bounds the memory of a batch whose results nobody reads.
const batchAhead = 4096

// batch is one POST /v1/messages/batch: a reader of lines that posts them, and a writer of results in
// the order of the lines.
type batch struct {
	batchRequest
	api     *API
	caller  Caller
	in      *bufio.Reader
	control *http.ResponseController
	out     *stream
	lines   chan *batchLine
}

// batchLine is a line that was read. Its result is sent once, without blocking.
type batchLine struct {
	number int
	result chan BatchResult
}

// postBatch takes messages line by line and answers each, while lines still come. A dry run judges them by
// the same reader and takes none. It ends with the input, or with a 503 in place of a result when the daemon
// stops: what follows was not read.
func (a *API) postBatch(w http.ResponseWriter, r *http.Request) {
	request, p := a.readBatchRequest(r)
	if p != nil {
		writeProblem(w, p)
		return
	}
	b := &batch{
		batchRequest: request,
		api:          a, caller: callerOf(r.Context()),
		in:      bufio.NewReaderSize(r.Body, maxSubmission),
		control: http.NewResponseController(w),
		lines:   make(chan *batchLine, batchAhead),
	}
	err := b.control.EnableFullDuplex()
	if err != nil {
		writeProblem(w, a.problemOf("batch", err))
		return
	}
	if b.out, err = newStream(w, ndjsonType); err != nil {
		return
	}
	if err := b.run(r.Context()); err != nil && r.Context().Err() == nil && !errors.Is(err, errReaderGone) {
		_ = a.problemOf("batch", err)
	}
}

// run reads and writes until the input has ended and all is answered, nobody takes results, or the API
// stops.
func (b *batch) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	read := make(chan struct{})
	g.Go(func() error {
		defer close(read)
		return b.read(ctx)
	})
	g.Go(func() error { return b.write(ctx) })
	g.Go(func() error {
		select {
		case <-read:
			return nil
		case <-b.api.ended:
		case <-ctx.Done():
		}
		return b.stopReading()
	})
	return g.Wait()
}

// stopReading ends a read that waits for input, and the server's own of what is left unread.
func (b *batch) stopReading() error { return b.control.SetReadDeadline(time.Unix(1, 0)) }

var errReaderGone = errors.New("nobody reads the results")

// read posts lines until the input ends or submits are refused.
func (b *batch) read(ctx context.Context) error {
	defer close(b.lines)
	for n := b.first; ; n++ {
		line, err := readLine(b.in)
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil // the client is gone; what it sent is answered if it can be
		}
		if len(line) == 0 && err == nil {
			continue
		}
		l := &batchLine{number: n, result: make(chan BatchResult, 1)}
		select {
		case b.lines <- l:
		case <-ctx.Done():
			return nil
		}
		if !b.post(ctx, l, line, err) {
			return b.stopReading()
		}
	}
}

// post hands a line on and reports whether further lines are taken.
func (b *batch) post(ctx context.Context, l *batchLine, line []byte, tooLongErr error) bool {
	if tooLongErr != nil {
		l.refuse(tooLong())
		return true
	}
	if p := b.api.taking(); p != nil {
		l.refuse(p)
		return false
	}
	m, p := b.api.submit.Load().read(line, b.caller, "")
	if p != nil {
		l.refuse(p)
		return true
	}
	if b.dry {
		l.result <- BatchResult{Line: l.number}
		return true
	}
	m.IdempotencyKey = b.lineKey(l.number, m.Ref)
	err := b.api.cfg.Submit.AcceptPost(ctx, m, func(accepted Accepted, err error) {
		if err != nil {
			l.refuse(b.api.problemOf("batch", err))
			return
		}
		r := BatchResult{Line: l.number, ID: string(accepted.Message), Existing: accepted.Existing}
		if !accepted.Existing {
			r.State = statemachine.Queued.String()
		}
		l.result <- r
	})
	if err != nil {
		l.refuse(b.api.problemOf("batch", err))
	}
	return ctx.Err() == nil
}

func (l *batchLine) refuse(p *Problem) { l.result <- BatchResult{Line: l.number, Error: p} }

// write answers lines in their order. What is ready goes out together.
func (b *batch) write(ctx context.Context) error {
	for {
		var l *batchLine
		select {
		case l = <-b.lines:
		default:
			if b.out.flush() != nil {
				return errReaderGone
			}
			l = <-b.lines
		}
		if l == nil {
			return nil
		}
		if err := b.answer(ctx, l); err != nil {
			return err
		}
	}
}

func (b *batch) answer(ctx context.Context, l *batchLine) error {
	var r BatchResult
	select {
	case r = <-l.result:
	default:
		if b.out.flush() != nil {
			return errReaderGone
		}
		select {
		case r = <-l.result:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if b.out.send(r) != nil {
		return errReaderGone
	}
	return nil
}

// readLine reads a line without its end and blanks; io.EOF after the last one. A line that does not fit
// the buffer is read past: bufio.ErrBufferFull.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimSpace(line), err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return nil, bufio.ErrBufferFull
}
