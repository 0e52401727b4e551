package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Batch is a stream of submissions and, in the same order, of their results. One goroutine sends while
// another receives: a sender that nobody receives for comes to a halt.
type Batch struct {
	send   *bufio.Writer
	pipe   *io.PipeWriter
	body   io.ReadCloser
	recv   *json.Decoder
	cancel context.CancelFunc
}

// BatchOptions say of a batch what holds for all its lines.
type BatchOptions struct {
	// DryRun has the lines judged and none accepted.
	DryRun bool
	// Key makes a batch repeatable: line n, if it has no ref, has the idempotency key "Key/n".
	Key string
	// FirstLine is the number of the first line that is sent; 0 is 1.
	FirstLine int
}

// Batch opens a stream. The caller closes it. It ends with ctx, and with its connection.
func (c *Client) Batch(ctx context.Context) (*Batch, error) { return c.BatchWith(ctx, BatchOptions{}) }

// BatchWith opens a stream, likewise.
func (c *Client) BatchWith(ctx context.Context, o BatchOptions) (*Batch, error) {
	ctx, cancel := context.WithCancel(ctx)
	pr, pw := io.Pipe()
	// A transport whose connection is lost, or whose request is cancelled, waits until it has read what it is
	// reading of the body: while nobody sends, that is for ever unless the pipe is closed.
	context.AfterFunc(ctx, func() { _ = pr.Close() })
	ctx = whenLost(ctx, func() { _ = pr.Close() })
	// The transport sends the header with the body's first octet, and the answer begins at once: a blank
	// in front of the first line begins both.
	body := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(" "), pr), pr}
	req, err := c.request(ctx, http.MethodPost, "/v1/messages/batch", o.query(), body)
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header.Set("Content-Type", ndjsonType)
	if o.Key != "" {
		req.Header.Set("Idempotency-Key", o.Key)
	}
	resp, err := c.open(req)
	if err != nil {
		cancel()
		return nil, err
	}
	return &Batch{
		send: bufio.NewWriterSize(pw, sendBuffer), pipe: pw,
		body: resp.Body, recv: json.NewDecoder(bufio.NewReaderSize(resp.Body, sendBuffer)),
		cancel: cancel,
	}, nil
}

func (o BatchOptions) query() url.Values {
	q := url.Values{}
	if o.DryRun {
		q.Set("dry_run", "true")
	}
	if o.FirstLine > 1 {
		q.Set("first_line", strconv.Itoa(o.FirstLine))
	}
	return q
}

// sendBuffer holds some hundred lines, so that a line does not cost a system call.
const sendBuffer = 64 << 10

// Send writes a submission. It may stay in the sender's buffer until Flush or CloseSend.
func (b *Batch) Send(s Submission) error {
	line, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("control: submission: %w", err)
	}
	return b.SendLine(line)
}

// SendLine writes a line that is a submission in JSON, without its end.
func (b *Batch) SendLine(line []byte) error {
	if _, err := b.send.Write(line); err != nil {
		return sendError(err)
	}
	return sendError(b.send.WriteByte('\n'))
}

// Flush writes out what Send has buffered.
func (b *Batch) Flush() error { return sendError(b.send.Flush()) }

// CloseSend says that nothing more is sent. Results still come.
func (b *Batch) CloseSend() error {
	if err := b.Flush(); err != nil {
		return err
	}
	return b.pipe.Close()
}

// Recv returns the next result; io.EOF when all that will ever come have been returned: lines that were
// sent and are not answered then (the daemon stopped) were not accepted. After ErrLost they may have been:
// with a ref in each line, or a Key, all may be sent again.
func (b *Batch) Recv() (BatchResult, error) {
	var r BatchResult
	err := b.recv.Decode(&r)
	var syntax *json.SyntaxError
	switch {
	case err == nil, err == io.EOF:
		return r, err
	case errors.As(err, &syntax), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return r, fmt.Errorf("control: batch: %w", err)
	}
	return r, fmt.Errorf("control: batch: %w: %w", ErrLost, err)
}

// Close ends the stream, also in the middle.
func (b *Batch) Close() error {
	b.pipe.CloseWithError(ErrBatchClosed)
	b.cancel()
	return b.body.Close()
}

// ErrBatchClosed is what Send returns when the other side has ended the stream: Recv says why.
var ErrBatchClosed = errors.New("control: the batch is closed")

func sendError(err error) error {
	if errors.Is(err, io.ErrClosedPipe) {
		return ErrBatchClosed
	}
	return err
}
