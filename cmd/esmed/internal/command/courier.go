package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"esmed/cmd/esmed/internal/control"

	"golang.org/x/sync/errgroup"
)

// courier brings the rows of a file to the batch endpoint and hands on what each was answered, in their order,
// over as many connections as that takes. What was not answered when a connection ended goes first on the next one,
// so that its rows have to be such that a repeat is recognised.
type courier struct {
	open func(ctx context.Context, firstLine int) (*control.Batch, error)
	next rowReader
	// answered is told of each row once: what the daemon answered it, or that its err is set.
	answered func(row, control.BatchResult) error
	// waiting is told why nothing moves just now; the next answer ends that.
	waiting  func(why string)
	patience time.Duration // how long nothing may move
	reached  bool          // the daemon has been there: when it is not, it will be back

	pending []row // read, and not on their way
	moved   time.Time
	cut     bool // the other end took no more on this connection
}

// rowsAhead is how many rows may be on their way: enough to fill some group commits. It bounds the courier's memory.
const rowsAhead = 2048

// How long to wait for a daemon that does not say how long.
const (
	firstWait = 200 * time.Millisecond
	maxWait   = 5 * time.Second
)

// run returns when all rows are answered, or when it is of no use to go on.
func (c *courier) run(ctx context.Context) error {
	c.moved = time.Now()
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
		seen := c.moved
		err := c.connection(ctx)
		if err == nil || ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		if c.moved.After(seen) {
			wait = firstWait
		}
		why, pause, passes := c.passing(err)
		if !passes {
			return err
		}
		left := c.patience - time.Since(c.moved)
		if left <= 0 {
			return err
		}
		c.waiting(why)
		select {
		case <-time.After(min(max(wait, pause), left)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// passing tells what ends by itself, with what to say of it and for how long the daemon wants to be left alone.
func (c *courier) passing(err error) (why string, pause time.Duration, passes bool) {
	var p *control.ProblemError
	switch {
	case errors.As(err, &p):
		return p.Detail, p.RetryAfter, daemonsOwn(p.Status)
	case errors.Is(err, control.ErrNoDaemon):
		return noDaemon(err), 0, c.reached
	case errors.Is(err, control.ErrLost):
		return control.ErrLost.Error(), 0, true
	}
	return "", 0, false
}

// daemonsOwn are the statuses that say nothing of the row: the daemon takes none just now.
func daemonsOwn(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusInsufficientStorage
}

// connection brings what it can over one connection; nil when all rows are answered.
func (c *courier) connection(ctx context.Context) error {
	if err := c.read(); err != nil {
		if err == io.EOF {
			return nil
		}
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	batch, err := c.open(ctx, c.pending[0].line)
	if err != nil {
		return err
	}
	c.reached, c.cut = true, false
	sent := make(chan row, rowsAhead)
	var unanswered []row
	g.Go(func() error { return c.send(ctx, batch, sent) })
	g.Go(func() (err error) {
		unanswered, err = c.receive(batch, sent)
		return err
	})
	err = g.Wait()
	_ = batch.Close() // how it went has been said
	for r := range sent {
		unanswered = append(unanswered, r)
	}
	for i := range unanswered {
		unanswered[i].resent = true
	}
	c.pending = append(unanswered, c.pending...)
	if err == nil && c.cut {
		return control.ErrLost
	}
	return err
}

// read makes sure that a row is pending; io.EOF when there is none any more.
func (c *courier) read() error {
	if len(c.pending) > 0 {
		return nil
	}
	r, err := c.next()
	if err != nil {
		return err
	}
	c.pending = append(c.pending, r)
	return nil
}

// send sends rows and closes sent, which has them before the daemon does, when it sends no more.
func (c *courier) send(ctx context.Context, batch *control.Batch, sent chan<- row) error {
	defer close(sent)
	line := c.pending[0].line
	for {
		if err := c.read(); err == io.EOF {
			return c.ended(batch.CloseSend())
		} else if err != nil {
			return err
		}
		r := c.pending[0]
		select {
		case sent <- r:
		default:
			// The endpoint has fallen behind: let it have what is buffered while we wait.
			if err := batch.Flush(); err != nil {
				return c.ended(err)
			}
			select {
			case sent <- r:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		c.pending = c.pending[1:]
		if r.err != nil {
			continue
		}
		// Blank lines let the endpoint count as the file does.
		for ; line < r.line; line++ {
			if err := batch.SendLine(nil); err != nil {
				return c.ended(err)
			}
		}
		if err := batch.SendLine(r.json); err != nil {
			return c.ended(err)
		}
		line++
	}
}

// ended leaves it to the receiver to say why the other end took no more.
func (c *courier) ended(err error) error {
	if errors.Is(err, control.ErrBatchClosed) {
		c.cut = true
		return nil
	}
	return err
}

// receive hands on answers until all that was sent has one. It returns the row that has none when it stops
// before.
func (c *courier) receive(batch *control.Batch, sent <-chan row) (unanswered []row, err error) {
	for r := range sent {
		var result control.BatchResult
		if r.err == nil {
			if result, err = c.answer(batch, r); err != nil {
				return []row{r}, err
			}
		}
		c.moved = time.Now()
		if err := c.answered(r, result); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// answer is what a row is answered, if that is about the row.
func (c *courier) answer(batch *control.Batch, r row) (control.BatchResult, error) {
	result, err := batch.Recv()
	switch {
	case err == io.EOF:
		return result, control.ErrLost
	case err != nil:
		return result, err
	case result.Line != r.line:
		return result, fmt.Errorf("the daemon answered line %d in place of line %d", result.Line, r.line)
	case result.Error != nil && (daemonsOwn(result.Error.Status) || result.Error.Status >= http.StatusInternalServerError):
		return result, &control.ProblemError{Problem: *result.Error}
	}
	return result, nil
}
