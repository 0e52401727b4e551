package lives

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// api is esmed's HTTP API on its socket or its address.
type api struct {
	network, addr, token string
	client               *http.Client
}

func newAPI(l Load) *api {
	a := &api{network: "unix", addr: l.Socket, token: l.Token}
	if l.Socket == "" {
		a.network, a.addr = "tcp", l.Listen
	}
	a.client = &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return a.dial(ctx) },
		DisableCompression:  true, // what is watched should not have to compress what nobody carries far
		MaxIdleConnsPerHost: probesAtOnce + 1,
	}}
	return a
}

func (a *api) close() { a.client.CloseIdleConnections() }

func (a *api) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, a.network, a.addr)
}

// head is the head of a request; more are whole headers with their ends.
func (a *api) head(method, path, more string) []byte {
	return append(a.appendHead(nil, method, path, more), '\r', '\n')
}

// appendHead writes a head without the empty line that ends it.
func (a *api) appendHead(b []byte, method, path, more string) []byte {
	b = append(append(append(append(b, method...), ' '), path...), " HTTP/1.1\r\nHost: esmed\r\n"...)
	if a.token != "" {
		b = append(append(append(b, "Authorization: Bearer "...), a.token...), '\r', '\n')
	}
	return append(b, more...)
}

// get asks for a path and hands its body to read.
func (a *api) get(ctx context.Context, path string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://esmed"+path, nil)
	if err != nil {
		return err
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return problem(resp)
	}
	if err := read(resp.Body); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = io.Copy(io.Discard, resp.Body) // so that the connection is kept
	return err
}

func (a *api) getJSON(ctx context.Context, path string, into any) error {
	return a.get(ctx, path, func(r io.Reader) error { return json.NewDecoder(r).Decode(into) })
}

// problem is an answer that is no success, as an error.
func problem(resp *http.Response) error {
	var p struct {
		Detail string `json:"detail"`
	}
	_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&p) // the status says enough
	return fmt.Errorf("%s: %s", resp.Status, cmp.Or(p.Detail, "no detail"))
}

// Tally are messages that esmed accepted, by its report.
type Tally struct {
	Accepted     int64 `json:"accepted"`
	Submitted    int64 `json:"submitted"`
	Failed       int64 `json:"failed"`
	Final        int64 `json:"final"`
	Delivered    int64 `json:"delivered"`
	Open         int64 `json:"open"`
	InDoubt      int64 `json:"in_doubt"`
	MaybeDoubled int64 `json:"maybe_doubled"`
}

// report adds up the hours from since on. It sees all that was acknowledged before it was asked for.
func (a *api) report(ctx context.Context, since time.Time) (Tally, error) {
	var list struct {
		Items []struct {
			Hour *time.Time `json:"hour"`
			Tally
		} `json:"items"`
	}
	q := url.Values{"by": {"hour"}, "window": {(time.Since(since) + time.Hour).Round(time.Second).String()}}
	if err := a.getJSON(ctx, "/v1/report?"+q.Encode(), &list); err != nil {
		return Tally{}, err
	}
	var sum Tally
	for _, row := range list.Items {
		if row.Hour == nil || !row.Hour.Before(since) {
			sum = sum.plus(row.Tally, 1)
		}
	}
	return sum, nil
}

// plus adds n times u.
func (t Tally) plus(u Tally, n int64) Tally {
	t.Accepted += n * u.Accepted
	t.Submitted += n * u.Submitted
	t.Failed += n * u.Failed
	t.Final += n * u.Final
	t.Delivered += n * u.Delivered
	t.Open += n * u.Open
	t.InDoubt += n * u.InDoubt
	t.MaybeDoubled += n * u.MaybeDoubled
	return t
}
