package control_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
)

var code = control.Submission{To: "+393331234567", From: "ACME", Text: "Your code is 4711"}

func TestSubmit_answersTheMessageAsItIsStored(t *testing.T) {
	f := newFake(t)
	c := newClient(t, newAPI(t, f.config()))
	m, existing, err := c.Submit(t.Context(), code, "")
	require.NoError(t, err)
	require.False(t, existing)
	require.Equal(t, "QUEUED", m.State)
	stored, err := c.Message(t.Context(), m.ID)
	require.NoError(t, err)
	require.Equal(t, stored, m)
}

func TestSubmit_repeats(t *testing.T) {
	other := code
	other.Text = "another"
	withRef := func(s control.Submission) control.Submission { s.Ref = "order-42"; return s }
	tests := []struct {
		name          string
		first, second control.Submission
		key           string
		status        int // 0 = the first message again
	}{
		{"the same ref and body", withRef(code), withRef(code), "", 0},
		{"the same ref, another body", withRef(code), withRef(other), "", 409},
		{"the same key and body", code, code, "k", 0},
		{"the same key, another body", code, other, "k", 409},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, newAPI(t, newFake(t).config()))
			first, _, err := c.Submit(t.Context(), tt.first, tt.key)
			require.NoError(t, err)
			again, existing, err := c.Submit(t.Context(), tt.second, tt.key)
			if tt.status != 0 {
				var p *control.ProblemError
				require.ErrorAs(t, err, &p)
				require.Equal(t, tt.status, p.Status)
				return
			}
			require.NoError(t, err)
			require.True(t, existing)
			require.Equal(t, first.ID, again.ID)
		})
	}
}

func TestSubmit_problems(t *testing.T) {
	tests := []struct {
		name   string
		change func(*control.Config, *fake)
		status int
		hint   string
	}{
		{"read-only", func(c *control.Config, _ *fake) { c.Submit = nil }, 503, "start the daemon: esmed run --config FILE"},
		{"disk full", func(_ *control.Config, f *fake) { f.fail = fmt.Errorf("store: %w", control.ErrDiskFull) }, 507, "free space under data_dir (esmed store stat says what takes it), then try again: nothing was accepted"},
		{"closed", func(_ *control.Config, f *fake) { f.fail = control.ErrUnavailable }, 503, "try again; if it stays so, see the daemon's log"},
		{"a fault of ours", func(c *control.Config, f *fake) {
			f.fail = errors.New("secret detail")
			c.Fault = func(string, error) {}
		}, 500, "see the daemon's log"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			cfg := f.config()
			tt.change(&cfg, f)
			_, _, err := newClient(t, newAPI(t, cfg)).Submit(t.Context(), code, "")
			var p *control.ProblemError
			require.ErrorAs(t, err, &p)
			require.Equal(t, tt.status, p.Status)
			require.Equal(t, tt.hint, p.Hint)
			require.Equal(t, http.StatusText(tt.status), p.Title)
			require.NotContains(t, p.Error(), "secret")
		})
	}
}

func TestSubmit_isRefusedWhileStopping(t *testing.T) {
	api := newAPI(t, newFake(t).config())
	c := newClient(t, api)
	api.RefuseSubmits(7 * time.Second)
	_, _, err := c.Submit(t.Context(), code, "")
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, 503, p.Status)
	require.Equal(t, 7*time.Second, p.RetryAfter)
	_, err = c.Batch(t.Context())
	require.ErrorAs(t, err, &p)
	require.Equal(t, 503, p.Status)
	_, err = c.Messages(t.Context(), control.MessageQuery{})
	require.NoError(t, err, "reads go on")
}

func TestSubmit_tooLong(t *testing.T) {
	c := newClient(t, newAPI(t, newFake(t).config()))
	_, _, err := c.Submit(t.Context(), control.Submission{To: "+393331234567", Text: strings.Repeat("x", 256<<10)}, "")
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, http.StatusRequestEntityTooLarge, p.Status)
}

func TestSubmit_aBodyOfMegabytesIsRefusedReadably(t *testing.T) {
	path := filepath.Join(socketDir(t), "esmed.sock")
	serve(t, control.ServerConfig{Socket: path}, newAPI(t, newFake(t).config()))
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer conn.Close()
	const size = 10 << 20
	_, err = fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
	require.NoError(t, err)
	_, err = conn.Write(make([]byte, size)) // as a client that reads nothing before it has written all
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
	require.True(t, resp.Close)
}

