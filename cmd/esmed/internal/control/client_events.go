package control

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// EventsQuery selects events of the log.
type EventsQuery struct {
	After       string // a cursor: seq, or seq.n of a decision; "" = from the first record
	OnlyChanges bool   // records that moved a message
	Follow      bool   // go on at the end of the log, and after a lost connection
}

// Events streams events in log order. A follower resumes after the last event it yielded when its
// connection is lost, so that nothing is missed; it ends with ctx, when it cannot connect at first, or with
// an error that will not go away by itself. An error is the last thing yielded.
func (c *Client) Events(ctx context.Context, q EventsQuery) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		opened := false
		for wait := minResume; ; wait = min(2*wait, maxResume) {
			resp, err := c.openEvents(ctx, q)
			if err == nil {
				opened = true
				var last uint64
				var more bool
				if last, more, err = readEvents(resp, yield); !more {
					return
				}
				if last > 0 {
					q.After, wait = strconv.FormatUint(last, 10), minResume
				}
			}
			if q.Follow && opened && resumable(ctx, err) && sleep(ctx, wait) {
				continue
			}
			if err = cmp.Or(ctx.Err(), err); err != nil {
				yield(Event{}, err)
			}
			return
		}
	}
}

// Waits before a lost follower connects again.
const (
	minResume = 200 * time.Millisecond
	maxResume = 10 * time.Second
)

func (c *Client) openEvents(ctx context.Context, q EventsQuery) (*http.Response, error) {
	req, err := c.request(ctx, http.MethodGet, "/v1/events", q.values(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", ndjsonType)
	return c.open(req)
}

// readEvents yields the events of one connection. last is the seq of the last one, 0 for none; more is
// false when the consumer has enough.
func readEvents(resp *http.Response, yield func(Event, error) bool) (last uint64, more bool, err error) {
	defer resp.Body.Close()
	for line, err := range lines(resp.Body) {
		if err != nil {
			return last, true, err
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return last, true, fmt.Errorf("control: event after %d: %w", last, err)
		}
		last = e.Seq
		if !yield(e, nil) {
			return last, false, nil
		}
	}
	return last, true, nil
}

func (q EventsQuery) values() url.Values {
	v := values{url.Values{}}
	v.set("after", q.After)
	if q.OnlyChanges {
		v.Set("only", "changes")
	}
	if q.Follow {
		v.Set("follow", "true")
	}
	return v.Values
}

// resumable says whether a follower that ended so may connect again: its connection was lost, ended by
// the server, or refused for a while. A daemon that is not there may come back.
func resumable(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	var p *ProblemError
	if errors.As(err, &p) {
		return p.Status == http.StatusServiceUnavailable
	}
	var syntax *json.SyntaxError
	return !errors.As(err, &syntax)
}

// sleep reports whether the whole time passed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// lines yields the lines of a stream that are not blank, without their end. A line is valid until the
// next. The end of the stream in the middle of a line is an error.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		for {
			line, err := br.ReadBytes('\n')
			if err == io.EOF && len(line) > 0 {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				if err != io.EOF {
					yield(nil, fmt.Errorf("control: %w", err))
				}
				return
			}
			if line = bytes.TrimSpace(line); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
	}
}
