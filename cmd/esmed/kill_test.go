package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp/smpptest"
)

// Three times, in mid-load, the daemon is killed with SIGKILL and started again, and in the end what it
// says is compared with what the SMSC knows.
func TestKill(t *testing.T) {
	bin := buildEsmed(t)
	for _, tt := range []struct {
		inDoubt  string
		sessions int
		more     []string
	}{
		{"hold", 1, nil},
		{"hold", 2, []string{"sessions: 2", "bind: transmitter+receiver"}},
		{"resend", 2, []string{"sessions: 2"}},
	} {
		t.Run(strings.Join(append([]string{"in_doubt: " + tt.inDoubt}, tt.more...), ", "), func(t *testing.T) {
			killed(t, bin, tt.inDoubt, killWindow/tt.sessions, tt.more)
		})
	}
}

const (
	killMessages = 1200
	killWindow   = 20 // of all sessions
	kills        = 3
	killLoad     = killMessages / (kills + 1) // messages that are submitted about each
)

func killed(t *testing.T, bin, inDoubt string, window int, more []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var killAt atomic.Uint64
	reached := make(chan struct{}, 1)
	smsc, err := smpptest.Start(smpptest.Config{
		Answers: smpptest.Answers{Delay: time.Millisecond, Jitter: 5 * time.Millisecond},
		Receipts: smpptest.Receipts{
			Jitter: 20 * time.Millisecond, BeforeResponse: 0.2, Duplicates: 0.2, Contradictions: 0.1, Unknown: 0.05, DataSM: 0.2,
		},
		Traffic: smpptest.Traffic{MO: 0.05, Garbage: 0.02, Sequence: smpptest.Collide},
		// The submit that a kill waits for is never answered, so that each leaves a doubt for certain.
		OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
			if a.Never = sub.N == killAt.Load(); a.Never {
				reached <- struct{}{}
			}
			return a
		},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, smsc.Close()) }()
	d := newProcess(t, bin, smsc.Addr(), window, inDoubt, more...)
	d.start()
	defer d.stop()

	for k := range kills {
		before := d.crashDoubts(ctx)
		killAt.Store(smsc.Stats().Submits + killLoad/3)
		var load errgroup.Group
		load.Go(func() error { return d.submitAll(ctx, k*killLoad, (k+1)*killLoad) })
		select {
		case <-reached:
		case <-ctx.Done():
			require.NoError(t, ctx.Err())
		}
		d.kill()
		d.start()
		left := d.crashDoubts(ctx) - before
		require.LessOrEqual(t, left, killWindow, "a kill leaves at most a window in doubt")
		require.NotZero(t, left, "and one was not answered")
		require.NoError(t, load.Wait())
	}
	require.NoError(t, d.submitAll(ctx, kills*killLoad, killMessages))
	d.settled(ctx)
	require.NoError(t, smsc.Drained(ctx))

	messages, err := smpptest.ReadMessages(bytes.NewReader(d.esmed("list", "--limit", "0", "-o", "ndjson")))
	require.NoError(t, err)
	require.Len(t, messages, killMessages, "a message accepted is a message kept, and a repeat is the first")
	events, err := smpptest.ReadEvents(bytes.NewReader(d.esmed("events", "--after", "0", "-o", "ndjson")))
	require.NoError(t, err)
	texts := textDifferences(smsc.Submits())
	require.Zero(t, texts[smpptest.Altered], "what came is what was sent")
	audit := smpptest.Audit(smsc.Truth(), messages, events, smpptest.AuditOptions{RulesFit: true, MaxInDoubt: kills * killWindow})
	require.Empty(t, audit.Differences, audit.Figures())
	require.True(t, audit.Agree(), audit.Verdict())
	t.Log(audit.Verdict())
	if inDoubt == "hold" {
		require.Zero(t, audit.MaybeDoubled)
		require.Zero(t, texts[smpptest.Doubled])
		require.LessOrEqual(t, texts[smpptest.Lost], audit.InDoubt, "what did not come whole is in doubt")
	} else {
		require.Zero(t, texts[smpptest.Lost])
		require.Zero(t, audit.InDoubt)
		require.NotZero(t, audit.MaybeDoubled)
	}
	d.esmed("verify")
}

// killText is the text of the nth message; of some it takes several parts.
func killText(n int) string {
	return strings.Repeat(fmt.Sprintf("message %d, ", n), 1+n%3*(10+n%17))
}

func killNumber(n int) string { return fmt.Sprintf("39333%07d", n) }

// textDifferences counts how what came differs from the texts of all messages.
func textDifferences(came []smpptest.Submit) map[smpptest.DifferenceKind]int {
	sent := make([]smpptest.Sent, killMessages)
	for n := range sent {
		sent[n] = smpptest.Sent{Dest: killNumber(n), Text: killText(n)}
	}
	count := map[smpptest.DifferenceKind]int{}
	for _, d := range smpptest.CompareTexts(sent, smpptest.Join(came, smpptest.GSM7)) {
		count[d.Kind]++
	}
	return count
}