func TestSubmit_mediaTypes(t *testing.T) {
	api := newAPI(t, newFake(t).config())
	tests := []struct {
		name, path, contentType, encoding string
		refused                           bool
	}{
		{"a message without a type", "/v1/messages", "", "", false},
		{"a message with its charset", "/v1/messages", "application/json; charset=utf-8", "", false},
		{"a message as it is", "/v1/messages", "application/json", "identity", false},
		{"a form", "/v1/messages", "application/x-www-form-urlencoded", "", true},
		{"a batch for one message", "/v1/messages", "application/x-ndjson", "", true},
		{"no type at all", "/v1/messages", ";", "", true},
		{"a compressed message", "/v1/messages", "application/json", "gzip", true},
		{"a batch without a type", "/v1/messages/batch", "", "", false},
		{"a batch", "/v1/messages/batch", "application/x-ndjson", "", false},
		{"a batch by the type's other name", "/v1/messages/batch", "application/ndjson", "", false},
		{"a batch of one", "/v1/messages/batch", "application/json", "", false},
		{"a batch in XML", "/v1/messages/batch", "text/xml", "", true},
		{"a compressed batch", "/v1/messages/batch", "", "gzip", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := control.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked := r.Clone(r.Context())
				asked.Method, asked.URL, asked.Header = http.MethodPost, &url.URL{Path: tt.path}, http.Header{}
				asked.Body = io.NopCloser(strings.NewReader(`{"to":"+393331234567","text":"x"}`))
				if tt.contentType != "" {
					asked.Header.Set("Content-Type", tt.contentType)
				}
				if tt.encoding != "" {
					asked.Header.Set("Content-Encoding", tt.encoding)
				}
				api.ServeHTTP(w, asked)
			}))
			var p *control.ProblemError
			refused := errors.As(c.Ready(t.Context()), &p) && p.Status == http.StatusUnsupportedMediaType
			require.Equal(t, tt.refused, refused)
		})
	}
}

// exchange sends lines while it receives what they are answered.
func exchange(ctx context.Context, c *control.Client, lines []string) ([]control.BatchResult, error) {
	return exchangeWith(ctx, c, control.BatchOptions{}, lines)
}

func exchangeWith(ctx context.Context, c *control.Client, o control.BatchOptions, lines []string) ([]control.BatchResult, error) {
	b, err := c.BatchWith(ctx, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	var g errgroup.Group
	g.Go(func() error {
		for _, line := range lines {
			if err := b.SendLine([]byte(line)); err != nil {
				return err
			}
		}
		return b.CloseSend()
	})
	var results []control.BatchResult
	for {
		r, err := b.Recv()
		if err == io.EOF {
			return results, g.Wait()
		}
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
}

func line(i int) string {
	return fmt.Sprintf(`{"to":"+39333%07d","text":"x","ref":"r%d"}`, i, i)
}

func TestBatch_answersInTheOrderOfTheLines(t *testing.T) {
	inProcess := func(_ testing.TB, api *control.API) *control.Client { return control.NewInProcess(api) }
	for name, newTransport := range map[string]func(testing.TB, *control.API) *control.Client{"in process": inProcess, "over a socket": overSocket} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.commit(t)
			var lines []string
			for i := range 10_000 {
				lines = append(lines, line(i))
			}
			results, err := exchange(t.Context(), newTransport(t, newAPI(t, f.config())), lines)
			require.NoError(t, err)
			require.Len(t, results, len(lines))
			for i, r := range results {
				require.Equal(t, i+1, r.Line)
				require.Nil(t, r.Error)
				require.Equal(t, "QUEUED", r.State)
				require.Equal(t, fmt.Sprintf("+39333%07d", i), f.mem.Messages[statemachine.ID(r.ID)].To)
			}
		})
	}
}

