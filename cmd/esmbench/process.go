package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// process is a child that was started and not yet waited for.
type process struct {
	cmd *exec.Cmd
	log *os.File
}

// startProcess starts a program whose output goes to a file of its name in dir.
func startProcess(dir, program string, args ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(dir, filepath.Base(program)+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(program, args...), log: log}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		log.Close()
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop ends a process in the usual way and fails when it fails. Once it was waited for it does nothing.
func (p *process) stop() error { return p.end(syscall.SIGTERM) }

// kill ends it with SIGKILL.
func (p *process) kill() error {
	err := p.end(syscall.SIGKILL)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}

func (p *process) end(signal os.Signal) error {
	if p == nil || p.cmd.ProcessState != nil {
		return nil
	}
	defer p.log.Close()
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(p.cmd.Path), err, lastLines(p.log.Name()))
	}
	return nil
}

const quoted = 2000 // octets of a log that an error quotes

func lastLines(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b[max(0, len(b)-quoted):]))
}

// exited says whether the process has ended by itself; it is not waited for.
func (p *process) exited() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid()))
	if err != nil {
		return true
	}
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return len(state) > 0 && state[0] == 'Z'
}

// bench is what all cases of a run share: programs, and where they work.
type bench struct {
	bin    string // directory of esmed and smscsim
	dir    string // in which each case makes one of its own
	filled string // directory in which filled data_dirs are kept; "": none are
	out    io.Writer
}

// site is one case at work.
type site struct {
	*bench
	setting
	dir    string
	smsc   *process
	daemon *process
	client *http.Client
}

func (b *bench) newSite(s setting) (*site, error) {
	dir, err := os.MkdirTemp(b.dir, "esmbench")
	if err != nil {
		return nil, err
	}
	v := &site{bench: b, setting: s, dir: dir}
	v.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", v.path("sock"))
	}}}
	return v, nil
}

func (v *site) path(name string) string { return filepath.Join(v.dir, name) }

// close ends what still runs and removes what the case made.
func (v *site) close() error {
	v.client.CloseIdleConnections()
	return errors.Join(v.daemon.kill(), v.smsc.stop(), os.RemoveAll(v.dir))
}

// patience bounds the wait for a program to be up.
const patience = 2 * time.Minute

// until waits for something to become true, or the process to end.
func until(ctx context.Context, p *process, true func() bool) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		if true() {
			tick.Stop()
			return nil
		}
		if p.exited() {
			return fmt.Errorf("%s has ended:\n%s", filepath.Base(p.cmd.Path), lastLines(p.log.Name()))
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return fmt.Errorf("%s is not up: %w", filepath.Base(p.cmd.Path), ctx.Err())
		case <-tick.C:
		}
	}
}

// startSimulator starts it and writes the configuration that points at it.
func (v *site) startSimulator(ctx context.Context) error {
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--addr-file", v.path("addr"), "--status-file", v.path("smsc.json")}, v.simulatorArgs()...)
	var err error
	if v.smsc, err = startProcess(v.dir, filepath.Join(v.bin, "smscsim"), args...); err != nil {
		return err
	}
	exists := func(name string) bool {
		info, err := os.Stat(v.path(name))
		return err == nil && info.Size() > 0
	}
	if err := until(ctx, v.smsc, func() bool { return exists("addr") && exists("smsc.json") }); err != nil {
		return err
	}
	addr, err := os.ReadFile(v.path("addr"))
	if err != nil {
		return err
	}
	return os.WriteFile(v.path("esmed.yaml"), fmt.Appendf(nil, `data_dir: %s
log: {level: warn}
api: {socket: %s}
smscs:
  - name: alpha
    addr: [%q]
    system_id: esmbench
    password: esmbench
    sessions: %d
    window: %d
`, v.path("data"), v.path("sock"), strings.TrimSpace(string(addr)), v.Sessions, v.Window), 0o600)
}

// startDaemon starts it, waits until it is ready and bound, and says how long ready took.
func (v *site) startDaemon(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	var err error
	if v.daemon, err = startProcess(v.dir, filepath.Join(v.bin, "esmed"), "run", "--config", v.path("esmed.yaml")); err != nil {
		return 0, err
	}
	if err := until(ctx, v.daemon, func() bool { return v.get(ctx, "/readyz", nil) == nil }); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, until(ctx, v.daemon, func() bool {
		var metrics bytes.Buffer
		err := v.get(ctx, "/metrics", &metrics)
		return err == nil && strings.Count(metrics.String(), "esmed_bind_up{") == v.Sessions && boundAll(metrics.String())
	})
}

// boundAll says whether no session of an exposition is down.
func boundAll(metrics string) bool {
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "esmed_bind_up{") && strings.HasSuffix(line, " 0\n") {
			return false
		}
	}
	return true
}

// get asks the daemon for a path; the body goes to into, or nowhere.
func (v *site) get(ctx context.Context, path string, into io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://esmed"+path, nil)
	if err != nil {
		return err
	}
	resp, err := v.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if into == nil {
		into = io.Discard
	}
	if _, err := io.Copy(into, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return nil
}
