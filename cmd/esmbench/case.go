package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// starts are the times from starting a daemon until it says that it is ready, in seconds.
type starts struct {
	Clean  float64 `json:"clean_seconds"`  // after a stop as it should be
	Killed float64 `json:"killed_seconds"` // after kill -9 in mid-load
}

// run runs a case from the filling of its data_dir to the removal of all that it made.
func (b *bench) run(ctx context.Context, s setting) (o *outcome, err error) {
	if err := s.check(); err != nil {
		return nil, usageError{err}
	}
	v, err := b.newSite(s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	if err := v.fill(ctx); err != nil {
		return nil, fmt.Errorf("fill: %w", err)
	}
	o = &outcome{At: time.Now().UTC().Truncate(time.Second), Revision: b.revision(ctx), setting: s}
	if err := v.startSimulator(ctx); err != nil {
		return nil, err
	}
	if _, err := v.startDaemon(ctx); err != nil {
		return nil, err
	}
	if err := v.load(ctx, o); err != nil {
		return nil, err
	}
	if err := v.daemon.stop(); err != nil {
		return nil, err
	}
	records := o.Load.PerCommit * float64(o.Load.Commits)
	perLife := records / float64(max(o.Load.Lives, 1))
	o.Raw, err = measureRaw(filepath.Join(v.path("data"), "log"), v.path("raw"), int(records), int(o.Load.PerCommit+0.5), perLife, o.Load.Rate)
	if err != nil {
		return nil, fmt.Errorf("raw limit: %w", err)
	}
	return o, v.afterwards(ctx, o)
}

// revision is what the daemon says of itself.
func (b *bench) revision(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, filepath.Join(b.bin, "esmed"), "version").Output()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// fill makes the data_dir. With a place for filled ones it is made there once and copied.
func (v *site) fill(ctx context.Context) error {
	if v.Stored == 0 {
		return nil
	}
	dir := v.path("data")
	if v.filled != "" {
		dir = filepath.Join(v.filled, fmt.Sprintf("%s-%d", v.IDs, v.Stored))
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(v.out, "filling %d messages, ids %s\n", v.Stored, v.IDs)
		// In a process of its own: what it needs in memory is not for what is measured later.
		self, err := os.Executable()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return err
		}
		fresh := dir + ".new"
		if err := os.RemoveAll(fresh); err != nil {
			return err
		}
		out, err := exec.CommandContext(ctx, self, "fill", "--dir", fresh, "--messages", fmt.Sprint(v.Stored), "--ids", v.IDs).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		if err := os.Rename(fresh, dir); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if v.filled != "" {
		if err := os.CopyFS(v.path("data"), os.DirFS(dir)); err != nil {
			return err
		}
	}
	return settleDisk(v.path("data"))
}

// settleDisk waits until the file system that has a directory has written all. What it still has to write of some
// gigabytes takes longer than a case, and halves what is measured meanwhile.
func settleDisk(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}

// load runs smscsim load, while the daemon is profiled if that is wanted. Lives that were lost or doubled fail the case.
func (v *site) load(ctx context.Context, o *outcome) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return v.profile(ctx) })
	cmd := v.loadCommand(ctx, v.loadArgs()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	g.Go(func() error {
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("smscsim load: %w: %s%s", err, bytes.TrimSpace(stderr.Bytes()), out)
		}
		return json.Unmarshal(out, &o.Load)
	})
	return g.Wait()
}

func (v *site) loadCommand(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(v.bin, "smscsim"), append([]string{
		"load", "-o", "json", "--socket", v.path("sock"), "--smsc-status", v.path("smsc.json"),
		"--pid", fmt.Sprint(v.daemon.pid()), "--data-dir", v.path("data"),
	}, args...)...)
}

// afterwards measures what needs no load: starts, queries, idling.
func (v *site) afterwards(ctx context.Context, o *outcome) error {
	if !v.setting.Reads && v.setting.Idle == 0 {
		return nil
	}
	clean, err := v.startDaemon(ctx)
	if err != nil {
		return err
	}
	if v.setting.Reads {
		if o.Reads, err = v.measureReads(ctx); err != nil {
			return err
		}
	}
	if v.setting.Idle > 0 {
		if o.Idle, err = v.measureIdle(ctx, v.setting.Idle); err != nil {
			return err
		}
	}
	if !v.setting.Reads {
		return nil
	}
	killed, err := v.killInMidLoad(ctx)
	if err != nil {
		return err
	}
	o.Start = &starts{clean.Seconds(), killed.Seconds()}
	return v.daemon.stop()
}

// midLoad is how long a load has lasted when the daemon is killed.
const midLoad = 2 * time.Second

// killInMidLoad kills the daemon under load and says how long it takes to be ready again.
func (v *site) killInMidLoad(ctx context.Context) (time.Duration, error) {
	load := v.loadCommand(ctx, "--duration", "1m")
	if err := load.Start(); err != nil {
		return 0, err
	}
	err := errors.Join(sleep(ctx, midLoad), v.daemon.kill())
	_ = load.Wait() // it fails: its daemon is gone
	if err != nil {
		return 0, err
	}
	return v.startDaemon(ctx)
}