func TestBatch_aBadLineDoesNotEndTheRest(t *testing.T) {
	f := newFake(t)
	c := newClient(t, newAPI(t, f.config()))
	results, err := exchange(t.Context(), c, []string{
		line(1), `{"to":`, "", "  ", `{"to":"1","text":"x"}`, strings.Repeat("x", 400<<10), "\xff", line(1), `{"to":"+393331234568","text":"x","ref":"r1"}`, line(2),
	})
	require.NoError(t, err)
	var got []string
	for _, r := range results {
		what := "ok"
		switch {
		case r.Error != nil:
			what = fmt.Sprint(r.Error.Status)
		case r.Existing:
			what = "existing"
		}
		got = append(got, fmt.Sprintf("%d %s", r.Line, what))
	}
	require.Equal(t, []string{"1 ok", "2 400", "5 422", "6 413", "7 400", "8 existing", "9 409", "10 ok"}, got)
	require.Equal(t, results[0].ID, results[5].ID)
}

func TestBatch_resultsComeWhileTheInputIsOpen(t *testing.T) {
	c := overSocket(t, newAPI(t, newFake(t).config()))
	b, err := c.Batch(t.Context())
	require.NoError(t, err)
	for i := range 3 {
		require.NoError(t, b.SendLine([]byte(line(i))))
		require.NoError(t, b.Flush())
		r, err := b.Recv()
		require.NoError(t, err)
		require.Equal(t, i+1, r.Line)
	}
	require.NoError(t, b.CloseSend())
	_, err = b.Recv()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, b.Close())
}

func TestBatch_whoReadsNothingIsHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.commit(t)
		b, err := control.NewInProcess(newAPI(t, f.config())).Batch(t.Context())
		require.NoError(t, err)
		sent := 0
		var g errgroup.Group
		g.Go(func() error {
			for b.SendLine([]byte(line(sent))) == nil {
				sent++
			}
			return nil
		})
		synctest.Wait() // nothing moves any more
		first := sent
		require.Less(t, first, 10_000)
		for i := range 2000 { // more lines than the client buffers
			r, err := b.Recv()
			require.NoError(t, err)
			require.Equal(t, i+1, r.Line)
		}
		synctest.Wait()
		require.Greater(t, sent, first)
		require.Less(t, sent, first+5000)
		require.NoError(t, b.Close())
		require.NoError(t, g.Wait())
	})
}

func TestBatch_endsWhenTheDaemonStops(t *testing.T) {
	api := newAPI(t, newFake(t).config())
	c := overSocket(t, api)
	b, err := c.Batch(t.Context())
	require.NoError(t, err)
	require.NoError(t, b.SendLine([]byte(line(1))))
	require.NoError(t, b.Flush())
	r, err := b.Recv()
	require.NoError(t, err)
	require.NotEmpty(t, r.ID)
	api.RefuseSubmits(time.Second)
	require.NoError(t, b.SendLine([]byte(line(2))))
	require.NoError(t, b.Flush())
	r, err = b.Recv()
	require.NoError(t, err)
	require.Equal(t, 503, r.Error.Status)
	_, err = b.Recv()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, b.Close())
}

func TestBatch_isIdleWhenStreamsEnd(t *testing.T) {
	api := newAPI(t, newFake(t).config())
	c := overSocket(t, api)
	b, err := c.Batch(t.Context())
	require.NoError(t, err)
	api.EndStreams()
	_, err = b.Recv()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, b.Close())
}

func TestSubmit_readsTheSMSCsInForce(t *testing.T) {
	api := newAPI(t, newFake(t).config())
	c := newClient(t, api)
	renamed := alpha()
	renamed.Name = "gamma"
	api.SetSMSCs([]control.SMSC{renamed}, "")
	m, _, err := c.Submit(t.Context(), code, "")
	require.NoError(t, err)
	require.Equal(t, "gamma", m.SMSC)
	named := code
	named.SMSC = "alpha"
	_, _, err = c.Submit(t.Context(), named, "")
	requireStatus(t, 422, err)
}

func TestSubmit_idsAreGreaterThanAllThatWereThere(t *testing.T) {
	f := newFake(t)
	earlier := "01M8P570G0ZZZZZZZZZZZZZZZZ"
	f.append(t, accepted(earlier, ""))
	cfg := f.config()
	cfg.Now = func() time.Time { return began.AddDate(0, 0, -3) } // the clock was set back
	api := newAPI(t, cfg)
	c := newClient(t, api)
	for range 3 {
		m, _, err := c.Submit(t.Context(), code, "")
		require.NoError(t, err)
		require.Greater(t, m.ID, earlier)
		earlier = m.ID
		api.SetSMSCs([]control.SMSC{alpha()}, "") // no reason to begin again
	}
}
