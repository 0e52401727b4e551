package daemon_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/smpp/smpptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is what a test waits for anything at most.
const patience = 30 * time.Second

// system is a daemon and the simulated SMSC that it is bound to, over real sockets.
type system struct {
	t    *testing.T
	ctx  context.Context
	cfg  *config.Config
	smsc *smpptest.Server
	api  *control.Client
	log  *lockedBuffer

	stop context.CancelFunc
	run  errgroup.Group

	restored string // daemon.Options.Restored of the next start

	mu     sync.Mutex // guards reload
	reload func() (*config.Config, error)
}

// newSystem starts both. configure may change the configuration of daemon and SMSC first.
func newSystem(t *testing.T, sim smpptest.Config, configure func(*config.Config)) *system {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	smsc, err := smpptest.Start(sim)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, smsc.Close()) })
	s := &system{t: t, ctx: ctx, smsc: smsc, cfg: newConfig(t, smsc.Addr()), log: newLockedBuffer()}
	if configure != nil {
		configure(s.cfg)
	}
	s.start()
	t.Cleanup(func() {
		s.halt()
		s.verify()
		if t.Failed() {
			t.Log(s.log.String())
		}
	})
	return s
}

// newConfig is a daemon's with one SMSC, alpha, that is quick to come back.
func newConfig(t *testing.T, addr string) *config.Config {
	dir, err := os.MkdirTemp("", "esmed") // t.TempDir's names are too long for a socket's path
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	cfg := config.Default()
	cfg.DataDir = filepath.Join(dir, "data")
	cfg.API.Socket = filepath.Join(dir, "sock")
	cfg.Log.Level = "debug"
	cfg.ShutdownTimeout = 5 * time.Second
	cfg.SMSCs = []config.SMSC{newSMSC("alpha", addr)}
	return &cfg
}

func newSMSC(name, addr string) config.SMSC {
	s := config.DefaultSMSC()
	s.Name, s.Account, s.Addr = name, name, []string{addr}
	s.SystemID, s.Password = "esme", "secret"
	s.Reconnect = config.Backoff{Min: 5 * time.Millisecond, Max: 50 * time.Millisecond}
	s.Retry.Min, s.Retry.Max = 5*time.Millisecond, 20*time.Millisecond
	return s
}

// start runs the daemon and waits until it serves.
func (s *system) start() {
	s.t.Helper()
	ready := make(chan struct{})
	ctx, stop := context.WithCancel(s.ctx)
	ended := make(chan error, 1)
	s.stop, s.run = stop, errgroup.Group{}
	s.run.Go(func() error {
		err := daemon.Run(ctx, s.cfg, daemon.Options{
			Log: s.log, Ready: func() { close(ready) }, Restored: s.restored,
			Reload: func() (*config.Config, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.reload()
			},
		})
		ended <- err
		return err
	})
	select {
	case <-ready:
	case err := <-ended:
		require.NoError(s.t, err, "the daemon did not start")
	}
	s.api = control.Dial(s.cfg.API.Socket)
}

// halt stops the daemon gracefully. It may be called again.
func (s *system) halt() {
	s.t.Helper()
	s.api.Close()
	s.stop()
	require.NoError(s.t, s.run.Wait())
}

func (s *system) restart() {
	s.halt()
	s.start()
}

// verify folds the log and compares it with the projection.
func (s *system) verify() {
	s.t.Helper()
	r, err := daemon.OpenReader(s.cfg.DataDir, "test")
	require.NoError(s.t, err)
	api := control.NewInProcess(r)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	result, err := api.Verify(ctx, nil)
	require.NoError(s.t, err)
	require.Nil(s.t, result.Difference)
	require.True(s.t, result.OK)
	api.Close()
	require.NoError(s.t, r.Close())
}

// submit submits a message to a destination and gives its id.
func (s *system) submit(to string) string {
	s.t.Helper()
	m, _, err := s.api.Submit(s.ctx, control.Submission{To: to, From: "ACME", Text: "Your code is 4711"}, "")
	require.NoError(s.t, err)
	return m.ID
}

// number is a destination for the nth message.
func number(n int) string { return fmt.Sprintf("+39333%07d", n) }

func (s *system) message(id string) control.Message {
	s.t.Helper()
	m, err := s.api.Message(s.ctx, id)
	require.NoError(s.t, err)
	return m
}

// await follows the log until a message is as it should be, and gives it.
func (s *system) await(id, what string, until func(control.Message) bool) control.Message {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	m := s.message(id)
	if until(m) {
		return m
	}
	for _, err := range s.api.Events(ctx, control.EventsQuery{Follow: true}) {
		require.NoError(s.t, err, "%s: message is %s", what, m.State)
		if m = s.message(id); until(m) {
			return m
		}
	}
	require.FailNow(s.t, "never came", "%s: message is %s", what, m.State)
	return m
}

func (s *system) awaitState(id, state string) control.Message {
	s.t.Helper()
	return s.await(id, state, func(m control.Message) bool { return m.State == state })
}

// drained waits until the SMSC has sent all that it has and had it acknowledged.
func (s *system) drained() {
	s.t.Helper()
	require.NoError(s.t, s.smsc.Drained(s.ctx))
}

func (s *system) exceptions() []control.Exception {
	s.t.Helper()
	l, err := s.api.Exceptions(s.ctx, control.ExceptionQuery{})
	require.NoError(s.t, err)
	return l.Items
}

func (s *system) inbox() []control.InboxRow {
	s.t.Helper()
	l, err := s.api.Inbox(s.ctx, control.InboxQuery{})
	require.NoError(s.t, err)
	return l.Items
}

func (s *system) history(id string) []control.Event {
	s.t.Helper()
	events, err := s.api.MessageEvents(s.ctx, id)
	require.NoError(s.t, err)
	return events
}

// events are all records so far.
func (s *system) events() []control.Event {
	s.t.Helper()
	var all []control.Event
	for e, err := range s.api.Events(s.ctx, control.EventsQuery{}) {
		require.NoError(s.t, err)
		all = append(all, e)
	}
	return all
}

// types are the record types of events, in order.
func types(events []control.Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.Type)
	}
	return all
}

// hangUp sends the SIGHUP that makes the daemon read cfg, or fail with err.
func (s *system) hangUp(cfg *config.Config, err error) {
	s.t.Helper()
	s.hangUpWith(func() (*config.Config, error) { return cfg, err })
}

// hangUpWith sends the SIGHUP that has the daemon read its configuration so.
func (s *system) hangUpWith(reload func() (*config.Config, error)) {
	s.t.Helper()
	s.mu.Lock()
	s.reload = reload
	s.mu.Unlock()
	require.NoError(s.t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
}

// awaitLog waits until the daemon's log holds a text.
func (s *system) awaitLog(text string) {
	s.t.Helper()
	for {
		changed := s.log.next()
		if strings.Contains(s.log.String(), text) {
			return
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
			require.FailNow(s.t, "never logged", text)
		}
	}
}

// metrics is what a scrape reads.
func (s *system) metrics() string {
	s.t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", s.cfg.API.Socket)
	}}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "http://esmed/metrics", nil)
	require.NoError(s.t, err)
	resp, err := tr.RoundTrip(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, resp.StatusCode, string(text))
	return string(text)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// lockedBuffer is a log that can be read, and waited for, while it is written.
type lockedBuffer struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	changed chan struct{}
}

func newLockedBuffer() *lockedBuffer { return &lockedBuffer{changed: make(chan struct{})} }

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// next is closed at the next write.
func (b *lockedBuffer) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}
