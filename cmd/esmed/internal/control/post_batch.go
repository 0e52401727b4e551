package control

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
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
	known   chan struct{} // has a token when the result of some line became known since the writer looked
	room    []batchLine   // of the next lines; the reader's
	text    []byte        // results that are not written yet; the writer's
}

// batchLine is a line that was read.
type batchLine struct {
	batch  *batch
	number int
	result BatchResult // once it is known
	known  atomic.Bool
}

// batchRoom is how many lines are made at a time.
const batchRoom = 64

// batchText is how many octets of results are written at a time, at least while more are known already.
const batchText = 16 << 10

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
		known:   make(chan struct{}, 1),
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
		l := b.line(n)
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

func (b *batch) line(number int) *batchLine {
	if len(b.room) == 0 {
		b.room = make([]batchLine, batchRoom)
	}
	l := &b.room[0]
	b.room = b.room[1:]
	l.batch, l.number = b, number
	return l
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
		l.answer(BatchResult{Line: l.number})
		return true
	}
	m.IdempotencyKey = b.lineKey(l.number, m.Ref)
	if err := b.api.cfg.Submit.AcceptPost(ctx, m, l.accepted); err != nil {
		l.refuse(b.api.problemOf("batch", err))
	}
	return ctx.Err() == nil
}

// accepted takes what became of the line's message.
func (l *batchLine) accepted(accepted Accepted, err error) {
	if err != nil {
		l.refuse(l.batch.api.problemOf("batch", err))
		return
	}
	r := BatchResult{Line: l.number, ID: string(accepted.Message), Existing: accepted.Existing}
	if !accepted.Existing {
		r.State = statemachine.Queued.String()
	}
	l.answer(r)
}

func (l *batchLine) refuse(p *Problem) { l.answer(BatchResult{Line: l.number, Error: p}) }

// answer makes the line's result known, once, and never blocks.
func (l *batchLine) answer(r BatchResult) {
	l.result = r
	l.known.Store(true)
	select {
	case l.batch.known <- struct{}{}:
	default:
	}
}

// write answers lines in their order. What is ready goes out together.
func (b *batch) write(ctx context.Context) error {
	for {
		var l *batchLine
		select {
		case l = <-b.lines:
		default:
			if err := b.flush(); err != nil {
				return err
			}
			l = <-b.lines
		}
		if l == nil {
			return b.writeText()
		}
		if err := b.await(ctx, l); err != nil {
			return err
		}
		if b.text = appendResult(b.text, &l.result); len(b.text) >= batchText {
			if err := b.writeText(); err != nil {
				return err
			}
		}
	}
}

// await waits until a line's result is known.
func (b *batch) await(ctx context.Context, l *batchLine) error {
	if l.known.Load() {
		return nil
	}
	if err := b.flush(); err != nil {
		return err
	}
	for !l.known.Load() {
		select {
		case <-b.known:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// writeText writes the results that are there, which may stay in a buffer until flush.
func (b *batch) writeText() error {
	if len(b.text) == 0 {
		return nil
	}
	_, err := b.out.Write(b.text)
	b.text = b.text[:0]
	if err != nil {
		return errReaderGone
	}
	return nil
}

// flush sends the results that are there.
func (b *batch) flush() error {
	if err := b.writeText(); err != nil {
		return err
	}
	if b.out.flush() != nil {
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
