package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// idleUse is what a daemon uses that has a bind and nothing to do.
type idleUse struct {
	CPU      float64 `json:"cpu_percent"`         // of a core
	Switches float64 `json:"switches_per_second"` // times that a thread was woken up
}

// settle is how long a daemon that has just worked may take to have nothing to do.
const settle = 3 * time.Second

// measureIdle watches the daemon for so long.
func (v *site) measureIdle(ctx context.Context, d time.Duration) (*idleUse, error) {
	if err := sleep(ctx, settle); err != nil {
		return nil, err
	}
	began := time.Now()
	before, err := threadUse(v.daemon.pid())
	if err != nil {
		return nil, err
	}
	if err := sleep(ctx, d); err != nil {
		return nil, err
	}
	after, err := threadUse(v.daemon.pid())
	took := time.Since(began)
	return &idleUse{
		CPU:      100 * float64(after.onCPU-before.onCPU) / float64(took),
		Switches: float64(after.switches-before.switches) / took.Seconds(),
	}, err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

type use struct {
	onCPU    time.Duration
	switches int64 // voluntary: a thread had waited for something
}

// threadUse adds up a process's threads (proc(5): task/TID/schedstat and status). Threads that end meanwhile
// take with them what they used; an idle Go program's stay.
func threadUse(pid int) (use, error) {
	var sum use
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(tasks) == 0 {
		return sum, fmt.Errorf("process %d has no threads: %w", pid, err)
	}
	for _, task := range tasks {
		schedstat, err := os.ReadFile(filepath.Join(task, "schedstat"))
		if err != nil {
			continue
		}
		onCPU, _, _ := bytes.Cut(schedstat, []byte{' '})
		n, err := strconv.ParseInt(string(onCPU), 10, 64)
		if err != nil {
			return sum, fmt.Errorf("%s: %w", task, err)
		}
		sum.onCPU += time.Duration(n)
		status, err := os.ReadFile(filepath.Join(task, "status"))
		if err != nil {
			continue
		}
		for line := range bytes.Lines(status) {
			if rest, ok := bytes.CutPrefix(line, []byte("voluntary_ctxt_switches:")); ok {
				n, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
				if err != nil {
					return sum, fmt.Errorf("%s: %w", task, err)
				}
				sum.switches += n
			}
		}
	}
	return sum, nil
}
