package control_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
)

// serve runs a server until the test ends, and returns what ends it.
func serve(t testing.TB, cfg control.ServerConfig, api *control.API) (*control.Server, func()) {
	if cfg.Socket == "" {
		cfg.Socket = filepath.Join(socketDir(t), "esmed.sock")
	}
	cfg.Errors = func(err error) { t.Errorf("server: %v", err) }
	s, err := control.Listen(cfg, api)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return s.Run(ctx) })
	stop := func() {
		cancel()
		require.NoError(t, g.Wait())
	}
	t.Cleanup(stop)
	return s, stop
}

// socketDir is short enough for a socket's path.
func socketDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "ctl")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// overSocket makes a client of a server on a Unix socket.
func overSocket(t testing.TB, api *control.API) *control.Client {
	path := filepath.Join(socketDir(t), "esmed.sock")
	serve(t, control.ServerConfig{Socket: path}, api)
	c := control.Dial(path)
	t.Cleanup(c.Close)
	return c
}

func TestServer_knowsWhoCalls(t *testing.T) {
	f := newFake(t)
	c := overSocket(t, newAPI(t, f.config()))
	m, _, err := c.Submit(t.Context(), code, "")
	require.NoError(t, err)
	for _, stored := range f.mem.Messages {
		require.Equal(t, fmt.Sprintf("uid:%d", os.Getuid()), stored.Owner)
	}
	require.NotEmpty(t, m.ID)
}

func TestServer_socketFile(t *testing.T) {
	path := filepath.Join(socketDir(t), "esmed.sock")
	api := newAPI(t, newFake(t).config())
	c := control.Dial(path)
	defer c.Close()
	require.ErrorIs(t, c.Ready(t.Context()), control.ErrNoDaemon)

	// What a killed process leaves is replaced.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	require.ErrorIs(t, c.Ready(t.Context()), control.ErrNoDaemon)
	_, stop := serve(t, control.ServerConfig{Socket: path}, api)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o660), info.Mode().Perm())
	require.NoError(t, c.Ready(t.Context()))

	// One that lives is not.
	_, err = control.Listen(control.ServerConfig{Socket: path}, api)
	require.ErrorIs(t, err, control.ErrInUse)
	require.NoError(t, c.Ready(t.Context()))

	stop()
	require.NoFileExists(t, path)
	c.Close()
	require.ErrorIs(t, c.Ready(t.Context()), control.ErrNoDaemon)
}

func TestServer_doesNotReplaceAFile(t *testing.T) {
	path := filepath.Join(socketDir(t), "esmed.sock")
	require.NoError(t, os.WriteFile(path, []byte("precious"), 0o600))
	_, err := control.Listen(control.ServerConfig{Socket: path}, newAPI(t, newFake(t).config()))
	require.ErrorIs(t, err, control.ErrNoSocket)
	require.FileExists(t, path)
}

// watched says when a message was asked for.
type watched struct {
	*fake
	asked chan struct{}
}

func (w watched) Message(ctx context.Context, id statemachine.ID) (*statemachine.Message, error) {
	defer func() { w.asked <- struct{}{} }()
	return w.fake.Message(ctx, id)
}