func buildEsmed(t testing.TB) string {
	bin := filepath.Join(t.TempDir(), "esmed")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return bin
}

// process is a daemon in a process of its own.
type process struct {
	t           testing.TB
	bin, config string
	socket      string

	cmd    *exec.Cmd
	stderr errgroup.Group
	log    bytes.Buffer // guarded by mu
	mu     sync.Mutex
	up     chan struct{} // closed when a daemon has started; another after each start
}

// newProcess configures one with one SMSC; more are settings of that, a line each.
func newProcess(t testing.TB, bin, addr string, window int, inDoubt string, more ...string) *process {
	dir, err := os.MkdirTemp("", "esmed") // t.TempDir's names are too long for a socket's path
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	p := &process{t: t, bin: bin, config: filepath.Join(dir, "esmed.yaml"), socket: filepath.Join(dir, "sock"), up: make(chan struct{})}
	yaml := fmt.Sprintf(`data_dir: %s
api: {socket: %s}
smscs:
  - name: alpha
    addr: [%q]
    system_id: esme
    password: secret
    window: %d
    in_doubt: %s
    reconnect: {min: 10ms, max: 100ms}
`, filepath.Join(dir, "data"), p.socket, addr, window, inDoubt)
	for _, line := range more {
		yaml += "    " + line + "\n"
	}
	require.NoError(t, os.WriteFile(p.config, []byte(yaml), 0o600))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(p.log.String())
		}
	})
	return p
}

// start starts a daemon and returns when it says that it has.
func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(p.bin, "run", "--config", p.config)
	stderr, err := p.cmd.StderrPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, p.cmd.Start())
	started := make(chan bool, 1)
	p.stderr.Go(func() error {
		defer close(started)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			p.mu.Lock()
			fmt.Fprintln(&p.log, lines.Text())
			p.mu.Unlock()
			if strings.Contains(lines.Text(), `"msg":"started"`) {
				started <- true
			}
		}
		return nil
	})
	require.True(p.t, <-started, "the daemon did not start")
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.up)
	p.up = make(chan struct{})
}

// next is closed when a daemon starts next.
func (p *process) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.up
}

func (p *process) kill() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Kill())
	_ = p.stderr.Wait()
	_ = p.cmd.Wait() // it says that it was killed
}

func (p *process) stop() {
	if p.cmd.ProcessState == nil {
		require.NoError(p.t, p.cmd.Process.Signal(os.Interrupt))
		_ = p.stderr.Wait()
		require.NoError(p.t, p.cmd.Wait())
	}
}

// esmed runs a command against the daemon and gives what it printed.
func (p *process) esmed(args ...string) []byte {
	p.t.Helper()
	cmd := exec.Command(p.bin, append(args, "--socket", p.socket)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(p.t, err, "%v: %s", args, stderr.String())
	return out
}

// submitAll submits messages, numbered from from up to, but not, to, from several goroutines. What was
// answered by nobody is submitted again under the same ref once there is a daemon.
func (p *process) submitAll(ctx context.Context, from, to int) error {
	todo := make(chan int)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(todo)
		for n := from; n < to; n++ {
			select {
			case todo <- n:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range 8 {
		g.Go(func() error {
			for n := range todo {
				if err := p.submit(ctx, n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func (p *process) submit(ctx context.Context, n int) error {
	for {
		next := p.next()
		c := control.Dial(p.socket)
		_, _, err := c.Submit(ctx, control.Submission{
			To: "+" + killNumber(n), From: "ACME", Text: killText(n), Ref: fmt.Sprintf("kill-%d", n),
		}, "")
		c.Close()
		var problem *control.ProblemError
		if err == nil || errors.As(err, &problem) {
			return err
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// crashDoubts counts the attempts that crashes left in doubt so far.
func (p *process) crashDoubts(ctx context.Context) int {
	p.t.Helper()
	c := control.Dial(p.socket)
	defer c.Close()
	n := 0
	for e, err := range c.Events(ctx, control.EventsQuery{OnlyChanges: true}) {
		require.NoError(p.t, err)
		if e.Type == "in_doubt" && strings.Contains(e.Detail, "crash") {
			n++
		}
	}
	return n
}

// settled returns when no message is on its way any more.
func (p *process) settled(ctx context.Context) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := control.Dial(p.socket)
	defer c.Close()
	moving := func() bool {
		l, err := c.Messages(ctx, control.MessageQuery{States: []string{"QUEUED", "SUBMITTING", "SUBMITTED"}, Limit: 1})
		require.NoError(p.t, err)
		return len(l.Items) > 0
	}
	if !moving() {
		return
	}
	for _, err := range c.Events(ctx, control.EventsQuery{Follow: true, OnlyChanges: true}) {
		require.NoError(p.t, err)
		if !moving() {
			return
		}
	}
}
