package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/smpp/smpptest"
)

// notified is what a daemon tells a service manager that is not there.
type notified struct {
	t     *testing.T
	lines chan string // of all messages, in order
}

// sdPatience is how long a test waits for a message.
const sdPatience = time.Minute

// watchdog is the unit's WatchdogSec= in these tests.
const watchdog = 200 * time.Millisecond

// notify takes a service manager's place for the daemons that the test starts from now on.
func notify(t *testing.T) *notified {
	dir, err := os.MkdirTemp("", "esmed") // t.TempDir's names are too long for a socket's path
	require.NoError(t, err)
	socket := &net.UnixAddr{Net: "unixgram", Name: filepath.Join(dir, "notify")}
	conn, err := net.ListenUnixgram("unixgram", socket)
	require.NoError(t, err)
	n := &notified{t: t, lines: make(chan string, 1<<16)} // more than a daemon says in a test
	var g errgroup.Group
	t.Cleanup(func() {
		require.NoError(t, errors.Join(conn.Close(), os.RemoveAll(dir), g.Wait()))
	})
	g.Go(func() error {
		buf := make([]byte, 4096)
		for {
			size, err := conn.Read(buf)
			if err != nil { // closed at the end of the test
				return nil
			}
			for line := range strings.SplitSeq(string(buf[:size]), "\n") {
				n.lines <- line
			}
		}
	})
	t.Setenv("NOTIFY_SOCKET", socket.Name)
	t.Setenv("WATCHDOG_USEC", fmt.Sprint(watchdog.Microseconds()))
	return n
}

// await returns when a line has come that begins so, and gives the rest of it.
func (n *notified) await(prefix string) string {
	n.t.Helper()
	for {
		select {
		case line := <-n.lines:
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest
			}
		case <-time.After(sdPatience):
			require.FailNow(n.t, "systemd is not told", prefix)
		}
	}
}

// silence returns when nothing has come for as long as a watchdog would wait.
func (n *notified) silence() {
	n.t.Helper()
	deadline := time.After(sdPatience)
	for {
		select {
		case <-n.lines:
		case <-time.After(2 * watchdog):
			return
		case <-deadline:
			require.FailNow(n.t, "systemd is told all the time")
		}
	}
}

func TestSystemd_isToldOfAWholeLife(t *testing.T) {
	n := notify(t)
	p := newProcess(t, buildEsmed(t), "127.0.0.1:1", 10, "hold") // nobody is there
	p.start()
	defer p.stop()

	n.await("READY=1")
	require.Equal(t, "started: SMSCs are being bound", n.await("STATUS="))
	require.Contains(t, string(p.esmed("binds")), "alpha/1", "the socket answers by then")
	n.await("WATCHDOG=1")
	n.await("WATCHDOG=1")
	n.await("STATUS=0 of 1 sessions bound; not bound: alpha/1")

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	n.await("RELOADING=1")
	require.NotEmpty(t, n.await("MONOTONIC_USEC="))
	n.await("READY=1")

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	n.await("STOPPING=1")
	require.Equal(t, "60000000", n.await("EXTEND_TIMEOUT_USEC="), "shutdown_timeout, and some for the rest")
	_ = p.stderr.Wait()
	require.NoError(t, p.cmd.Wait())
}

// The projection's goroutine writes the access log: a pipe that nobody reads holds it up.
func TestSystemd_aStuckProjectionIsNotTakenForWork(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	n := notify(t)
	smsc, err := smpptest.Start(smpptest.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, smsc.Close()) }()
	p := newProcess(t, buildEsmed(t), smsc.Addr(), 10, "hold")
	pipe := accessPipe(t, p)
	p.start()
	defer p.stop()
	n.await("WATCHDOG=1")

	const messages = 100
	require.NoError(t, p.submitAll(ctx, 0, messages))
	require.Eventually(t, func() bool { return strings.Contains(p.logged(), `"component":"projection"`) }, sdPatience, watchdog/10)
	n.silence()
	require.NotContains(t, p.logged(), "the watchdog is fed again")

	var read errgroup.Group
	read.Go(func() error {
		_, err := io.Copy(io.Discard, pipe)
		if errors.Is(err, os.ErrClosed) {
			return nil
		}
		return err
	})
	n.await("WATCHDOG=1")
	p.settled(ctx)
	p.stop()
	require.NoError(t, pipe.Close())
	require.NoError(t, read.Wait())
}

// accessPipe makes a pipe the access log, and gives its end that is to be read.
func accessPipe(t *testing.T, p *process) *os.File {
	path := filepath.Join(filepath.Dir(p.config), "access")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	// Both ends, so that it can be opened before the other one is.
	pipe, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = pipe.Close() })
	raw, err := pipe.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETPIPE_SZ, uintptr(os.Getpagesize()))
		require.Zero(t, errno)
	}))
	config, err := os.ReadFile(p.config)
	require.NoError(t, err)
	config = slices.Concat(config, fmt.Appendf(nil, "log: {access: %s}\n", path))
	require.NoError(t, os.WriteFile(p.config, config, 0o600))
	return pipe
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// The unit does not start it again after exit status 2, which is what a Go program ends with by itself then.
func TestSystemd_theWatchdogsSignalIsNoExitStatus(t *testing.T) {
	var core syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_CORE, &core))
	none := core
	none.Cur = 0 // no file is left behind
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_CORE, &none))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_CORE, &core)) }()
	p := newProcess(t, buildEsmed(t), "127.0.0.1:1", 10, "hold")
	p.start()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGABRT))
	require.NoError(t, p.stderr.Wait())
	_ = p.cmd.Wait() // it says how it ended
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.True(t, status.Signaled(), status)
	require.Equal(t, syscall.SIGABRT, status.Signal())
	require.Contains(t, p.logged(), "goroutine ", "and what everybody was at")
}