func TestServer_endsFollowersAndWaits(t *testing.T) {
	f := life(t)
	f.append(t, accepted("01JDXW5Q0C8Z4Y3K7M2N9P6R5V", ""))
	path := filepath.Join(socketDir(t), "esmed.sock")
	cfg, asked := f.config(), make(chan struct{}, 1)
	cfg.Messages = watched{f, asked}
	_, stop := serve(t, control.ServerConfig{Socket: path}, newAPI(t, cfg))
	c := control.Dial(path)
	defer c.Close()
	seen := make(chan struct{})
	var g errgroup.Group
	g.Go(func() error {
		m, err := c.WaitFinal(t.Context(), "01JDXW5Q0C8Z4Y3K7M2N9P6R5V", time.Minute)
		if err == nil && m.Final {
			err = errors.New("final")
		}
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	g.Go(func() error {
		n := 0
		for e, err := range c.Events(ctx, control.EventsQuery{Follow: true}) {
			if err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
			if n++; n == 7 {
				close(seen)
			}
			_ = e
		}
		return nil
	})
	<-seen
	<-asked
	start := time.Now()
	stop()
	require.Less(t, time.Since(start), control.DefaultStop)
	cancel()
	require.NoError(t, g.Wait())
}

// bearer adds a token.
type bearer struct {
	token string
	http.Transport
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.Transport.RoundTrip(r)
}

func tokensFile(t testing.TB, lines ...string) string {
	path := filepath.Join(t.TempDir(), "tokens")
	var content string
	for _, l := range lines {
		content += l + "\n"
	}
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func TestServer_tokensAndScopes(t *testing.T) {
	tokens, err := control.ReadTokens(tokensFile(t, "# shop", "", "shop send "+hashOf("s3nd"), "board read "+hashOf("r3ad"), "boss send,read,operate "+hashOf("b0ss")))
	require.NoError(t, err)
	f := newFake(t)
	s, _ := serve(t, control.ServerConfig{Addr: "127.0.0.1:0", Tokens: tokens}, newAPI(t, f.config()))
	base, err := url.Parse("http://" + s.Addr().String())
	require.NoError(t, err)
	tests := []struct {
		token                           string
		send, read, operate, healthOnly int // status; 0 = done
	}{
		{"s3nd", 0, 403, 403, 0},
		{"r3ad", 403, 0, 403, 0},
		{"b0ss", 0, 0, 0, 0},
		{"", 401, 401, 401, 0},
		{"wrong", 401, 401, 401, 401},
	}
	for _, tt := range tests {
		t.Run("token "+tt.token, func(t *testing.T) {
			c := control.NewClient(&bearer{token: tt.token}, base)
			defer c.Close()
			_, _, err := c.Submit(t.Context(), code, "")
			requireStatus(t, tt.send, err)
			_, err = c.Messages(t.Context(), control.MessageQuery{})
			requireStatus(t, tt.read, err)
			_, err = c.Verify(t.Context(), nil)
			requireStatus(t, tt.operate, err)
			requireStatus(t, tt.healthOnly, c.Ready(t.Context()))
		})
	}
	owners := map[string]bool{}
	for _, m := range f.mem.Messages {
		owners[m.Owner] = true
	}
	require.Equal(t, map[string]bool{"shop": true, "boss": true}, owners)
}

func (b *bearer) CloseIdleConnections() { b.Transport.CloseIdleConnections() }

func requireStatus(t testing.TB, status int, err error) {
	t.Helper()
	if status == 0 {
		require.NoError(t, err)
		return
	}
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, status, p.Status)
}

func TestReadTokens_reportsAllThatIsWrong(t *testing.T) {
	_, err := control.ReadTokens(tokensFile(t, "a send "+hashOf("a"), "a read "+hashOf("b"), "uid:0 read "+hashOf("c"), "d steal "+hashOf("d"), "e read 1234", "f read"))
	require.Error(t, err)
	for _, want := range []string{":2: a second token", ":3: names that begin", ":4: unknown scope", ":5: the hash", ":6: want name"} {
		require.ErrorContains(t, err, want)
	}
}

func TestListen_needsTokensForTCP(t *testing.T) {
	_, err := control.Listen(control.ServerConfig{Socket: filepath.Join(socketDir(t), "s"), Addr: "127.0.0.1:0"}, newAPI(t, newFake(t).config()))
	require.ErrorContains(t, err, "without tokens")
}

// TestServer_profiles: who may use the socket sees what the daemon is at; who comes with a token does not.
func TestServer_profiles(t *testing.T) {
	path := filepath.Join(socketDir(t), "esmed.sock")
	tokens, err := control.ReadTokens(tokensFile(t, "boss send,read,operate "+hashOf("b0ss")))
	require.NoError(t, err)
	s, _ := serve(t, control.ServerConfig{Socket: path, Addr: "127.0.0.1:0", Tokens: tokens}, newAPI(t, newFake(t).config()))
	const goroutines = "/debug/pprof/goroutine?debug=1"
	get := func(via http.RoundTripper, url string) (int, string) {
		c := http.Client{Transport: via}
		defer c.CloseIdleConnections()
		resp, err := c.Get(url)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, errors.Join(err, resp.Body.Close()))
		return resp.StatusCode, string(body)
	}
	status, body := get(&http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}, "http://esmed"+goroutines)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "control.(*Server)")
	status, body = get(&bearer{token: "b0ss"}, "http://"+s.Addr().String()+goroutines)
	require.Equal(t, http.StatusNotFound, status)
	require.NotContains(t, body, "goroutine profile")
}
