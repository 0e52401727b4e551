package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

// Errors of a Client besides *ProblemError.
var (
	// ErrNoDaemon says that nobody listens on the socket.
	ErrNoDaemon = errors.New("no daemon runs")
	// ErrLost says that the connection ended before the answer did: what was asked may have been done.
	ErrLost = errors.New("the connection to the daemon was lost")
)

// Client calls an API. It is safe for concurrent use. Errors that the API answered are *ProblemError.
type Client struct {
	rt   http.RoundTripper
	base url.URL
}

// NewClient makes a client that sends its requests through rt, to a base URL without path
// ("http://127.0.0.1:8080"). Tokens are rt's to add.
func NewClient(rt http.RoundTripper, base *url.URL) *Client {
	return &Client{rt: rt, base: url.URL{Scheme: base.Scheme, Host: base.Host}}
}

// Dial makes a client of the daemon behind a Unix socket. It connects when it is first used.
func Dial(socket string) *Client {
	var d net.Dialer
	rt := dialed(func(ctx context.Context) (net.Conn, error) {
		conn, err := d.DialContext(ctx, "unix", socket)
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("%w: %w", ErrNoDaemon, err)
		}
		return conn, err
	})
	return NewClient(rt, &url.URL{Scheme: "http", Host: "esmed"})
}

// Close closes idle connections.
func (c *Client) Close() {
	if t, ok := c.rt.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Submit submits one message. existing says that it is a repeat of the one returned.
func (c *Client) Submit(ctx context.Context, s Submission, idempotencyKey string) (m Message, existing bool, err error) {
	body, err := json.Marshal(s)
	if err != nil {
		return Message{}, false, fmt.Errorf("control: submission: %w", err)
	}
	req, err := c.request(ctx, http.MethodPost, "/v1/messages", nil, bytes.NewReader(body))
	if err != nil {
		return Message{}, false, err
	}
	req.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	status, err := c.do(req, &m)
	return m, status == http.StatusOK, err
}

// Message asks for one message.
func (c *Client) Message(ctx context.Context, id string) (m Message, err error) {
	return m, c.get(ctx, "/v1/messages/"+url.PathEscape(id), nil, &m)
}

// WaitFinal asks for one message and waits until it is final, for timeout at most. Who wants to know
// whether it was looks at Final.
func (c *Client) WaitFinal(ctx context.Context, id string, timeout time.Duration) (m Message, err error) {
	q := url.Values{"wait": {"final"}, "timeout": {timeout.String()}}
	return m, c.get(ctx, "/v1/messages/"+url.PathEscape(id), q, &m)
}

// MessageEvents asks for the whole history of a message.
func (c *Client) MessageEvents(ctx context.Context, id string) ([]Event, error) {
	var l List[Event]
	err := c.get(ctx, "/v1/messages/"+url.PathEscape(id)+"/events", nil, &l)
	return l.Items, err
}

// Messages asks for a page of messages, newest first.
func (c *Client) Messages(ctx context.Context, q MessageQuery) (l List[Message], err error) {
	return l, c.get(ctx, "/v1/messages", q.values(), &l)
}

// Inbox asks for a page of the inbox.
func (c *Client) Inbox(ctx context.Context, q InboxQuery) (l List[InboxRow], err error) {
	return l, c.get(ctx, "/v1/inbox", q.values(), &l)
}

// Diagnosis asks which id rules and time zone would fit an SMSC's receipts; "" asks for all SMSCs.
func (c *Client) Diagnosis(ctx context.Context, smsc string) ([]Diagnosis, error) {
	var l List[Diagnosis]
	q := url.Values{}
	if smsc != "" {
		q.Set("smsc", smsc)
	}
	err := c.get(ctx, "/v1/inbox/diagnosis", q, &l)
	return l.Items, err
}

// Exceptions asks for a page of exceptions, newest first, inbox rows that wait for too long at the end.
func (c *Client) Exceptions(ctx context.Context, q ExceptionQuery) (l List[Exception], err error) {
	return l, c.get(ctx, "/v1/exceptions", q.values(), &l)
}

// Exception asks for one exception with all that bears on it.
func (c *Client) Exception(ctx context.Context, id string) (x ExceptionDetail, err error) {
	return x, c.get(ctx, "/v1/exceptions/"+url.PathEscape(id), nil, &x)
}

// Report asks for the report.
func (c *Client) Report(ctx context.Context, q ReportQuery) ([]ReportRow, error) {
	var l List[ReportRow]
	err := c.get(ctx, "/v1/report", q.values(), &l)
	return l.Items, err
}

// Ready returns nil when the daemon can do its work.
func (c *Client) Ready(ctx context.Context) error {
	var ok Health
	return c.get(ctx, "/readyz", nil, &ok)
}

func (c *Client) get(ctx context.Context, path string, q url.Values, into any) error {
	req, err := c.request(ctx, http.MethodGet, path, q, nil)
	if err != nil {
		return err
	}
	_, err = c.do(req, into)
	return err
}

func (c *Client) request(ctx context.Context, method, path string, q url.Values, body io.Reader) (*http.Request, error) {
	raw := c.base.Scheme + "://" + c.base.Host + path
	if len(q) > 0 {
		raw += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, raw, body)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	return req, nil
}

// do sends a request and decodes its answer.
func (c *Client) do(req *http.Request, into any) (status int, err error) {
	resp, err := c.open(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return resp.StatusCode, fmt.Errorf("control: %s %s: %w", req.Method, req.URL.Path, err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDrain)) // so that the connection is used again
	return resp.StatusCode, err
}

// open sends a request and returns a successful answer, whose body the caller closes.
func (c *Client) open(req *http.Request) (*http.Response, error) {
	resp, err := c.rt.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("control: %w", requestError(req.Context(), err))
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, readProblem(resp)
}

// requestError tells a connection that was lost from one that was never made, and from a caller's own end.
func requestError(ctx context.Context, err error) error {
	var op *net.OpError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrNoDaemon), errors.As(err, &op) && op.Op == "dial":
		return err
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

// Bounds of what is read of an answer that nobody uses, and of a problem document.
const (
	maxDrain   = 4 << 10
	maxProblem = 1 << 20
)

// readProblem reads a problem document, or makes one of whatever else was answered.
func readProblem(resp *http.Response) error {
	e := &ProblemError{}
	err := json.NewDecoder(io.LimitReader(resp.Body, maxProblem)).Decode(&e.Problem)
	if err != nil || e.Status == 0 {
		e.Problem = *newProblem(resp.StatusCode, "the answer is no problem document", "")
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	return e
}
